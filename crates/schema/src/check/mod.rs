//! Checking a value against a program: one machine that decides, and that reports when asked to.
//!
//! A value that is good is accepted at a glance. Whatever is not, the instructions judge in reporting mode, which says
//! everything that is wrong. Where that spends its allowance, the same instructions decide with one of their own, and
//! theirs is the verdict.

mod closest;
mod deciding;
mod output;
mod remembered;
mod run;
mod verdict;
mod wire;

use crate::fast::{Ask, Fast, Trail, ValueSource};
use crate::json::Node;
use crate::program::{BlockId, Program};
use crate::{Code, Finding, Location, Work};
use deciding::Deciding;

pub(crate) use closest::OnlyBranch;
pub(crate) use run::{Reason, Run, Site, Stop};
pub use verdict::{Verdict, Violations};
pub use wire::WireForm;

/// The root of every program.
pub(crate) const ROOT: BlockId = BlockId(0);

impl Program {
    /// Checks a value: a verdict, whatever the value.
    ///
    /// Work is bounded by [`crate::Limits::work_for`] the value's bytes; when that is spent the verdict is
    /// [`Verdict::Failed`], the same on every machine. Nothing is allocated while a value is good, unless the schema
    /// has `uniqueItems`.
    pub fn check(&self, value: Node<'_>) -> Verdict {
        let work = self.parts.limits.work_for(value.raw().len());
        let mut deciding = Deciding::new(&self.parts, value, work);
        match deciding.glance() {
            Ok(true) => Verdict::Valid,
            Ok(false) => self.look_closely(deciding, value, work),
            Err(stop) => Verdict::Failed(Box::new(deciding.failure(stop))),
        }
    }

    /// The instructions in reporting mode; where that takes too long, they decide first and report what they can.
    #[cold]
    fn look_closely(&self, mut deciding: Deciding<'_, '_>, value: Node<'_>, work: u64) -> Verdict {
        let mut reporting = Run::new(&self.parts, Work::new(reporting_work(work)));
        reporting.set_glances(deciding::glances(work), deciding.take_trail());
        let ended = reporting.block::<true>(ROOT, value);
        match ended {
            Ok(true) => return Verdict::Valid,
            Ok(false) | Err(Stop::Full) => {}
            Err(Stop::Work | Stop::Depth) => match deciding.holds() {
                Ok(true) => return Verdict::Valid,
                Ok(false) => {}
                Err(stop) => return Verdict::Failed(Box::new(deciding.failure(stop))),
            },
        }
        let mut violations = reporting.into_violations();
        violations.truncated |= ended.is_err();
        if violations.findings.is_empty() {
            let finding = Finding::new(
                Code::ValueInvalid,
                "expected a value that its schema accepts, found one that it refuses; \
                 the allowance for naming the places was spent",
            );
            violations.findings.push(finding.at_schema("", "").at_instance(Location::default()));
        }
        Verdict::Invalid(violations)
    }

    /// The deciding pass alone, with the work that it took.
    ///
    /// # Errors
    /// The finding of the limit that was reached.
    pub fn is_valid(&self, value: Node<'_>) -> Result<bool, Box<Finding>> {
        let work = self.parts.limits.work_for(value.raw().len());
        let mut deciding = Deciding::new(&self.parts, value, work);
        deciding.decides().map_err(|stop| Box::new(deciding.failure(stop)))
    }

    /// Whether a value is good at a glance; `false` means that nobody knows yet.
    pub(crate) fn glances_at(&self, value: &serde_json::Value) -> bool {
        let limits = &self.parts.limits;
        let mut fast = Fast {
            path: &self.parts.fast,
            patterns: &self.parts.patterns,
            source: ValueSource,
            ask: Nobody,
            // Its bytes are not known; a glance that needs more is given up.
            work: Work::new(limits.work_base),
            trail: Trail::new(),
            depth: 0,
            // The text of the value would not be read if it were deeper.
            depth_max: limits.evaluation_depth_max.min(limits.arguments_depth_max),
        };
        fast.accepts(ROOT, value) == Ok(true)
    }

    /// The work that the deciding pass takes for a value, also when it does not end well.
    pub fn work_of(&self, value: Node<'_>) -> u64 {
        let mut deciding = Deciding::new(&self.parts, value, self.parts.limits.work_for(value.raw().len()));
        let _ = deciding.decides();
        deciding.work_used()
    }
}

/// Reporting may cost this part of what deciding may, since whoever exhausts it waits for the deciding pass as well.
const REPORTING_SHARE: u64 = 4;
/// An allowance up to this one is not divided.
const REPORTING_WORK_LEAST: u64 = 100_000;

fn reporting_work(work: u64) -> u64 {
    (work / REPORTING_SHARE).max(work.min(REPORTING_WORK_LEAST))
}

/// Of a `serde_json::Value`, the instructions cannot be asked: they read tapes.
struct Nobody;

impl<'i> Ask<'i, ValueSource> for Nobody {
    fn ask(
        &mut self,
        _: BlockId,
        _: &'i serde_json::Value,
        _: u64,
        _: &mut Work,
        _: &mut Trail,
    ) -> Result<bool, Stop> {
        Ok(false)
    }

    fn stopped_in_member(&mut self, _: &'i serde_json::Value) {}

    fn stopped_in_item(&mut self, _: usize) {}
}

#[cfg(test)]
mod tests;

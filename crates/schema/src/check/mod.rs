//! Checking a value against a program: one machine that decides, and that reports when asked to.
//!
//! The verdict is the deciding pass's. When it refuses, the same instructions run again in reporting mode, with an
//! allowance of their own, to say everything that is wrong.

mod closest;
mod output;
mod run;
mod verdict;
mod wire;

use crate::json::Node;
use crate::program::{BlockId, Program};
use crate::{Code, Finding, Location, Work};

pub(crate) use run::{Run, Site, Stop};
pub use verdict::{Verdict, Violations};
pub use wire::WireForm;

/// The root of every program.
const ROOT: BlockId = BlockId(0);

impl Program {
    /// Checks a value: a verdict, whatever the value.
    ///
    /// Work is bounded by [`crate::Limits::work_for`] the value's bytes; when that is spent the verdict is
    /// [`Verdict::Failed`], the same on every machine. Nothing is allocated while a value is good, unless the schema
    /// has `uniqueItems`.
    pub fn check(&self, value: Node<'_>) -> Verdict {
        let work = self.parts.limits.work_for(value.raw().len());
        let mut deciding = Run::new(&self.parts, Work::new(work));
        match deciding.block::<false>(ROOT, value) {
            Ok(true) => Verdict::Valid,
            Ok(false) => Verdict::Invalid(self.report(value, work)),
            Err(stop) => Verdict::Failed(Box::new(deciding.failure(stop))),
        }
    }

    /// The deciding pass alone, with the work that it took.
    ///
    /// # Errors
    /// The finding of the limit that was reached.
    pub fn is_valid(&self, value: Node<'_>) -> Result<bool, Box<Finding>> {
        let mut run = Run::new(&self.parts, Work::new(self.parts.limits.work_for(value.raw().len())));
        run.block::<false>(ROOT, value).map_err(|stop| Box::new(run.failure(stop)))
    }

    /// The work that the deciding pass takes for a value, also when it does not end well.
    pub fn work_of(&self, value: Node<'_>) -> u64 {
        let mut run = Run::new(&self.parts, Work::new(self.parts.limits.work_for(value.raw().len())));
        let _ = run.block::<false>(ROOT, value);
        run.work_used()
    }

    #[cold]
    fn report(&self, value: Node<'_>, work: u64) -> Violations {
        let mut reporting = Run::new(&self.parts, Work::new(work));
        let ended = reporting.block::<true>(ROOT, value);
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
        violations
    }
}

#[cfg(test)]
mod tests;

//! The deciding pass: a glance, and the instructions where that is not enough.

use crate::Work;
use crate::check::{ROOT, Run, Stop};
use crate::fast::{Ask, Fast, TapeSource, TapeValue, Trail};
use crate::json::{Member, Node};
use crate::program::{BlockId, Parts};
use crate::{Finding, check::run::PathStep};

/// Glances may cost this part of what the instructions may cost, and on top of it.
const GLANCES_SHARE: u64 = 4;

/// The allowance of the glances beside one of `work` for the instructions.
pub(super) const fn glances(work: u64) -> Work {
    Work::new(work / GLANCES_SHARE)
}

/// One deciding pass over a value.
pub(crate) struct Deciding<'p, 'i> {
    value: Node<'i>,
    glances: Work,
    trail: Trail,
    instructions: Instructions<'p, 'i>,
}

/// The instructions, whose state is only made when they are asked.
struct Instructions<'p, 'i> {
    parts: &'p Parts,
    source: TapeSource<'i>,
    work: u64,
    run: Option<Run<'p, 'i>>,
}

impl<'p, 'i> Deciding<'p, 'i> {
    pub(crate) fn new(parts: &'p Parts, value: Node<'i>, work: u64) -> Self {
        Deciding {
            value,
            glances: glances(work),
            trail: Trail::new(),
            instructions: Instructions { parts, source: TapeSource::of(value), work, run: None },
        }
    }

    /// Whether the value is good at a glance; `false` means that nobody knows yet.
    pub(crate) fn glance(&mut self) -> Result<bool, Stop> {
        let Instructions { parts, source, .. } = self.instructions;
        // Where the instructions would be asked at once, they are asked once.
        if !parts.fast.knows(ROOT, self.value.token().kind()) {
            return Ok(false);
        }
        let mut fast = Fast {
            path: &parts.fast,
            patterns: &parts.patterns,
            source,
            work: std::mem::replace(&mut self.glances, Work::new(0)),
            trail: std::mem::take(&mut self.trail),
            depth: 0,
            depth_max: parts.limits.evaluation_depth_max,
            ask: &mut self.instructions,
        };
        let good = fast.accepts(ROOT, TapeSource::value(self.value));
        (self.glances, self.trail) = (fast.work, fast.trail);
        good
    }

    /// Whether the value keeps the schema, by the instructions.
    pub(crate) fn holds(&mut self) -> Result<bool, Stop> {
        let glances = std::mem::replace(&mut self.glances, Work::new(0));
        let trail = std::mem::take(&mut self.trail);
        let run = self.instructions.run();
        run.set_glances(glances, trail);
        run.decide::<false>(ROOT, self.value)
    }

    /// The two in turn.
    pub(crate) fn decides(&mut self) -> Result<bool, Stop> {
        Ok(self.glance()? || self.holds()?)
    }

    /// What the glance learnt.
    pub(crate) fn take_trail(&mut self) -> Trail {
        std::mem::take(&mut self.trail)
    }

    pub(crate) fn failure(&mut self, stop: Stop) -> Finding {
        self.instructions.run().failure(stop)
    }

    pub(crate) fn work_used(&mut self) -> u64 {
        let used = self.glances.used();
        self.instructions.run.as_ref().map_or(used, |run| used.max(run.work_used()))
    }
}

impl<'p, 'i> Instructions<'p, 'i> {
    fn run(&mut self) -> &mut Run<'p, 'i> {
        self.run.get_or_insert_with(|| Run::new(self.parts, Work::new(self.work)))
    }
}

impl<'i> Ask<'i, TapeSource<'i>> for &mut Instructions<'_, 'i> {
    #[inline(never)]
    fn ask(
        &mut self,
        block: BlockId,
        value: TapeValue,
        depth: u64,
        work: &mut Work,
        trail: &mut Trail,
    ) -> Result<bool, Stop> {
        let node = self.source.node(value);
        self.run().answer(block, node, depth, work, trail)
    }

    fn stopped_in_member(&mut self, value: TapeValue) {
        let member = Member::of_value(self.source.node(value));
        self.run().stopped_in(PathStep::Member(member));
    }

    fn stopped_in_item(&mut self, index: usize) {
        self.run().stopped_in(PathStep::Index(index));
    }
}

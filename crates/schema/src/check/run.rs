//! The state of one pass over a value.

mod report;

use std::collections::HashSet;

use crate::check::remembered::Remembered;
use crate::fast::{Ask, Fast, TapeSource, TapeValue, Trail};
use crate::json::{Member, Node, NodeId};
use crate::location::{push_index, write_escaped};
use crate::program::{Block, BlockId, Instruction, Parts};
use crate::resolve::ResourceId;
use crate::{Exhausted, Finding, Step, Work};

pub(crate) use report::Reason;

/// What a reference costs beside a step where it must be known what is evaluated.
const TRACKED_WORK: usize = 3;
/// Room for the way to a value and the one through the schemas, so that they seldom grow.
const PATH_STEPS: usize = 16;
const WAY_BYTES: usize = 256;
/// What a dynamic reference costs, beside a step and its place in the scope: its answer is not remembered either.
const DYNAMIC_WORK: usize = 3;

/// One pass: the allowance that is left, where it stands, and what it has found.
#[derive(Debug)]
pub(crate) struct Run<'p, 'i> {
    pub(crate) parts: &'p Parts,
    work: Work,
    /// What had been drawn from the allowance when the pass began.
    work_before: u64,
    /// The allowance of glances. When it is spent, the instructions decide everything.
    glances: Work,
    /// What glances learnt.
    trail: Trail,
    /// What references answered.
    remembered: Remembered,
    depth: u64,
    /// The way to the value, kept in reporting mode only.
    path: Vec<PathStep<'i>>,
    /// The way through the schemas up to the last reference that was followed, kept in reporting mode only. From there on
    /// it is what the location of the schema at hand, `current`, has after so many bytes.
    evaluation: String,
    evaluation_from: usize,
    current: BlockId,
    /// The keyword of the reference that is being followed.
    through: Option<&'static str>,
    findings: Vec<Finding>,
    /// What is found instead where the pass only explains.
    reasons: Vec<Reason>,
    truncated: bool,
    /// Does the pass only explain why a branch does not hold? Then branches within it are not explained in turn.
    explaining: bool,
    /// The resource whose schema is being applied; kept if the program has dynamic references.
    resource: Option<ResourceId>,
    /// What each dynamic anchor stands for: where it is in the outermost of the resources whose schemas are being applied.
    scope: Vec<(u32, BlockId)>,
    /// What has been evaluated of the values at hand, for `unevaluated…`; each block's own part starts where it began.
    marks: Vec<NodeId>,
    marks_from: usize,
    tracking: bool,
    /// Where a limit was reached; filled while the pass unwinds, innermost step first.
    stopped_at: Vec<PathStep<'i>>,
    stopped_in: Option<Site>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum PathStep<'i> {
    Member(Member<'i>),
    Index(usize),
}

impl PathStep<'_> {
    fn step(&self) -> Step {
        match self {
            PathStep::Member(member) => Step::Name(member.name().into_owned()),
            PathStep::Index(index) => Step::Index(*index),
        }
    }

    /// Appends the step to a JSON Pointer.
    fn push_to(&self, pointer: &mut String) {
        pointer.push('/');
        match self {
            // Writing to a `String` does not fail.
            PathStep::Member(member) => _ = write_escaped(pointer, &member.name()),
            PathStep::Index(index) => push_index(pointer, *index),
        }
    }
}

/// Which instruction of which block is at work.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Site {
    pub(crate) block: BlockId,
    pub(crate) keyword: &'static str,
}

/// Why a pass ends early. Never read as "does not match".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The work allowance is spent.
    Work,
    /// Subschemas are entered too deep within each other.
    Depth,
    /// Enough has been found.
    Full,
}

impl From<Exhausted> for Stop {
    fn from(Exhausted: Exhausted) -> Self {
        Stop::Work
    }
}

impl<'p, 'i> Run<'p, 'i> {
    pub(crate) const fn new(parts: &'p Parts, work: Work) -> Self {
        Run {
            parts,
            glances: Work::new(0),
            trail: Trail::new(),
            remembered: Remembered::nothing(),
            work_before: work.used(),
            work,
            depth: 0,
            path: Vec::new(),
            evaluation: String::new(),
            evaluation_from: 0,
            current: BlockId(0),
            through: None,
            findings: Vec::new(),
            reasons: Vec::new(),
            truncated: false,
            explaining: false,
            resource: None,
            scope: Vec::new(),
            marks: Vec::new(),
            marks_from: 0,
            tracking: false,
            stopped_at: Vec::new(),
            stopped_in: None,
        }
    }

    /// Draws from the allowance.
    #[inline]
    pub(crate) fn charge(&mut self, units: usize) -> Result<(), Stop> {
        Ok(self.work.charge(units as u64)?)
    }

    /// The allowance, for what counts its own steps.
    pub(crate) const fn work(&mut self) -> &mut Work {
        &mut self.work
    }

    pub(crate) const fn work_used(&self) -> u64 {
        self.work.used() + self.glances.used()
    }

    /// The branches of a union that can hold, in their order and with their index.
    pub(crate) fn candidates<'b>(
        &self,
        at: Site,
        one: bool,
        branches: &'b [BlockId],
        value: Node<'i>,
    ) -> impl Iterator<Item = (usize, BlockId)> + Clone + use<'b, 'p, 'i> {
        let places = self.parts.fast.candidates(at.block, one, branches.len(), value);
        places.filter_map(|place| Some((place, *branches.get(place)?)))
    }

    /// The allowance of glances, of which there are none without.
    pub(crate) fn set_glances(&mut self, glances: Work, trail: Trail) {
        (self.glances, self.trail) = (glances, trail);
    }

    /// The first part of the value at hand that may not be good, by the index of its entry, as far as a glance saw; what is
    /// before it is good.
    pub(crate) fn first_unsure(&self, at: Site, value: Node<'_>) -> Option<u32> {
        // Who must know what was evaluated looks at everything.
        if self.tracking { None } else { self.trail.first_unsure(at.block, value.index()) }
    }

    /// An answer to a glance, which goes on with what is left of its allowance.
    pub(crate) fn answer(
        &mut self,
        block: BlockId,
        value: Node<'i>,
        depth: u64,
        work: &mut Work,
        trail: &mut Trail,
    ) -> Result<bool, Stop> {
        let outer = std::mem::replace(&mut self.depth, depth);
        std::mem::swap(&mut self.glances, work);
        std::mem::swap(&mut self.trail, trail);
        let answer = self.decide::<false>(block, value);
        std::mem::swap(&mut self.glances, work);
        std::mem::swap(&mut self.trail, trail);
        self.depth = outer;
        answer
    }

    /// A limit was reached in that part of the value at hand.
    pub(crate) fn stopped_in(&mut self, step: PathStep<'i>) {
        self.stopped_at.push(step);
    }

    /// Whether the value is good at a glance; `false` means that nobody knows yet.
    #[inline]
    pub(crate) fn glance(&mut self, id: BlockId, value: Node<'i>) -> Result<bool, Stop> {
        let parts = self.parts;
        if self.tracking || !parts.fast.knows(id, value.token().kind()) {
            return Ok(false);
        }
        // The trail is searched from its end to its beginning.
        if self.glances.charge(1 + self.trail.len() as u64 / 16).is_err() {
            return Ok(false);
        }
        if self.trail.first_unsure(id, value.index()).is_some() {
            return Ok(false);
        }
        let source = TapeSource::of(value);
        let mut fast = Fast {
            path: &parts.fast,
            patterns: &parts.patterns,
            source,
            work: std::mem::replace(&mut self.glances, Work::new(0)),
            trail: std::mem::take(&mut self.trail),
            depth: self.depth,
            depth_max: parts.limits.evaluation_depth_max,
            ask: Instructions { run: self, source },
        };
        let answer = fast.accepts(id, TapeSource::value(value));
        let (work, trail) = (fast.work, fast.trail);
        (self.glances, self.trail) = (work, trail);
        answer
    }

    /// Whether the value keeps a subschema. Deciding stops at the first violation, reporting goes on.
    pub(crate) fn block<const COLLECT: bool>(&mut self, id: BlockId, value: Node<'i>) -> Result<bool, Stop> {
        if self.glance(id, value)? {
            return Ok(true);
        }
        self.decide::<COLLECT>(id, value)
    }

    /// The same by the instructions.
    pub(crate) fn decide<const COLLECT: bool>(&mut self, id: BlockId, value: Node<'i>) -> Result<bool, Stop> {
        self.charge(1)?;
        if self.depth == self.parts.limits.evaluation_depth_max {
            return Err(Stop::Depth);
        }
        let parts = self.parts;
        let Some(block) = parts.block(id) else { return Ok(false) };
        let (outer, way, way_from) = (self.current, self.evaluation.len(), self.evaluation_from);
        if COLLECT && !self.explaining {
            self.step_into(id, block);
        }
        self.depth += 1;
        let good = if parts.dynamic.is_empty() && !(self.tracking || block.tracks) {
            self.instructions::<COLLECT>(id, block, value)?
        } else {
            self.tracked::<COLLECT>(id, block, value)?
        };
        self.depth -= 1;
        if COLLECT {
            self.current = outer;
            self.evaluation_from = way_from;
            self.evaluation.truncate(way);
        }
        Ok(good)
    }

    /// Notes the way into a subschema: by the reference that is followed, or by its place in the one at hand.
    fn step_into(&mut self, id: BlockId, block: &Block) {
        let through = self.through.take();
        if through.is_some() || !block.location.starts_with(self.parts.location(self.current)) {
            let way = self.way_since_reference();
            if self.evaluation.is_empty() {
                self.evaluation.reserve(WAY_BYTES);
            }
            self.evaluation.push_str(way);
            if let Some(keyword) = through {
                self.evaluation.push('/');
                self.evaluation.push_str(keyword);
            }
            self.evaluation_from = block.location.len();
        }
        self.current = id;
    }

    fn way_since_reference(&self) -> &'p str {
        self.parts.location(self.current).get(self.evaluation_from..).unwrap_or_default()
    }

    /// Whether the value keeps what a reference points to.
    ///
    /// Where only that is asked, and not where it stands in the scope of dynamic references or what it has evaluated, the
    /// answer depends on the schema and the value alone.
    #[inline]
    pub(crate) fn reference<const COLLECT: bool>(
        &mut self,
        at: Site,
        block: BlockId,
        value: Node<'i>,
    ) -> Result<bool, Stop> {
        if self.tracking {
            // Nothing is remembered then, and to keep the marks takes longer than a step.
            self.charge(TRACKED_WORK)?;
        }
        if COLLECT {
            self.through = Some(at.keyword);
        }
        let is_due = Remembered::is_due(self.work.used() - self.work_before, self.work.total());
        if is_due && self.parts.dynamic.is_empty() && !self.tracking {
            return self.remembering::<COLLECT>(block, value);
        }
        self.block::<COLLECT>(block, value)
    }

    #[cold]
    fn remembering<const COLLECT: bool>(&mut self, block: BlockId, value: Node<'i>) -> Result<bool, Stop> {
        match self.remembered.answer(block, value.index()) {
            // Of what is not good there may be more to report.
            Some(good) if good || !COLLECT => {
                self.charge(1)?;
                self.through = None;
                return Ok(good);
            }
            _ => {}
        }
        let good = self.block::<COLLECT>(block, value)?;
        self.remembered.note(block, value.index(), good);
        Ok(good)
    }

    #[inline]
    fn instructions<const COLLECT: bool>(
        &mut self,
        id: BlockId,
        block: &'p Block,
        value: Node<'i>,
    ) -> Result<bool, Stop> {
        let parts = self.parts;
        let mut good = true;
        for instruction in parts.instructions(block) {
            good &= self.instruction::<COLLECT>(id, instruction, value)?;
            if !COLLECT && !good {
                break;
            }
        }
        Ok(good)
    }

    /// The same, keeping the dynamic scope and what has been evaluated. A schema that refuses a value has evaluated
    /// nothing of it (2020-12 core, section 7.7.1.2).
    fn tracked<const COLLECT: bool>(
        &mut self,
        id: BlockId,
        block: &'p Block,
        value: Node<'i>,
    ) -> Result<bool, Stop> {
        let (depth, start) = (self.scope.len(), self.marks.len());
        let (outer, outer_from) = (self.tracking, self.marks_from);
        let outer_resource = self.resource.replace(block.resource);
        if outer_resource != self.resource {
            self.bind(block.resource)?;
        }
        if block.tracks {
            (self.tracking, self.marks_from) = (true, start);
        }
        let good = self.instructions::<COLLECT>(id, block, value)?;
        (self.tracking, self.marks_from) = (outer, outer_from);
        self.scope.truncate(depth);
        self.resource = outer_resource;
        // In reporting mode the marks of what is good stay, so that one fault is not told twice.
        if !outer || (!good && !COLLECT) {
            self.marks.truncate(start);
        }
        Ok(good)
    }

    /// Whether some block that is applied to the value at hand must know what is evaluated of it.
    pub(crate) const fn is_tracking(&self) -> bool {
        self.tracking
    }

    /// Whether the pass only explains why a branch does not hold.
    pub(crate) const fn is_explaining(&self) -> bool {
        self.explaining
    }

    /// Notes that a part of the value at hand has been evaluated.
    #[inline]
    pub(crate) fn mark(&mut self, part: Node<'_>) {
        if self.tracking {
            self.marks.push(part.id());
        }
    }

    /// What the block at work has evaluated so far.
    pub(crate) fn evaluated(&mut self) -> Result<HashSet<NodeId>, Stop> {
        let marks =
            self.marks.get(self.marks_from..).unwrap_or_default().iter().copied().collect::<HashSet<_>>();
        self.charge(marks.len())?;
        Ok(marks)
    }

    /// The block of a dynamic anchor in the outermost resource that has it (2020-12 core, section 8.2.3.2).
    pub(crate) fn dynamic(&mut self, anchor: u32) -> Result<Option<BlockId>, Stop> {
        self.charge(DYNAMIC_WORK + self.scope.len() / 8)?;
        Ok(self.bound(anchor))
    }

    fn bound(&self, anchor: u32) -> Option<BlockId> {
        self.scope.iter().find(|(bound, _)| *bound == anchor).map(|(_, block)| *block)
    }

    /// Binds the anchors of a resource that no resource around it has.
    fn bind(&mut self, resource: ResourceId) -> Result<(), Stop> {
        let Some(anchors) = self.parts.dynamic.get(&resource) else { return Ok(()) };
        self.charge(anchors.len() * (1 + self.scope.len() / 8))?;
        for (anchor, block) in anchors {
            if self.bound(*anchor).is_none() {
                self.scope.push((*anchor, *block));
            }
        }
        Ok(())
    }

    #[inline]
    fn instruction<const COLLECT: bool>(
        &mut self,
        block: BlockId,
        instruction: &Instruction,
        value: Node<'i>,
    ) -> Result<bool, Stop> {
        let site = Site { block, keyword: instruction.keyword };
        instruction.op.holds::<COLLECT>(self, site, value).inspect_err(|_| {
            self.stopped_in.get_or_insert(site);
        })
    }

    /// Whether the value of a member is good at a glance.
    pub(crate) fn glance_at_member(&mut self, block: BlockId, member: Member<'i>) -> Result<bool, Stop> {
        let outer = std::mem::replace(&mut self.tracking, false);
        let answer = self
            .glance(block, member.value())
            .inspect_err(|_| self.stopped_at.push(PathStep::Member(member)));
        self.tracking = outer;
        answer
    }

    /// The same for the value of a member.
    #[inline]
    pub(crate) fn member<const COLLECT: bool>(
        &mut self,
        block: BlockId,
        member: Member<'i>,
    ) -> Result<bool, Stop> {
        self.part::<COLLECT>(block, PathStep::Member(member), member.value(), false)
    }

    /// The same for the value of a member of which a glance was not sure.
    pub(crate) fn unsure_member<const COLLECT: bool>(
        &mut self,
        block: BlockId,
        member: Member<'i>,
    ) -> Result<bool, Stop> {
        self.part::<COLLECT>(block, PathStep::Member(member), member.value(), true)
    }

    /// The same for an item.
    #[inline]
    pub(crate) fn item<const COLLECT: bool>(
        &mut self,
        block: BlockId,
        index: usize,
        item: Node<'i>,
    ) -> Result<bool, Stop> {
        self.part::<COLLECT>(block, PathStep::Index(index), item, false)
    }

    /// The same for an item of which a glance was not sure.
    pub(crate) fn unsure_item<const COLLECT: bool>(
        &mut self,
        block: BlockId,
        index: usize,
        item: Node<'i>,
    ) -> Result<bool, Stop> {
        self.part::<COLLECT>(block, PathStep::Index(index), item, true)
    }

    fn part<const COLLECT: bool>(
        &mut self,
        block: BlockId,
        step: PathStep<'i>,
        value: Node<'i>,
        glanced: bool,
    ) -> Result<bool, Stop> {
        if COLLECT {
            if self.path.is_empty() {
                self.path.reserve(PATH_STEPS);
            }
            self.path.push(step);
        }
        let outer = std::mem::replace(&mut self.tracking, false);
        let answer =
            if glanced { self.decide::<COLLECT>(block, value) } else { self.block::<COLLECT>(block, value) };
        let answer = answer.inspect_err(|_| self.stopped_at.push(step));
        self.tracking = outer;
        if COLLECT {
            self.path.pop();
        }
        answer
    }
}

/// The instructions, asked by a glance.
struct Instructions<'r, 'p, 'i> {
    run: &'r mut Run<'p, 'i>,
    source: TapeSource<'i>,
}

impl<'i> Ask<'i, TapeSource<'i>> for Instructions<'_, '_, 'i> {
    fn ask(
        &mut self,
        block: BlockId,
        value: TapeValue,
        depth: u64,
        work: &mut Work,
        trail: &mut Trail,
    ) -> Result<bool, Stop> {
        self.run.answer(block, self.source.node(value), depth, work, trail)
    }

    fn stopped_in_member(&mut self, value: TapeValue) {
        let member = Member::of_value(self.source.node(value));
        self.run.stopped_in(PathStep::Member(member));
    }

    fn stopped_in_item(&mut self, index: usize) {
        self.run.stopped_in(PathStep::Index(index));
    }
}

//! What a pass has to report: its findings with their places, and what explains them.

use super::{PathStep, Run, Site, Stop};
use crate::check::wire;
use crate::json::Node;
use crate::location::joined;
use crate::program::BlockId;
use crate::{Code, Detail, Finding, Location, Profile, Violations, Work};

/// The most that one attempt to explain a refusal may cost.
const ATTEMPT_WORK: u64 = 50_000;
/// What a finding costs that only explains why a branch does not hold: to describe it takes far longer than to look at a
/// value.
const FINDING_WORK: usize = 20;

/// Room for the sentence of a reason, so that it seldom grows.
const REQUEST_BYTES: usize = 128;

/// Why a branch does not hold: one violation, as far as it is told then.
#[derive(Debug)]
pub(crate) struct Reason {
    pub(crate) code: Code,
    /// Steps from the root to where it is.
    pub(crate) steps: usize,
    /// What is asked there, as a fragment of a sentence.
    pub(crate) request: String,
}

impl<'i> Run<'_, 'i> {
    /// Answers with a violation: `false`, and in reporting mode the finding that `describe` makes.
    ///
    /// The places and the offset are added here.
    pub(crate) fn refuse<const COLLECT: bool>(
        &mut self,
        at: Site,
        value: Node<'i>,
        describe: impl FnOnce() -> Finding,
    ) -> Result<bool, Stop> {
        if !COLLECT {
            return Ok(false);
        }
        self.room()?;
        if self.explaining {
            self.charge(FINDING_WORK)?;
            self.explain(&describe());
            return Ok(false);
        }
        if self.findings.is_empty() {
            // One is most often all that there is.
            self.findings.reserve_exact(1);
        }
        self.findings.push(describe());
        self.place_last(at, value);
        Ok(false)
    }

    /// Adds to the last finding where it is.
    fn place_last(&mut self, at: Site, value: Node<'i>) {
        let path = self.location();
        let (keyword, location) = self.place(at);
        let way = self.way_to(keyword, &location);
        let Some(finding) = self.findings.last_mut() else { return };
        if self.parts.profile == Profile::Wire {
            let plain = std::mem::replace(finding, Finding::new(Code::ValueInvalid, ""));
            *finding = wire::rephrased(plain, &path);
        }
        finding.keyword = Some(keyword.into());
        finding.schema_location = Some(location);
        finding.evaluation_path = way;
        finding.instance_location = Some(path);
        finding.offset.get_or_insert(value.span().start);
    }

    /// The way through the schemas to a keyword of the one at hand, which is at `location`; `None` if that is the way.
    fn way_to(&self, keyword: &str, location: &str) -> Option<String> {
        let way = self.way_since_reference();
        let own = keyword != "false";
        let tail = if own { ["/", keyword] } else { [""; 2] };
        let is_location =
            self.evaluation.is_empty() && self.evaluation_from == 0 && location.starts_with(way);
        (!is_location).then(|| [&*self.evaluation, way, tail[0], tail[1]].concat())
    }

    /// Checks a value that is no part of the one at hand, such as a name, under the same allowance. Clears `good` if
    /// it is refused; in reporting mode gives the findings, whose places in the value are its own.
    pub(crate) fn aside<const COLLECT: bool>(
        &mut self,
        block: BlockId,
        value: Node<'_>,
        good: &mut bool,
    ) -> Result<Vec<Finding>, Stop> {
        let work = std::mem::replace(&mut self.work, Work::new(0));
        let mut run = Run {
            depth: self.depth,
            evaluation: self.evaluation.clone(),
            evaluation_from: self.evaluation_from,
            current: self.current,
            resource: self.resource,
            scope: self.scope.clone(),
            ..Run::new(self.parts, work)
        };
        let answer = run.block::<COLLECT>(block, value);
        self.truncated |= run.truncated;
        if self.stopped_in.is_none() {
            self.stopped_in = run.stopped_in;
        }
        self.work = run.work;
        *good &= answer?;
        Ok(run.findings)
    }

    /// What a subschema has against the value at hand, reported apart and at a cost that is bounded by itself; `None` if
    /// that takes too long to tell.
    pub(crate) fn attempt(&mut self, block: BlockId, value: Node<'i>) -> Option<Vec<Reason>> {
        let work = self.work.share(ATTEMPT_WORK);
        let mut run = Run {
            depth: self.depth,
            path: std::mem::take(&mut self.path),
            current: self.current,
            resource: self.resource,
            scope: std::mem::take(&mut self.scope),
            glances: std::mem::replace(&mut self.glances, Work::new(0)),
            trail: std::mem::take(&mut self.trail),
            explaining: true,
            ..Run::new(self.parts, work)
        };
        let (steps, resources) = (run.path.len(), run.scope.len());
        let ended = run.block::<true>(block, value);
        // Where it ended early, what it went into is still there.
        run.path.truncate(steps);
        run.scope.truncate(resources);
        (self.path, self.scope) = (run.path, run.scope);
        (self.glances, self.trail) = (run.glances, run.trail);
        self.work.give_back(&run.work);
        ended.is_ok().then_some(run.reasons)
    }

    /// Keeps of a finding what explains why a branch does not hold.
    fn explain(&mut self, finding: &Finding) {
        let (mut request, steps) = (String::new(), self.path.len());
        if steps > 0 {
            request.reserve(REQUEST_BYTES);
            request.push_str("at ");
            for step in &self.path {
                step.push_to(&mut request);
            }
            request.push_str(", ");
        }
        request.push_str(&finding.message);
        self.reasons.push(Reason { code: finding.code, steps, request });
    }

    /// Adds a finding of [`Self::aside`], placed at the value at hand.
    pub(crate) fn refuse_elsewhere(&mut self, finding: Finding) -> Result<(), Stop> {
        self.room()?;
        if self.explaining {
            self.explain(&finding);
        } else {
            let path = self.location();
            self.findings.push(finding.at_instance(path));
        }
        Ok(())
    }

    fn room(&mut self) -> Result<(), Stop> {
        if (self.findings.len() + self.reasons.len()) as u64 >= self.parts.limits.findings_max {
            self.truncated = true;
            return Err(Stop::Full);
        }
        Ok(())
    }

    /// Steps from the root to the value at hand.
    pub(crate) const fn path_length(&self) -> usize {
        self.path.len()
    }

    fn location(&self) -> Location {
        Location(self.path.iter().map(PathStep::step).collect())
    }

    /// The keyword and its location. A `false` schema has no keyword: it is named, and its own place given.
    fn place(&self, at: Site) -> (&'static str, String) {
        let location = self.parts.location(at.block);
        match at.keyword {
            "false" => ("false", location.to_owned()),
            keyword => (keyword, joined(location, keyword)),
        }
    }

    /// What to report when the pass ended early.
    pub(crate) fn failure(&self, stop: Stop) -> Finding {
        let path = Location(self.stopped_at.iter().rev().map(PathStep::step).collect());
        let finding = match stop {
            Stop::Depth => Finding::new(
                Code::LimitExceeded,
                format!(
                    "expected subschemas at most {} deep within each other, found more",
                    self.parts.limits.evaluation_depth_max
                ),
            )
            .with("limit", Detail::Text("evaluation_depth".into()))
            .with("maximum", Detail::Count(self.parts.limits.evaluation_depth_max)),
            Stop::Work | Stop::Full => Finding::new(
                Code::WorkExhausted,
                format!("expected an answer within {} units of work, found none", self.work.total()),
            )
            .with_help("send a smaller value, or simplify the schema at that place")
            .with("limit", Detail::Text("work".into()))
            .with("maximum", Detail::Count(self.work.total()))
            .with("reason", Detail::Text("the work allowance of the check is spent".into())),
        };
        let (keyword, location) = self.stopped_in.map_or(("", String::new()), |site| self.place(site));
        finding.at_schema(keyword, location).at_instance(path)
    }

    pub(crate) fn into_violations(self) -> Violations {
        Violations { findings: self.findings, truncated: self.truncated }
    }
}

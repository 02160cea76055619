//! Doubts about a schema that can be enforced: what nothing satisfies, what no value reaches, what its own author's
//! example breaks. They are warnings and never refuse a schema by themselves.
//!
//! A rule is a file, a line in [`RULES`], a code with its page, and a row in `cases/`.

mod backtracking;
mod closed;
mod crossed;
mod examples;
mod no_choice;
mod open_root;
mod unreachable;

pub use open_root::open_root;

use std::cell::Cell;

use crate::check::Run;
use crate::compile::Root;
use crate::json::Node;
use crate::keywords::{KeywordSet, Present};
use crate::program::{BlockId, Parts};
use crate::{Code, Finding, Options, Work};

/// Every rule, in the order in which one schema's doubts are reported.
const RULES: &[Rule] = &[
    Rule { of: crossed::OF, judge: crossed::judge },
    Rule { of: no_choice::OF, judge: no_choice::judge },
    Rule { of: closed::OF, judge: closed::judge },
    Rule { of: unreachable::OF, judge: unreachable::judge },
    Rule { of: examples::OF, judge: examples::judge },
    Rule { of: backtracking::OF, judge: backtracking::judge },
];

/// Looks at one schema object, if it has one of the keywords.
struct Rule {
    of: KeywordSet,
    judge: fn(&Subject<'_>, &mut Vec<Finding>),
}

/// One schema object of a program.
pub(crate) struct Subject<'p> {
    parts: &'p Parts,
    block: BlockId,
    present: Present<'p>,
    /// What is left of the work of trials.
    trials: &'p Cell<u64>,
}

/// The doubts about a program, in the order of its schemas' places in the text.
pub(crate) fn doubts<'p>(
    parts: &'p Parts,
    schemas: impl Iterator<Item = (BlockId, Node<'p>)>,
    options: &Options,
) -> Vec<Finding> {
    let mut doubts = Vec::new();
    let trials = Cell::new(TRIALS_WORK);
    for (block, schema) in schemas {
        let subject = Subject { parts, block, present: Present::of(schema), trials: &trials };
        for rule in RULES {
            if rule.of.meets(subject.present.set()) {
                (rule.judge)(&subject, &mut doubts);
            }
        }
        if options.root == Root::Tool && block == BlockId(0) {
            open_root::judge(&subject, &mut doubts);
        }
        if doubts.len() as u64 >= options.limits.findings_max {
            doubts.truncate(usize::try_from(options.limits.findings_max).unwrap_or(usize::MAX));
            break;
        }
    }
    doubts
}

/// Work of trying one value of the schema's own, such as a default.
const TRIAL_WORK: u64 = 100_000;
/// Work of trying all of them: of the largest tool schemas that are public, a thousandth part is enough.
const TRIALS_WORK: u64 = 2_000_000;

impl<'p> Subject<'p> {
    fn keyword(&self, name: &str) -> Option<Node<'p>> {
        self.present.keyword(name)
    }

    /// Whether the schema accepts a value; `None` if that takes too long to tell.
    fn accepts(&self, value: Node<'_>) -> Option<bool> {
        let left = self.trials.get();
        let mut run = Run::new(self.parts, Work::new(TRIAL_WORK.min(left)));
        let answer = run.block::<false>(self.block, value).ok();
        // A unit more, so that trials that cost nothing come to an end as well.
        self.trials.set(left.saturating_sub(run.work_used() + 1));
        answer
    }

    /// Whether a further doubt is kept. A list in one schema can raise thousands.
    fn has_room(&self, doubts: &[Finding]) -> bool {
        (doubts.len() as u64) < self.parts.limits.findings_max
    }

    /// A doubt about a keyword of the schema.
    fn doubt(&self, code: Code, keyword: &'static str, message: impl Into<String>) -> Finding {
        let location = format!("{}/{keyword}", self.parts.location(self.block));
        let offset =
            self.keyword(keyword).map_or(self.present.schema().span().start, |value| value.span().start);
        Finding::new(code, message).at_schema(keyword, location).at_offset(offset)
    }
}

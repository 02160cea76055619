//! *What it finds*: a pattern with lookaround or a backreference, which cannot be matched in linear time.
//!
//! *Why it matters for a model*: a long text may use up the work allowance, and the call is then refused without a
//! verdict; and many receivers of a schema do not know such patterns.
//!
//! *Example*: `^(?!admin).+$`. *Instead*: `{"not": {"pattern": "^admin"}}`.

use crate::keywords::KeywordSet;
use crate::preflight::Subject;
use crate::program::Op;
use crate::{Code, Finding};

pub(super) const OF: KeywordSet = KeywordSet::of(&["pattern"]);

pub(super) fn judge(subject: &Subject<'_>, doubts: &mut Vec<Finding>) {
    let Some(block) = subject.parts.block(subject.block) else { return };
    for instruction in subject.parts.instructions(block) {
        let Op::Pattern { pattern } = instruction.op else { continue };
        if subject.parts.pattern(pattern).is_some_and(|pattern| !pattern.is_linear()) {
            let message =
                "expected a pattern that is matched in linear time, found lookaround or a backreference";
            doubts.push(subject.doubt(Code::PatternBacktracks, "pattern", message).with_help(
                "take a leading `(?!X)` out and write `\"not\": {\"pattern\": \"^X\"}` beside the pattern, \
                 several of them under one `not` with `anyOf`; a leading `(?=X)` is one more pattern under `allOf`; a \
                 backreference has no equal",
            ));
        }
    }
}

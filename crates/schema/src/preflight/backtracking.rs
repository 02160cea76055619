//! *What it finds*: a pattern with lookaround or a backreference, which cannot be matched in linear time.
//!
//! *Why it matters for a model*: a long text may use up the work allowance, and the call is then refused without a
//! verdict; and many receivers of a schema do not know such patterns.
//!
//! *Example*: `^(?!admin).+$`. *Instead*: `{"not": {"pattern": "^admin"}}`.

use crate::json::Node;
use crate::keywords::KeywordSet;
use crate::preflight::Subject;
use crate::program::Op;
use crate::{Code, Detail, Finding};

pub(super) const OF: KeywordSet = KeywordSet::of(&["pattern"]);

pub(super) fn judge(subject: &Subject<'_>, doubts: &mut Vec<Finding>) {
    let Some(block) = subject.parts.block(subject.block) else { return };
    for instruction in subject.parts.instructions(block) {
        let Op::Pattern { pattern } = instruction.op else { continue };
        if subject.parts.pattern(pattern).is_some_and(|pattern| !pattern.is_linear()) {
            let text = subject.keyword("pattern").and_then(Node::as_str).unwrap_or_default();
            let (name, construct) = construct(&text).unwrap_or(("lookaround or a backreference", ""));
            let marked = if construct.is_empty() { String::new() } else { format!(" `{construct}`") };
            let message = format!("expected a pattern that is matched in linear time, found {name}{marked}");
            let doubt = subject.doubt(Code::PatternBacktracks, "pattern", message);
            let doubt = doubt.with("construct", Detail::Text(construct.to_owned()));
            doubts.push(doubt.with_help(
                "take a leading `(?!X)` out and write `\"not\": {\"pattern\": \"^X\"}` beside the pattern, \
                 several of them under one `not` with `anyOf`; a leading `(?=X)` is one more pattern under `allOf`; a \
                 backreference has no equal",
            ));
        }
    }
}

/// The first construct of a pattern that is matched by trying: what it is, and how it is written.
fn construct(pattern: &str) -> Option<(&'static str, &str)> {
    const OPENINGS: &[(&str, &str)] = &[
        ("(?=", "the lookahead"),
        ("(?!", "the lookahead"),
        ("(?<=", "the lookbehind"),
        ("(?<!", "the lookbehind"),
        ("\\k<", "the backreference"),
    ];
    let mut in_class = false;
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        let opening = OPENINGS.iter().find(|(opening, _)| rest.starts_with(opening) && !in_class);
        if let Some((opening, name)) = opening {
            return Some((name, rest.get(..opening.len())?));
        }
        let length = match first {
            '\\' => {
                let escaped = rest.chars().nth(1);
                if !in_class && escaped.is_some_and(|escaped| matches!(escaped, '1'..='9')) {
                    return Some(("the backreference", rest.get(..2)?));
                }
                1 + escaped.map_or(0, char::len_utf8)
            }
            other => other.len_utf8(),
        };
        in_class = match first {
            '[' => true,
            ']' => false,
            _ => in_class,
        };
        rest = rest.get(length..)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_construct_is_named_as_it_is_written() {
        for (pattern, wanted) in [
            ("^(?!root$)[a-z]+$", Some(("the lookahead", "(?!"))),
            (r"\(?=[(?=](?<!a)", Some(("the lookbehind", "(?<!"))),
            (r"(a)[\1]\1", Some(("the backreference", r"\1"))),
            (r"(?<n>a)\k<n>", Some(("the backreference", r"\k<"))),
            (r"[(?=]\(?=?é", None),
        ] {
            assert_eq!(construct(pattern), wanted, "{pattern}");
        }
    }
}

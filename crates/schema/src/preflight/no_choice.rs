//! *What it finds*: an `enum` or `const` of which the rest of the schema accepts nothing.
//!
//! *Why it matters for a model*: it is told to choose and every choice is refused.
//!
//! *Example*: `{"type": "integer", "enum": ["1", "2"]}`. *Instead*: `{"type": "integer", "enum": [1, 2]}`.

use crate::keywords::KeywordSet;
use crate::preflight::Subject;
use crate::{Code, Finding};

/// Choices that are tried; with more the schema is taken for good.
const CHOICES_MAX: usize = 1_000;

pub(super) const OF: KeywordSet = KeywordSet::of(&["const", "enum"]);

pub(super) fn judge(subject: &Subject<'_>, doubts: &mut Vec<Finding>) {
    if let Some(only) = subject.keyword("const")
        && subject.accepts(only) == Some(false)
    {
        let message =
            "expected the value under `const` to be good for the rest of the schema, found that it is not";
        doubts.push(subject.doubt(Code::SchemaUnsatisfiable, "const", message));
    }
    let Some(choices) = subject.keyword("enum") else { return };
    if choices.len() <= CHOICES_MAX && choices.items().all(|choice| subject.accepts(choice) == Some(false)) {
        let message = match choices.len() {
            0 => "expected at least one choice, found none, so nothing is accepted",
            _ => "expected some choice to be good for the rest of the schema, found that none is",
        };
        doubts.push(
            subject
                .doubt(Code::SchemaUnsatisfiable, "enum", message)
                .with_help("write the choices in the type that the schema states"),
        );
    }
}

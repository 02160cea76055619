//! *What it finds*: a keyword for values that the stated `type` excludes.
//!
//! *Why it matters for a model*: the keyword reads like a rule and is none: it holds for every value that gets there.
//!
//! *Example*: `{"type": "string", "maximum": 10}`. *Instead*: `{"type": "integer", "maximum": 10}` or
//! `{"type": "string", "maxLength": 10}`.

use crate::preflight::Subject;
use crate::types::TypeSet;
use crate::{Code, Finding};

/// The keywords that look at one kind of value, with that kind.
const KINDS: &[(&str, &[&str])] = &[
    ("number", &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]),
    ("string", &["minLength", "maxLength", "pattern"]),
    (
        "array",
        &[
            "items",
            "prefixItems",
            "additionalItems",
            "minItems",
            "maxItems",
            "uniqueItems",
            "contains",
            "minContains",
            "maxContains",
            "unevaluatedItems",
        ],
    ),
    (
        "object",
        &[
            "properties",
            "patternProperties",
            "additionalProperties",
            "required",
            "minProperties",
            "maxProperties",
            "propertyNames",
            "dependentRequired",
            "dependentSchemas",
            "dependencies",
            "unevaluatedProperties",
        ],
    ),
];

pub(super) fn judge(subject: &Subject<'_>, doubts: &mut Vec<Finding>) {
    let Some(stated) = subject.keyword("type").and_then(TypeSet::written) else { return };
    for (kind, keywords) in KINDS {
        if TypeSet::named(kind).is_none_or(|kind| stated.overlaps(kind)) {
            continue;
        }
        for keyword in keywords.iter().filter(|keyword| subject.keyword(keyword).is_some()) {
            let message = format!(
                "expected a keyword for {} beside its `type`, found `{keyword}`, which looks at {kind}s alone",
                stated.names()
            );
            doubts.push(
                subject
                    .doubt(Code::SchemaUnreachable, keyword, message)
                    .with_help(format!("state the type `{kind}`, or leave `{keyword}` out")),
            );
        }
    }
}

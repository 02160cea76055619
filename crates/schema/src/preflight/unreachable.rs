//! *What it finds*: a keyword for values that the stated `type` excludes.
//!
//! *Why it matters for a model*: the keyword reads like a rule and is none: it holds for every value that gets there.
//!
//! *Example*: `{"type": "string", "maximum": 10}`. *Instead*: `{"type": "integer", "maximum": 10}` or
//! `{"type": "string", "maxLength": 10}`.

use crate::keywords::KeywordSet;
use crate::preflight::Subject;
use crate::types::TypeSet;
use crate::{Code, Finding};

pub(super) const OF: KeywordSet = KeywordSet::of(&["type"]);

/// The keywords that look at one kind of value, with that kind.
const KINDS: &[(&str, TypeSet, &[&str], KeywordSet)] = &[
    ("number", TypeSet::NUMBER, NUMBERS, KeywordSet::of(NUMBERS)),
    ("string", TypeSet::STRING, TEXTS, KeywordSet::of(TEXTS)),
    ("array", TypeSet::ARRAY, ARRAYS, KeywordSet::of(ARRAYS)),
    ("object", TypeSet::OBJECT, OBJECTS, KeywordSet::of(OBJECTS)),
];
const NUMBERS: &[&str] = &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
const TEXTS: &[&str] = &["minLength", "maxLength", "pattern"];
const ARRAYS: &[&str] = &[
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
];
const OBJECTS: &[&str] = &[
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
];

pub(super) fn judge(subject: &Subject<'_>, doubts: &mut Vec<Finding>) {
    let Some(stated) = subject.keyword("type").and_then(TypeSet::written) else { return };
    for (kind, types, keywords, set) in KINDS {
        if stated.overlaps(*types) || !set.meets(subject.present.set()) {
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

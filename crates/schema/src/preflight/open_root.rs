//! *What it finds*: a tool's input that accepts members which it does not declare.
//!
//! *Why it matters for a model*: a misspelt argument passes as an unknown one, and the tool runs without it.
//!
//! *Example*: `{"type": "object", "properties": {"path": {}}}`. *Instead*: add `"additionalProperties": false`.

use crate::keywords::KeywordSet;
use crate::preflight::Subject;
use crate::{Code, Finding};

/// Keywords that say something of other members, here or where they lead.
const OTHERS: KeywordSet = KeywordSet::of(&[
    "additionalProperties",
    "additional_properties",
    "unevaluatedProperties",
    "patternProperties",
    "propertyNames",
    "$ref",
    "$dynamicRef",
    "allOf",
    "anyOf",
    "oneOf",
]);

/// Looks at the root of a tool's input.
pub(super) fn judge(subject: &Subject<'_>, doubts: &mut Vec<Finding>) {
    if !OTHERS.meets(subject.present.set()) {
        let message = "expected a closed object of arguments, found one that takes members of any name";
        let finding = Finding::new(Code::SchemaOpenRoot, message)
            .with_help(
                "write `\"additionalProperties\": false` beside `properties`, or `true` if other members are meant",
            )
            .at_schema("additionalProperties", "")
            .at_offset(subject.present.schema().span().start);
        doubts.push(finding);
    }
}

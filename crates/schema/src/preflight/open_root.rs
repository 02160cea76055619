//! *What it finds*: a tool's input that accepts members which it does not declare.
//!
//! *Why it matters for a model*: a misspelt argument passes as an unknown one, and the tool runs without it.
//!
//! *Example*: `{"type": "object", "properties": {"path": {}}}`. *Instead*: add `"additionalProperties": false`.

use crate::json::{Kind, Node};
use crate::keywords::{KeywordSet, Present};
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
    doubts.extend(of(&subject.present));
}

/// The same for the root of a schema that cannot be enforced, of which nothing else can be said.
///
/// ```
/// use callgate_schema::{Code, json::Tape, Limits, open_root};
///
/// let mut tape = Tape::new();
/// let root = tape.read(br#"{"type": "object", "propertis": {}}"#, &Limits::default().schema_text())?;
/// assert_eq!(open_root(root).map(|doubt| doubt.code), Some(Code::SchemaOpenRoot));
/// # Ok::<(), callgate_schema::json::ReadFault>(())
/// ```
pub fn open_root(schema: Node<'_>) -> Option<Finding> {
    (schema.kind() == Kind::Object).then(|| of(&Present::of(schema))).flatten()
}

fn of(present: &Present<'_>) -> Option<Finding> {
    (!OTHERS.meets(present.set())).then(|| {
        let message = "expected a closed object of arguments, found one that takes members of any name";
        Finding::new(Code::SchemaOpenRoot, message)
            .with_help(
                "write `\"additionalProperties\": false` beside `properties`, or `true` if other members are meant",
            )
            .at_schema("additionalProperties", "")
            .at_offset(present.schema().span().start)
    })
}

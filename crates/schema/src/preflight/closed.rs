//! *What it finds*: a name under `required` that a closed object has no place for.
//!
//! *Why it matters for a model*: with the member the call is refused, and without it too.
//!
//! *Example*: `{"properties": {"id": {}}, "required": ["ID"], "additionalProperties": false}`. *Instead*: declare the
//! member under the name that is required.

use std::collections::HashMap;

use crate::json::Node;
use crate::keywords::KeywordSet;
use crate::preflight::Subject;
use crate::{Code, Detail, Finding};

pub(super) const OF: KeywordSet = KeywordSet::of(&["required"]);

/// Names times members beyond which a table is made.
const PAIRS_MAX: usize = 256;

pub(super) fn judge(subject: &Subject<'_>, doubts: &mut Vec<Finding>) {
    let closed = subject.keyword("additionalProperties").and_then(Node::as_bool) == Some(false);
    let Some(required) = subject.keyword("required") else { return };
    let properties = subject.keyword("properties");
    let members = properties.into_iter().flat_map(Node::members);
    // A pattern may have a place for it.
    let closed = closed && subject.keyword("patternProperties").is_none();
    if !closed && !members.clone().any(|member| member.value().as_bool() == Some(false)) {
        return;
    }
    let many = required.len().saturating_mul(properties.map_or(0, Node::len)) > PAIRS_MAX;
    let table: HashMap<_, _> =
        if many { members.map(|member| (member.name(), member.value())).collect() } else { HashMap::new() };
    for name in required.items().filter_map(Node::as_str) {
        let schema = if many {
            table.get(&name).copied()
        } else {
            properties.and_then(|properties| properties.member(&name))
        };
        let forbidden = schema.is_some_and(|schema| schema.as_bool() == Some(false));
        let no_place = closed && schema.is_none();
        if !subject.has_room(doubts) {
            return;
        }
        if forbidden || no_place {
            let message =
                format!("expected a place for the required member `{name}`, found none in a closed object");
            doubts.push(
                subject
                    .doubt(Code::SchemaUnsatisfiable, "required", message)
                    .with_help(format!("declare `{name}` under `properties`, or do not require it"))
                    .with("property", Detail::Text(name.into_owned())),
            );
        }
    }
}

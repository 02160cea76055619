//! *What it finds*: a name under `required` that a closed object has no place for.
//!
//! *Why it matters for a model*: with the member the call is refused, and without it too.
//!
//! *Example*: `{"properties": {"id": {}}, "required": ["ID"], "additionalProperties": false}`. *Instead*: declare the
//! member under the name that is required.

use std::collections::HashMap;

use crate::json::Node;
use crate::preflight::Subject;
use crate::{Code, Detail, Finding};

pub(super) fn judge(subject: &Subject<'_>, doubts: &mut Vec<Finding>) {
    let closed = subject.keyword("additionalProperties").and_then(Node::as_bool) == Some(false);
    let Some(required) = subject.keyword("required") else { return };
    let members = subject.keyword("properties").into_iter().flat_map(Node::members);
    let declared: HashMap<_, _> =
        members.map(|member| (member.name(), member.value().as_bool() == Some(false))).collect();
    // A pattern may have a place for it.
    let closed = closed && subject.keyword("patternProperties").is_none();
    for name in required.items().filter_map(Node::as_str) {
        let schema = declared.get(&name);
        let forbidden = schema == Some(&true);
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

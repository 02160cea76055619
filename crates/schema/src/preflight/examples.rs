//! *What it finds*: a `default` or an example that its own schema refuses.
//!
//! *Why it matters for a model*: models copy defaults and examples, and the call is then refused.
//!
//! *Example*: `{"type": "integer", "default": "10"}`. *Instead*: `{"type": "integer", "default": 10}`.

use crate::json::Node;
use crate::preflight::Subject;
use crate::{Code, Finding};

pub(super) fn judge(subject: &Subject<'_>, doubts: &mut Vec<Finding>) {
    for keyword in ["default", "example"] {
        if let Some(value) = subject.keyword(keyword) {
            refused(subject, keyword, "", value, doubts);
        }
    }
    for (index, example) in subject.keyword("examples").into_iter().flat_map(Node::items).enumerate() {
        refused(subject, "examples", &format!("/{index}"), example, doubts);
    }
}

fn refused(subject: &Subject<'_>, keyword: &str, tail: &str, value: Node<'_>, doubts: &mut Vec<Finding>) {
    if subject.accepts(value) != Some(false) {
        return;
    }
    let message =
        format!("expected a value that its own schema accepts as `{keyword}`, found one that it refuses");
    let mut doubt = subject
        .doubt(Code::SchemaExampleRefused, keyword, message)
        .with_help("write a value that could be sent, or widen the schema")
        .at_offset(value.span().start);
    if let Some(location) = &mut doubt.schema_location {
        location.push_str(tail);
    }
    doubts.push(doubt);
}

//! *What it finds*: a `default` or an example that its own schema refuses.
//!
//! *Why it matters for a model*: models copy defaults and examples, and the call is then refused.
//!
//! *Example*: `{"type": "integer", "default": "10"}`. *Instead*: `{"type": "integer", "default": 10}`.

use crate::json::Node;
use crate::keywords::KeywordSet;
use crate::preflight::Subject;
use crate::types::{TypeSet, found};
use crate::{Code, Finding};

pub(super) const OF: KeywordSet = KeywordSet::of(&["default", "example", "examples"]);

pub(super) fn judge(subject: &Subject<'_>, doubts: &mut Vec<Finding>) {
    for keyword in ["default", "example"] {
        if let Some(value) = subject.keyword(keyword) {
            refused(subject, keyword, "", value, doubts);
        }
    }
    for (index, example) in subject.keyword("examples").into_iter().flat_map(Node::items).enumerate() {
        if !subject.has_room(doubts) {
            return;
        }
        refused(subject, "examples", &format!("/{index}"), example, doubts);
    }
}

fn refused(
    subject: &Subject<'_>,
    keyword: &'static str,
    tail: &str,
    value: Node<'_>,
    doubts: &mut Vec<Finding>,
) {
    if subject.accepts(value) != Some(false) {
        return;
    }
    let (message, help) = why(subject, keyword, value);
    let mut doubt = subject
        .doubt(Code::SchemaExampleRefused, keyword, message)
        .with_help(help)
        .at_offset(value.span().start);
    if let Some(location) = &mut doubt.schema_location {
        location.push_str(tail);
    }
    doubts.push(doubt);
}

/// What is wrong with the value, if it is one of the usual things, and what to do.
fn why(subject: &Subject<'_>, keyword: &str, value: Node<'_>) -> (String, String) {
    let usual = || "write a value that could be sent, or widen the schema".to_owned();
    let is_missing_default = value.is_null() && keyword == "default";
    let leave_out = "leave the `default` out, since a member that is not required need not be sent, or";
    if let Some(stated) = subject.keyword("type").and_then(TypeSet::written)
        && !stated.has(value)
    {
        let message =
            format!("expected {} under `{keyword}`, as `type` says, found {}", stated.names(), found(value));
        let names = stated.names();
        let name = if names.contains(' ') { "string" } else { &names };
        let help = format!("{leave_out} take `null` into the type, as in `\"type\": [\"{name}\", \"null\"]`");
        return (message, if is_missing_default { help } else { usual() });
    }
    let is_listed = |choices: Node<'_>| choices.items().any(|choice| choice.equals(value));
    if subject.keyword("enum").is_some_and(|choices| !is_listed(choices)) {
        return (
            format!("expected one of the choices of `enum` under `{keyword}`, found another value"),
            "write one of the choices, or add this one".to_owned(),
        );
    }
    let help = format!(
        "{leave_out} let the schema take null, such as by a branch `{{\"type\": \"null\"}}` in its `anyOf`"
    );
    let help = if is_missing_default { help } else { usual() };
    match branches(subject) {
        Some((union, names)) => {
            (format!("expected {names} under `{keyword}`, as `{union}` says, found {}", found(value)), help)
        }
        None => (
            format!(
                "expected `{keyword}` to keep the schema beside it, found {} that does not",
                found(value)
            ),
            help,
        ),
    }
}

/// The union of the schema and the types of its branches, if each of them states one and nothing else is there to judge.
fn branches(subject: &Subject<'_>) -> Option<(&'static str, String)> {
    let (union, branches) =
        ["anyOf", "oneOf"].into_iter().find_map(|union| Some((union, subject.keyword(union)?)))?;
    let mut types = branches.items().map(|branch| branch.member("type").and_then(TypeSet::written));
    let types = types.try_fold(TypeSet::EMPTY, |all, stated| Some(all.union(stated?)))?;
    Some((union, types.names()))
}

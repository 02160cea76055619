//! Intents for programs: one object an intent, members that are not known `null`.

use callgate_wire::{Event, Intent};

use super::json::{array, object, quoted, time};

/// An array, one intent a line.
pub fn list(intents: &[Intent]) -> String {
    array(&intents.iter().map(|intent| object(&members(intent))).collect::<Vec<_>>())
}

/// One object on a line, with the exact text of the arguments as a string if it is given.
pub fn line(intent: &Intent, arguments: Option<&str>) -> String {
    let mut members = members(intent);
    members.extend(arguments.map(|arguments| ("arguments", Some(quoted(arguments)))));
    object(&members) + "\n"
}

/// As [`line`], with the history, the last thing first.
pub fn show(intent: &Intent, history: &[Event], arguments: Option<&str>) -> String {
    let events: Vec<String> = history.iter().map(event).collect();
    let mut members = members(intent);
    members.push(("history", Some(format!("[{}]", events.join(",")))));
    members.extend(arguments.map(|arguments| ("arguments", Some(quoted(arguments)))));
    object(&members) + "\n"
}

fn event(event: &Event) -> String {
    object(&[
        ("time", Some(quoted(&time(event.at)))),
        ("kind", Some(quoted(event.kind.as_str()))),
        ("by", Some(quoted(&event.by))),
        ("detail", event.detail.as_deref().map(quoted)),
    ])
}

fn members(intent: &Intent) -> Vec<(&'static str, Option<String>)> {
    let text = |text: &str| Some(quoted(text));
    let settlement = intent.settlement.as_ref();
    vec![
        ("id", text(intent.id.as_str())),
        ("time", text(&time(intent.opened_at))),
        ("principal", text(intent.principal.as_str())),
        ("run", intent.run.as_deref().map(quoted)),
        ("upstream", text(&intent.upstream)),
        ("tool", text(&intent.tool)),
        ("call_digest", text(&intent.call_digest.to_string())),
        ("arguments_digest", text(&intent.arguments_digest.to_string())),
        ("contract_digest", text(&intent.contract_digest.to_string())),
        ("key", intent.key.as_deref().map(quoted)),
        ("approval", intent.approval.as_ref().map(|id| quoted(id.as_str()))),
        ("attempt", Some(intent.attempt.0.to_string())),
        ("gate", text(intent.fence.as_str())),
        ("state", text(intent.state().as_str())),
        ("side_effect", text(settlement.map_or("unknown", |settlement| settlement.side_effect.as_str()))),
        ("in_doubt", Some(intent.in_doubt().to_string())),
        ("retry_permitted", Some(intent.retry_permitted.to_string())),
        ("code", settlement.and_then(|settlement| settlement.code).map(|code| quoted(code.as_str()))),
        (
            "result_bytes",
            settlement.and_then(|settlement| settlement.result_bytes).map(|bytes| bytes.to_string()),
        ),
        (
            "is_error",
            settlement.and_then(|settlement| settlement.is_error).map(|is_error| is_error.to_string()),
        ),
        ("settled_time", settlement.map(|settlement| quoted(&time(settlement.at)))),
    ]
}

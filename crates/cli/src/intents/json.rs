//! Intents for programs: one object an intent, members that are not known `null`.

use callgate_schema::json::write_string;
use callgate_wire::Intent;

use super::time;

/// An array, one intent a line.
pub(super) fn list(intents: &[Intent]) -> String {
    let rows: Vec<String> = intents.iter().map(|intent| object(intent, None)).collect();
    if rows.is_empty() { "[]\n".to_owned() } else { format!("[\n{}\n]\n", rows.join(",\n")) }
}

/// One object, with the exact text of the arguments as a string if it is given.
pub(super) fn show(intent: &Intent, arguments: Option<&str>) -> String {
    object(intent, arguments) + "\n"
}

fn object(intent: &Intent, arguments: Option<&str>) -> String {
    let text = |text: &str| Some(quoted(text));
    let settlement = intent.settlement.as_ref();
    let members = [
        ("id", text(intent.id.as_str())),
        ("time", text(&time(intent.opened_at))),
        ("principal", text(intent.principal.as_str())),
        ("run", intent.run.as_deref().map(quoted)),
        ("upstream", text(&intent.upstream)),
        ("tool", text(&intent.tool)),
        ("call_digest", text(&intent.call_digest.to_string())),
        ("arguments_digest", text(&intent.arguments_digest.to_string())),
        ("contract_digest", text(&intent.contract_digest.to_string())),
        ("attempt", Some(intent.attempt.0.to_string())),
        ("gate", text(intent.fence.as_str())),
        ("state", text(intent.state().as_str())),
        ("side_effect", text(settlement.map_or("unknown", |settlement| settlement.side_effect.as_str()))),
        ("in_doubt", Some(intent.in_doubt().to_string())),
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
    ];
    let with_arguments = arguments.map(|arguments| ("arguments", Some(quoted(arguments))));
    let members: Vec<String> = members
        .into_iter()
        .chain(with_arguments)
        .map(|(name, value)| format!("\"{name}\":{}", value.unwrap_or_else(|| "null".to_owned())))
        .collect();
    format!("{{{}}}", members.join(","))
}

fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    write_string(&mut out, text);
    String::from_utf8_lossy(&out).into_owned()
}

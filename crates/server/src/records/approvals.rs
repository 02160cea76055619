//! Approvals for programs: one object an approval, members that are not known `null`.

use callgate_wire::{Approval, ApprovalRecord, ApprovalState, Timestamp};

use super::json::{array, object, quoted, time};

/// How long an approval can be good at most, in milliseconds: 30 days.
pub const VALID_MS_MAX: u64 = 30 * 24 * 3_600_000;

/// How far it has come, with what time alone does to it.
pub fn state(approval: &Approval, now: Timestamp) -> &'static str {
    match approval.state {
        ApprovalState::Pending | ApprovalState::Approved if approval.expired(now) => "expired",
        state => state.as_str(),
    }
}

/// An array, one approval a line.
pub fn list(approvals: &[Approval], now: Timestamp) -> String {
    array(&approvals.iter().map(|approval| object(&members(approval, now))).collect::<Vec<_>>())
}

/// One object.
pub fn one(approval: &Approval, now: Timestamp) -> String {
    object(&members(approval, now)) + "\n"
}

/// One object, with the exact text of the arguments as a string.
pub fn show(record: &ApprovalRecord, now: Timestamp) -> String {
    let mut members = members(&record.approval, now);
    members.push(("arguments", Some(quoted(&String::from_utf8_lossy(&record.arguments)))));
    object(&members) + "\n"
}

fn members(approval: &Approval, now: Timestamp) -> Vec<(&'static str, Option<String>)> {
    let text = |text: &str| Some(quoted(text));
    let rules: Vec<String> = approval.rules.iter().map(|rule| quoted(rule)).collect();
    let decision = approval.decision.as_ref();
    vec![
        ("id", text(approval.id.as_str())),
        ("asked_time", text(&time(approval.asked_at))),
        ("expires_time", text(&time(approval.expires_at))),
        ("principal", text(approval.principal.as_str())),
        ("run", approval.run.as_deref().map(quoted)),
        ("upstream", text(&approval.upstream)),
        ("tool", text(&approval.tool)),
        ("call_digest", text(&approval.call_digest.to_string())),
        ("arguments_digest", text(&approval.arguments_digest.to_string())),
        ("contract_digest", text(&approval.contract_digest.to_string())),
        ("rules_digest", text(&approval.rules_digest.to_string())),
        ("rules", Some(format!("[{}]", rules.join(",")))),
        ("state", text(state(approval, now))),
        ("decided_time", decision.map(|decision| quoted(&time(decision.at)))),
        ("decided_by", decision.map(|decision| quoted(&decision.by))),
        ("reason", decision.and_then(|decision| decision.reason.as_deref()).map(quoted)),
        ("used_by", approval.used_by.as_ref().map(|id| quoted(id.as_str()))),
    ]
}

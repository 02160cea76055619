//! Approvals for people: a table, or all of one with the arguments.

use std::fmt::Write as _;

use callgate_schema::Limits;
use callgate_schema::json::Document;
use callgate_server::records::approvals::state;
use callgate_server::records::json::time;
use callgate_wire::{Approval, ApprovalRecord, Timestamp};
use comfy_table::{Cell, Color};

use crate::render::escape::one_line;
use crate::render::json_diff::marked;
use crate::render::record::{distance, end, facts, short_time};
use crate::render::table::table;

/// A table.
pub(super) fn list(approvals: &[Approval], now: Timestamp, all: bool) -> String {
    if approvals.is_empty() {
        let text =
            if all { "No call has asked for an approval yet.\n" } else { "No call waits for an approval.\n" };
        return text.to_owned();
    }
    let mut table = table(["id", "asked (UTC)", "expires", "principal", "tool", "rules", "state"]);
    for approval in approvals {
        let state = state(approval, now);
        let colour = match state {
            "pending" => Some(Color::Yellow),
            "denied" => Some(Color::Red),
            _ => None,
        };
        let cell = Cell::new(state);
        let expires = match state {
            "pending" | "approved" => distance(now, approval.expires_at),
            _ => short_time(approval.expires_at),
        };
        table.add_row([
            Cell::new(end(approval.id.as_str())),
            Cell::new(short_time(approval.asked_at)),
            Cell::new(expires),
            Cell::new(one_line(approval.principal.as_str())),
            Cell::new(one_line(&format!("{}/{}", approval.upstream, approval.tool))),
            Cell::new(one_line(&approval.rules.join(" "))),
            match colour {
                Some(colour) => cell.fg(colour),
                None => cell,
            },
        ]);
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 1));
    }
    let mut text = table.trim_fmt();
    text.push('\n');
    if approvals.iter().any(|approval| state(approval, now) == "pending") {
        text.push_str(
            "\n`callgate approvals show ID` shows the arguments; decide with `approve ID` or `deny ID`.\n",
        );
    }
    text
}

/// All of one; `last` is the last call of the tool of this principal that was approved.
pub(super) fn show(record: &ApprovalRecord, last: Option<&ApprovalRecord>, now: Timestamp) -> String {
    let approval = &record.approval;
    let mut all = vec![
        ("id", approval.id.to_string()),
        ("asked", time(approval.asked_at)),
        ("expires", format!("{} ({})", time(approval.expires_at), distance(now, approval.expires_at))),
        ("principal", approval.principal.to_string()),
        ("upstream", approval.upstream.clone()),
        ("tool", approval.tool.clone()),
        (
            "rules that ask",
            if approval.rules.is_empty() { "-".to_owned() } else { approval.rules.join(", ") },
        ),
        ("state", state(approval, now).to_owned()),
        ("call digest", approval.call_digest.to_string()),
        ("arguments digest", approval.arguments_digest.to_string()),
        ("contract digest", approval.contract_digest.to_string()),
        ("rules digest", approval.rules_digest.to_string()),
    ];
    if let Some(run) = &approval.run {
        all.insert(4, ("run", run.clone()));
    }
    if let Some(decision) = &approval.decision {
        all.push(("decided", format!("{} by {}", time(decision.at), decision.by)));
        all.extend(decision.reason.iter().map(|reason| ("reason", reason.clone())));
    }
    all.extend(approval.used_by.iter().map(|intent| ("used by", format!("intent {intent}"))));
    facts(&all) + &arguments(record, last)
}

fn arguments(record: &ApprovalRecord, last: Option<&ApprovalRecord>) -> String {
    let limits = Limits::default().arguments_text();
    let read = |record: &ApprovalRecord| Document::read(&*record.arguments, &limits).ok();
    let Some(now) = read(record) else {
        // They were bound within the limits of a gate, which can be set wider.
        let text = one_line(&String::from_utf8_lossy(&record.arguments));
        return format!("\narguments, as they will be sent\n{text}\n");
    };
    let before = last.and_then(|last| Some((last, read(last)?)));
    let mut text = String::new();
    let _ = match &before {
        None => writeln!(
            text,
            "\narguments, as they will be sent but for blanks; no call of this tool was approved before"
        ),
        Some((_, before)) if before.root().equals(now.root()) => {
            writeln!(
                text,
                "\narguments, as they will be sent but for blanks; the same as of the last approved call"
            )
        }
        Some((last, _)) => {
            let used = last.approval.decision.as_ref().map_or(last.approval.asked_at, |decision| decision.at);
            writeln!(
                text,
                "\narguments, as they will be sent but for blanks; marked where they differ from the last approved call \
                 ({})",
                time(used)
            )
        }
    };
    text.push_str(&marked(before.as_ref().map(|(_, before)| before.root()), now.root()));
    text
}

#[cfg(test)]
mod tests {
    use std::str::FromStr as _;

    use callgate_schema::json::Digest;
    use callgate_wire::{ApprovalId, Decision, IntentId, Principal};

    use super::*;
    use callgate_server::records::approvals as json;
    use callgate_wire::ApprovalState;

    const NOW: Timestamp = Timestamp(1_764_000_060_000);

    fn record(last: u8, state: ApprovalState, arguments: &str) -> ApprovalRecord {
        let digest = |byte: &str| Digest::from_str(&byte.repeat(32)).unwrap();
        let mut id =
            [0x01, 0x99, 0xd2, 0xf4, 0x6b, 0x1e, 0x7c, 0x3a, 0x9f, 0x0e, 0x2b, 0x7d, 0x5a, 0x4c, 0x8e, 0];
        id[15] = last;
        let decided = !matches!(state, ApprovalState::Pending);
        let approval = Approval {
            id: ApprovalId::from_bytes(id),
            asked_at: Timestamp(1_764_000_000_005),
            expires_at: Timestamp(1_764_000_600_005),
            principal: Principal::local("ada"),
            run: Some("run 1".to_owned()),
            upstream: "bank".to_owned(),
            tool: "p\u{1b}ay".to_owned(),
            contract_digest: digest("c0"),
            arguments_digest: digest("a1"),
            call_digest: digest("ca"),
            rules_digest: digest("b0"),
            rules: vec!["payments-need-a-person".to_owned()],
            state,
            decision: decided.then(|| Decision {
                at: Timestamp(1_764_000_030_000),
                by: "operator:bob".to_owned(),
                reason: Some("as agreed".to_owned()),
            }),
            used_by: (state == ApprovalState::Used).then(|| IntentId::from_bytes([9; 16])),
        };
        ApprovalRecord { approval, arguments: arguments.as_bytes().into() }
    }

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn the_table_fits_and_says_what_time_has_done() {
        let approvals = [
            record(3, ApprovalState::Pending, "{}").approval,
            record(2, ApprovalState::Denied, "{}").approval,
            record(1, ApprovalState::Used, "{}").approval,
        ];
        let text = plain(&list(&approvals, NOW, true));
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        insta::assert_snapshot!(text, @r#"
        id            asked (UTC)     expires         principal  tool            rules              state
        ────────────────────────────────────────────────────────────────────────────────────────────────────
        2b7d5a4c8e03  11-24 16:00:00  in 9 min        local:ada  bank/p\u001bay  payments-need-a-p  pending
                                                                                 erson
        2b7d5a4c8e02  11-24 16:00:00  11-24 16:10:00  local:ada  bank/p\u001bay  payments-need-a-p  denied
                                                                                 erson
        2b7d5a4c8e01  11-24 16:00:00  11-24 16:10:00  local:ada  bank/p\u001bay  payments-need-a-p  used
                                                                                 erson

        `callgate approvals show ID` shows the arguments; decide with `approve ID` or `deny ID`.
        "#);
        let late = Timestamp(1_764_000_600_006);
        assert!(plain(&list(&approvals[..1], late, true)).contains("expired"));
        assert_eq!(list(&[], NOW, false), "No call waits for an approval.\n");
        assert_eq!(list(&[], NOW, true), "No call has asked for an approval yet.\n");
    }

    #[test]
    fn one_is_shown_whole_with_its_arguments_marked() {
        let asked = record(2, ApprovalState::Pending, "{\"to\": \"bob\\u202e\", \"amount\": 2.50e2}");
        let last = record(1, ApprovalState::Used, r#"{"to":"bob","amount":20}"#);
        insta::assert_snapshot!(plain(&show(&asked, Some(&last), NOW)), @r#"
        id                0199d2f4-6b1e-7c3a-9f0e-2b7d5a4c8e02
        asked             2025-11-24T16:00:00.005Z
        expires           2025-11-24T16:10:00.005Z (in 9 min)
        principal         local:ada
        run               run 1
        upstream          bank
        tool              p\u001bay
        rules that ask    payments-need-a-person
        state             pending
        call digest       cacacacacacacacacacacacacacacacacacacacacacacacacacacacacacacaca
        arguments digest  a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1
        contract digest   c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0
        rules digest      b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0

        arguments, as they will be sent but for blanks; marked where they differ from the last approved call (2025-11-24T16:00:30.000Z)
          {
        ~   "to": "bob\u202e",   was "bob"
        ~   "amount": 2.50e2   was 20
          }
        "#);
        let same = show(&record(2, ApprovalState::Pending, r#"{"amount":2e1,"to":"bob"}"#), Some(&last), NOW);
        assert!(same.contains("the same as of the last approved call") && !same.contains("was"), "{same}");
        assert!(show(&last, None, NOW).contains("no call of this tool was approved before"));
    }

    #[test]
    fn programs_get_every_member_and_the_exact_arguments() {
        let asked = record(2, ApprovalState::Pending, "{\"a\" : 1e0}");
        insta::assert_snapshot!(json::list(std::slice::from_ref(&asked.approval), NOW), @r#"
        [
        {"id":"0199d2f4-6b1e-7c3a-9f0e-2b7d5a4c8e02","asked_time":"2025-11-24T16:00:00.005Z","expires_time":"2025-11-24T16:10:00.005Z","principal":"local:ada","run":"run 1","upstream":"bank","tool":"p\u001bay","call_digest":"cacacacacacacacacacacacacacacacacacacacacacacacacacacacacacacaca","arguments_digest":"a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1","contract_digest":"c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0","rules_digest":"b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0","rules":["payments-need-a-person"],"state":"pending","decided_time":null,"decided_by":null,"reason":null,"used_by":null}
        ]
        "#);
        let shown = json::show(&asked, NOW);
        assert!(shown.ends_with(",\"arguments\":\"{\\\"a\\\" : 1e0}\"}\n"), "{shown}");
        let used = json::show(&record(1, ApprovalState::Used, "{}"), NOW);
        for part in [
            "\"state\":\"used\"",
            "\"decided_by\":\"operator:bob\"",
            "\"reason\":\"as agreed\"",
            "\"used_by\":\"0909",
        ] {
            assert!(used.contains(part), "{used}");
        }
    }
}

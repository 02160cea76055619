//! Intents for people: a table, or all of one.

use std::fmt::Write as _;

use callgate_wire::{Event, Intent};
use comfy_table::{Cell, Color};

use crate::render::escape::one_line;
use crate::render::record::{beginning, end, facts, short_time, time};
use crate::render::table::table;

/// A table.
pub(super) fn list(intents: &[Intent]) -> String {
    if intents.is_empty() {
        return "No calls are on record yet.\n".to_owned();
    }
    let header = ["id", "time (UTC)", "principal", "tool", "call", "arguments", "state", "effect"];
    let mut table = table(header);
    for intent in intents {
        let effect =
            intent.settlement.as_ref().map_or("unknown", |settlement| settlement.side_effect.as_str());
        let state = if intent.in_doubt() {
            Cell::new(if intent.retry_permitted { "may retry" } else { "in doubt" }).fg(Color::Yellow)
        } else {
            Cell::new(intent.state().as_str())
        };
        table.add_row([
            Cell::new(end(intent.id.as_str())),
            Cell::new(short_time(intent.opened_at)),
            Cell::new(one_line(intent.principal.as_str())),
            Cell::new(one_line(&intent.tool)),
            Cell::new(beginning(&intent.call_digest.to_string())),
            Cell::new(beginning(&intent.arguments_digest.to_string())),
            state,
            Cell::new(effect),
        ]);
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 1));
    }
    let mut text = table.trim_fmt();
    text.push('\n');
    let doubts = intents.iter().filter(|intent| intent.in_doubt()).count();
    if doubts > 0 {
        let calls = if doubts == 1 { "call is" } else { "calls are" };
        let says = "nobody can say whether the tool ran. `callgate intents show ID` says why.";
        let _ = writeln!(text, "\n{doubts} {calls} in doubt: {says}");
    }
    text
}

/// All of one intent, a line a fact, and what was done to it, the first thing first.
pub(super) fn show(intent: &Intent, history: &[Event], arguments: Option<&str>) -> String {
    let settlement = intent.settlement.as_ref();
    let mut all = vec![
        ("id", intent.id.to_string()),
        ("time", time(intent.opened_at)),
        ("principal", intent.principal.to_string()),
        ("upstream", intent.upstream.clone()),
        ("tool", intent.tool.clone()),
        ("call digest", intent.call_digest.to_string()),
        ("arguments digest", intent.arguments_digest.to_string()),
        ("contract digest", intent.contract_digest.to_string()),
        ("attempt", intent.attempt.0.to_string()),
        ("gate", intent.fence.to_string()),
        ("state", intent.state().to_string()),
        ("in doubt", if intent.in_doubt() { "yes" } else { "no" }.to_owned()),
    ];
    if let Some(run) = &intent.run {
        all.insert(3, ("run", run.clone()));
    }
    all.extend(intent.key.iter().map(|key| ("key", key.clone())));
    all.extend(intent.approval.iter().map(|approval| ("approval", approval.to_string())));
    if intent.retry_permitted {
        all.push(("may retry", "yes, once".to_owned()));
    }
    if let Some(settlement) = settlement {
        all.push(("side effect", settlement.side_effect.to_string()));
        all.extend(settlement.code.map(|code| ("code", format!("{code}: {}", code.summary()))));
        all.extend(settlement.result_bytes.map(|bytes| ("result", format!("{bytes} bytes"))));
        let is_error = settlement.is_error.map(|is_error| if is_error { "yes" } else { "no" });
        all.extend(is_error.map(|answer| ("tool says error", answer.to_owned())));
        all.push(("known since", time(settlement.at)));
    } else {
        all.push(("side effect", "unknown".to_owned()));
    }
    let mut text = facts(&all);
    if !history.is_empty() {
        text.push_str("\nhistory\n");
    }
    for Event { at, kind, by, detail, .. } in history.iter().rev() {
        let detail = detail.as_deref().map(|detail| format!(": {detail}")).unwrap_or_default();
        let _ = writeln!(text, "{}", one_line(&format!("{}  {kind}  by {by}{detail}", time(*at))));
    }
    if let Some(arguments) = arguments {
        let lines: Vec<String> = arguments.lines().map(one_line).collect();
        let _ = writeln!(text, "\n{}", lines.join("\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use std::str::FromStr as _;

    use callgate_gateway::intent::Observation;
    use callgate_schema::json::Digest;
    use callgate_wire::{Attempt, EventKind, Incarnation, IntentId, Pinned, Principal, Timestamp};

    use super::*;
    use callgate_server::records::intents as json;

    fn intent(last: u8, observed: Option<Observation>) -> Intent {
        let digest = |byte: &str| Digest::from_str(&byte.repeat(32)).unwrap();
        let mut id =
            [0x01, 0x99, 0xd2, 0xf4, 0x6b, 0x1e, 0x7c, 0x3a, 0x9f, 0x0e, 0x2b, 0x7d, 0x5a, 0x4c, 0x8e, 0];
        id[15] = last;
        Intent {
            id: IntentId::from_bytes(id),
            opened_at: Timestamp(1_764_000_000_005),
            principal: Principal::local("ada"),
            run: None,
            upstream: "notes".to_owned(),
            tool: "wr\u{1b}[m".to_owned(),
            contract_digest: digest("c0"),
            arguments_digest: digest("a1"),
            call_digest: digest("ca"),
            key: None,
            approval: None,
            pinned: Pinned::default(),
            attempt: Attempt::FIRST,
            fence: Incarnation::from_bytes([7; 16]),
            retry_permitted: false,
            settlement: observed
                .map(|observed| observed.settlement(Pinned::default(), Timestamp(1_764_000_001_000))),
        }
    }

    const RESULT: Observation = Observation::Result { is_error: false, bytes: 17, breaks_output: false };

    #[test]
    fn the_table_fits_and_marks_what_is_in_doubt() {
        let intents = [intent(3, None), intent(2, Some(Observation::Timeout)), intent(1, Some(RESULT))];
        let text = list(&intents);
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        insta::assert_snapshot!(text, @r#"
        id            time (UTC)      principal  tool        call          arguments     state     effect
        ───────────────────────────────────────────────────────────────────────────────────────────────────
        2b7d5a4c8e03  11-24 16:00:00  local:ada  wr\u001b[m  cacacacacaca  a1a1a1a1a1a1  open      unknown
        2b7d5a4c8e02  11-24 16:00:00  local:ada  wr\u001b[m  cacacacacaca  a1a1a1a1a1a1  in doubt  unknown
        2b7d5a4c8e01  11-24 16:00:00  local:ada  wr\u001b[m  cacacacacaca  a1a1a1a1a1a1  settled   done

        1 call is in doubt: nobody can say whether the tool ran. `callgate intents show ID` says why.
        "#);
        assert_eq!(list(&[]), "No calls are on record yet.\n");
    }

    #[test]
    fn one_intent_is_shown_whole_with_its_arguments_only_if_asked() {
        let mut intent = intent(2, Some(Observation::Timeout));
        intent.retry_permitted = true;
        let permitted = Event {
            at: Timestamp(1_764_000_009_000),
            kind: EventKind::IntentRetryPermitted,
            intent: Some(intent.id.clone()),
            approval: None,
            by: "operator:ada".to_owned(),
            detail: Some("the log\nends before it".to_owned()),
        };
        insta::assert_snapshot!(show(&intent, &[permitted], Some("{ \"a\":1e2 }")), @r#"
        id                0199d2f4-6b1e-7c3a-9f0e-2b7d5a4c8e02
        time              2025-11-24T16:00:00.005Z
        principal         local:ada
        upstream          notes
        tool              wr\u001b[m
        call digest       cacacacacacacacacacacacacacacacacacacacacacacacacacacacacacacaca
        arguments digest  a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1
        contract digest   c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0
        attempt           1
        gate              07070707-0707-0707-0707-070707070707
        state             open
        in doubt          yes
        may retry         yes, once
        side effect       unknown
        code              upstream-timeout: an upstream that did not answer in time
        known since       2025-11-24T16:00:01.000Z

        history
        2025-11-24T16:00:09.000Z  intent-retry-permitted  by operator:ada: the log\u000aends before it

        { "a":1e2 }
        "#);
        assert!(!show(&intent, &[], None).contains("1e2"));
    }

    #[test]
    fn programs_get_every_member_and_null_for_what_is_not_known() {
        insta::assert_snapshot!(json::list(&[intent(3, None), intent(1, Some(RESULT))]), @r#"
        [
        {"id":"0199d2f4-6b1e-7c3a-9f0e-2b7d5a4c8e03","time":"2025-11-24T16:00:00.005Z","principal":"local:ada","run":null,"upstream":"notes","tool":"wr\u001b[m","call_digest":"cacacacacacacacacacacacacacacacacacacacacacacacacacacacacacacaca","arguments_digest":"a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1","contract_digest":"c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0","key":null,"approval":null,"attempt":1,"gate":"07070707-0707-0707-0707-070707070707","state":"open","side_effect":"unknown","in_doubt":false,"retry_permitted":false,"code":null,"result_bytes":null,"is_error":null,"settled_time":null},
        {"id":"0199d2f4-6b1e-7c3a-9f0e-2b7d5a4c8e01","time":"2025-11-24T16:00:00.005Z","principal":"local:ada","run":null,"upstream":"notes","tool":"wr\u001b[m","call_digest":"cacacacacacacacacacacacacacacacacacacacacacacacacacacacacacacaca","arguments_digest":"a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1","contract_digest":"c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0","key":null,"approval":null,"attempt":1,"gate":"07070707-0707-0707-0707-070707070707","state":"settled","side_effect":"done","in_doubt":false,"retry_permitted":false,"code":null,"result_bytes":17,"is_error":false,"settled_time":"2025-11-24T16:00:01.000Z"}
        ]
        "#);
        let shown = json::show(&intent(3, None), &[], Some("{\"a\":\"\u{1b}\"}"));
        assert!(shown.ends_with(",\"arguments\":\"{\\\"a\\\":\\\"\\u001b\\\"}\"}\n"), "{shown}");
        assert_eq!(json::list(&[]), "[]\n");
    }
}

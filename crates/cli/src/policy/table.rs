//! What came of a table of calls, for people and for programs.

use std::fmt::Write as _;

use callgate_gateway::policy::{RuleOutcome, RuleSet};

use super::{Tried, quoted};
use crate::render::escape::one_line;
use crate::render::table::table;

pub(super) fn text(tried: &[Tried<'_>], rules: &RuleSet) -> String {
    let mut rows = table(["", "Call", "Principal", "Target", "Expected", "Decided", "By"]);
    for one in tried {
        let row = &one.row;
        rows.add_row([
            if one.good { "ok" } else { "WRONG" }.to_owned(),
            one_line(row.name.as_deref().unwrap_or(&row.place)),
            one_line(row.principal.as_str()),
            one_line(&row.target),
            row.expect.as_str().to_owned(),
            one.effect.to_owned(),
            one.determining.join(", "),
        ]);
    }
    let mut out = format!("{rows}\n");
    for one in tried.iter().filter(|one| !one.good) {
        let row = &one.row;
        let _ = writeln!(out, "\n{}: {}", row.place, one_line(row.name.as_deref().unwrap_or(&row.target)));
        let by =
            |ids: &[String]| if ids.is_empty() { String::new() } else { format!(" by {}", ids.join(", ")) };
        let wanted = row.rules.as_deref().unwrap_or_default();
        let _ = writeln!(out, "  expected {}{}", row.expect, by(wanted));
        let _ = writeln!(out, "  decided  {}{}", one.effect, by(&one.determining));
        for reason in &one.reasons {
            // A rule about something else says nothing of why this call was decided so, unless it was expected to decide.
            let about_others =
                matches!(reason.outcome, RuleOutcome::OtherTarget | RuleOutcome::OtherPrincipal);
            if about_others && !wanted.contains(&reason.rule.id) {
                continue;
            }
            let _ =
                writeln!(out, "  {} ({}): {}", reason.rule.id, reason.rule.effect, one_line(&reason.text));
        }
    }
    let wrong = tried.iter().filter(|one| !one.good).count();
    let noun = if tried.len() == 1 { "call" } else { "calls" };
    let _ = write!(out, "\n{} {noun}, ", tried.len());
    match wrong {
        0 => out.push_str("each decided as expected"),
        wrong => {
            let _ = write!(out, "{wrong} decided otherwise");
        }
    }
    let _ = writeln!(out, " (rule set {})", short(&rules.digest().to_string()));
    out
}

/// As much of a digest as tells two sets apart at a glance.
fn short(digest: &str) -> String {
    digest.chars().take(12).collect()
}

pub(super) fn json(tried: &[Tried<'_>]) -> String {
    let rows: Vec<String> = tried.iter().map(object).collect();
    format!("[\n{}\n]\n", rows.join(",\n"))
}

fn object(one: &Tried<'_>) -> String {
    let list =
        |ids: &[String]| format!("[{}]", ids.iter().map(|id| quoted(id)).collect::<Vec<_>>().join(","));
    let null = || "null".to_owned();
    let row = &one.row;
    let reasons: Vec<String> = one
        .reasons
        .iter()
        .map(|reason| {
            format!(
                "{{\"id\":{},\"effect\":{},\"matched\":{},\"reason\":{}}}",
                quoted(&reason.rule.id),
                quoted(reason.rule.effect.as_str()),
                reason.outcome == RuleOutcome::Matched,
                quoted(&reason.text)
            )
        })
        .collect();
    format!(
        "{{\"place\":{},\"name\":{},\"principal\":{},\"target\":{},\"good\":{},\"expected\":{},\
         \"expected_rules\":{},\"decided\":{},\"determining\":{},\"rules\":[{}]}}",
        quoted(&row.place),
        row.name.as_deref().map_or_else(null, quoted),
        quoted(row.principal.as_str()),
        quoted(&row.target),
        one.good,
        quoted(row.expect.as_str()),
        row.rules.as_deref().map_or_else(null, list),
        quoted(one.effect),
        list(&one.determining),
        reasons.join(",")
    )
}

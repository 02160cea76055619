//! A decision with its reasons, for people and for programs.

use std::fmt::Write as _;

use callgate_gateway::policy::{RuleOutcome, RuleReason, RuleSet};
use callgate_wire::{Charge, Timestamp};

use super::Explained;
use super::question::CallFile;
use crate::policy::quoted;
use crate::render::escape::one_line;
use crate::render::table::table;

/// Findings that are shown of one rule.
const FINDINGS_MAX: usize = 3;

pub(super) fn text(call: &CallFile, rules: &RuleSet, explained: &Explained<'_>) -> String {
    let mut out = String::new();
    let mut line = |name: &str, text: &str| {
        let _ = writeln!(out, "{name:<10}{}", one_line(text));
    };
    line("call", &format!("{} asks for {}/{}", call.principal, call.upstream, call.tool));
    if let Some(digest) = &explained.contract_digest {
        line("resolve", &format!("admitted, contract {digest}"));
    }
    if let Some(digest) = &explained.call_digest {
        line("bind", &format!("the arguments keep the input schema, call {digest}"));
    }
    if let Some((judgement, reasons)) = &explained.judgement {
        let decision = &judgement.decision;
        line("authorize", &format!("{} by {}", decision.effect, decision.determining.join(", ")));
        line("", &format!("rule set {}", rules.digest()));
        if !reasons.is_empty() {
            let _ = writeln!(out, "\n{}\n", rules_table(reasons));
        }
    }
    let mut line = |name: &str, text: &str| {
        let _ = writeln!(out, "{name:<10}{}", one_line(text));
    };
    for charge in explained.charges.iter().flatten() {
        let scope = if charge.scope.is_empty() { "all calls" } else { &charge.scope };
        let until = charge.resets_at.map(|at| format!(", until {}", time(at))).unwrap_or_default();
        let Charge { budget, amount, limit, .. } = charge;
        line("reserve", &format!("{amount} of {limit} from {budget} ({scope}){until}"));
    }
    if explained.charges.as_ref().is_some_and(Vec::is_empty) {
        line("reserve", "nothing: no budget counts this call");
    }
    if let Some(refusal) = &explained.refusal {
        line("refused", &format!("at {}, {}", refusal.stage, refusal.code));
        for told in refusal.text_for_model(FINDINGS_MAX).lines() {
            line("", told);
        }
    }
    out
}

fn rules_table(reasons: &[RuleReason<'_>]) -> String {
    let mut rows = table(["Rule", "Effect", "What came of it"]);
    for reason in reasons {
        let mut text = one_line(&reason.text);
        for finding in reason.findings.iter().take(FINDINGS_MAX) {
            let place = finding.instance_location.as_ref().map(ToString::to_string).unwrap_or_default();
            let _ = write!(text, "\n{}: {}", one_line(&place), one_line(&finding.message));
        }
        rows.add_row([one_line(&reason.rule.id), reason.rule.effect.to_string(), text]);
    }
    rows.to_string()
}

pub(super) fn json(call: &CallFile, rules: &RuleSet, explained: &Explained<'_>) -> String {
    let null = || "null".to_owned();
    let judgement = explained.judgement.as_ref();
    let decision = judgement.map(|(judgement, _)| &judgement.decision);
    let reasons =
        judgement.map(|(_, reasons)| reasons.iter().map(rule).collect::<Vec<_>>()).unwrap_or_default();
    let charges =
        explained.charges.as_ref().map(|charges| charges.iter().map(charge).collect::<Vec<_>>().join(","));
    let refusal = explained.refusal.as_ref().map(|refusal| {
        let help = refusal.help.as_deref().map_or_else(null, quoted);
        format!(
            "{{\"stage\":{},\"code\":{},\"class\":{},\"message\":{},\"help\":{help}}}",
            quoted(refusal.stage.as_str()),
            quoted(refusal.code.as_str()),
            quoted(refusal.class().as_str()),
            quoted(&refusal.message)
        )
    });
    let members = [
        ("principal", quoted(call.principal.as_str())),
        ("upstream", quoted(&call.upstream)),
        ("tool", quoted(&call.tool)),
        ("contract_digest", explained.contract_digest.as_deref().map_or_else(null, quoted)),
        ("call_digest", explained.call_digest.as_deref().map_or_else(null, quoted)),
        ("rule_set", quoted(&rules.digest().to_string())),
        ("decision", decision.map_or_else(null, |decision| quoted(decision.effect.as_str()))),
        ("determining", decision.map_or_else(null, |decision| list(&decision.determining))),
        ("rules", format!("[{}]", reasons.join(","))),
        ("charges", charges.map_or_else(null, |charges| format!("[{charges}]"))),
        ("refusal", refusal.unwrap_or_else(null)),
    ];
    let members: Vec<String> = members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
    format!("{{{}}}\n", members.join(","))
}

fn list(texts: &[String]) -> String {
    format!("[{}]", texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(","))
}

fn rule(reason: &RuleReason<'_>) -> String {
    format!(
        "{{\"id\":{},\"effect\":{},\"matched\":{},\"reason\":{}}}",
        quoted(&reason.rule.id),
        quoted(reason.rule.effect.as_str()),
        reason.outcome == RuleOutcome::Matched,
        quoted(&reason.text)
    )
}

fn charge(charge: &Charge) -> String {
    let at = |at: Option<Timestamp>| at.map_or_else(|| "null".to_owned(), |at| quoted(&time(at)));
    let Charge { budget, scope, window, resets_at, amount, limit } = charge;
    format!(
        "{{\"budget\":{},\"scope\":{},\"window\":{},\"resets_at\":{},\"amount\":{amount},\"limit\":{limit}}}",
        quoted(budget),
        quoted(scope),
        at(*window),
        at(*resets_at)
    )
}

fn time(at: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(at.0).map_or_else(|_| format!("{} ms", at.0), |time| time.to_string())
}

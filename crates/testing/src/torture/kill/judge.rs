//! What must hold after a gate was killed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::{Ground, Intent};
use super::round::{BUDGET, Killed, Need};

/// What must hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Promise {
    Intent,
    Once,
    Settled,
    InDoubt,
    Budget,
    Approval,
    Kept,
}

impl Promise {
    pub(super) const ALL: [Promise; 7] = [
        Promise::Intent,
        Promise::Once,
        Promise::Settled,
        Promise::InDoubt,
        Promise::Budget,
        Promise::Approval,
        Promise::Kept,
    ];

    pub(super) fn text(self) -> &'static str {
        match self {
            Promise::Intent => "no call reached the tool server without an intent",
            Promise::Once => "no call was dispatched twice",
            Promise::Settled => "every call that was answered as run is settled, its side effect done",
            Promise::InDoubt => "every other intent is settled, or in doubt with an unknown side effect",
            Promise::Budget => "no budget was overspent",
            Promise::Approval => "no approval was used twice, and nothing left that needed one and had none",
            Promise::Kept => "no intent was lost or changed by a later kill",
        }
    }
}

/// What was found in all rounds.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) moments: Moments,
    faults: BTreeMap<Promise, Vec<String>>,
    seen: BTreeMap<String, Intent>,
    /// How often each tool was sent and took effect so far: one of them is called in two rounds.
    so_far: BTreeMap<String, (usize, usize)>,
}

impl Findings {
    /// Judges a round.
    pub(super) fn judge(&mut self, ground: &Ground, round: &Killed) -> anyhow::Result<()> {
        // Those of a few rounds: a gate lets at most eight calls out in each.
        let intents = ground.intents(400)?;
        let log = std::fs::read_to_string(&round.log)?;
        // Without an effect there is no file.
        let effects = std::fs::read_to_string(&round.effects).unwrap_or_default();
        let mut spent = 0;
        for (number, (tool, need)) in (0_u32..).zip(&round.tools) {
            let ids = match need {
                // It is called a second time at the end.
                Need::Approval => vec![number, u32::try_from(round.tools.len())?],
                Need::Nothing | Need::Budget | Need::Again => vec![number],
            };
            let so_far = self.so_far.entry(tool.clone()).or_default();
            so_far.0 += log.matches(&format!("\"{tool}\",")).count();
            so_far.1 += effects.lines().filter(|line| line.split(' ').nth(1) == Some(tool)).count();
            let (sent, took_effect) = *so_far;
            let mine: Vec<&Intent> = intents.iter().filter(|intent| intent.tool == *tool).collect();
            let call = Call {
                need: *need,
                sent,
                effects: took_effect,
                answers: ids.iter().filter_map(|id| round.answers.get(id)).collect(),
                intents: mine,
                owed: round.owed,
            };
            if *need == Need::Budget {
                spent += call.effects.max(call.intents.len());
            }
            if *need != Need::Again {
                self.moments.count(&call);
            }
            for promise in call.broken() {
                self.fault(promise, format!("{tool}: {call:?}"));
            }
            self.seen.extend(call.intents.iter().map(|&intent| (intent.id.clone(), intent.clone())));
        }
        if spent > BUDGET {
            self.fault(Promise::Budget, format!("{spent} calls with room for {BUDGET}: {:?}", round.tools));
        }
        Ok(())
    }

    /// Compares what was seen with what is there at the end.
    pub(super) fn compare(&mut self, last: &BTreeMap<String, Intent>) {
        let mut faults = Vec::new();
        for (id, intent) in &self.seen {
            if last.get(id) != Some(intent) {
                faults.push((Promise::Kept, format!("{intent:?} became {:?}", last.get(id))));
            }
        }
        let mut used: BTreeMap<&str, &str> = BTreeMap::new();
        for intent in last.values() {
            if let Some(approval) = &intent.approval
                && let Some(before) = used.insert(approval, &intent.id)
            {
                faults
                    .push((Promise::Approval, format!("{approval} was used by {before} and {}", intent.id)));
            }
        }
        for (promise, fault) in faults {
            self.fault(promise, fault);
        }
    }

    /// Compares what a budget of all rounds stands at with the calls that took from it.
    pub(super) fn count_spent(&mut self, last: &BTreeMap<String, Intent>, taken: u64, room: u32) {
        let spent =
            last.values().filter(|intent| intent.tool.starts_with("spend-") && intent.state != "refused");
        let spent = spent.count() as u64;
        if spent != taken || spent > u64::from(room) {
            self.fault(
                Promise::Budget,
                format!("{spent} calls took from a budget of {room} that stands at {taken}"),
            );
        }
    }

    /// Compares the intents in doubt with the list of those in doubt.
    pub(super) fn compare_doubts(&mut self, last: &BTreeMap<String, Intent>, listed: &[Intent]) {
        let doubts = last.values().filter(|intent| intent.in_doubt).map(|intent| &intent.id);
        let listed: BTreeSet<&String> = listed.iter().map(|intent| &intent.id).collect();
        if doubts.collect::<BTreeSet<_>>() != listed {
            self.fault(
                Promise::InDoubt,
                format!("{} are listed as in doubt, which others are", listed.len()),
            );
        }
    }

    /// How a promise was broken.
    pub(super) fn of(&self, promise: Promise) -> Option<String> {
        self.faults.get(&promise).map(|found| found.join("; "))
    }

    fn fault(&mut self, promise: Promise, fault: String) {
        self.faults.entry(promise).or_default().push(fault);
    }
}

/// What is known of the calls of one tool after the kill.
#[derive(Debug)]
struct Call<'a> {
    need: Need,
    sent: usize,
    effects: usize,
    answers: Vec<&'a Value>,
    intents: Vec<&'a Intent>,
    /// The store's server was killed: what an answer owed to it may be lost, and is in doubt then.
    owed: bool,
}

impl Call<'_> {
    fn settled(&self) -> bool {
        self.intents.iter().any(|intent| intent.state == "settled" && intent.side_effect == "done")
    }

    /// Whether a caller has got the tool's own answer.
    fn answered_as_run(&self) -> bool {
        let refused = |answer: &Value| answer.pointer("/result/_meta/dev.callgate~1refusal").is_some();
        self.answers.iter().any(|answer| answer.get("result").is_some() && !refused(answer))
    }

    fn broken(&self) -> Vec<Promise> {
        let reached = self.sent > 0 || self.effects > 0;
        let certain = |intent: &Intent| match intent.state.as_str() {
            "settled" => !intent.in_doubt && (intent.side_effect == "done" || self.effects == 0),
            "refused" => !reached,
            "open" => intent.in_doubt && intent.side_effect == "unknown",
            _ => false,
        };
        let unapproved =
            |intent: &&Intent| matches!(self.need, Need::Approval | Need::Again) && intent.approval.is_none();
        [
            (Promise::Intent, reached && self.intents.is_empty()),
            (Promise::Once, self.sent > 1 || self.effects > 1 || self.intents.len() > 1),
            (Promise::Settled, self.answered_as_run() && !self.settled() && !self.owed),
            (Promise::InDoubt, !self.intents.iter().all(|intent| certain(intent))),
            (Promise::Approval, self.intents.iter().any(unapproved)),
        ]
        .into_iter()
        .filter_map(|(promise, broken)| broken.then_some(promise))
        .collect()
    }
}

/// How far the calls had come when the gate was killed.
#[derive(Debug, Default)]
pub(super) struct Moments {
    no_intent: u32,
    refused: u32,
    intent_not_sent: u32,
    sent_no_effect: u32,
    effect_not_settled: u32,
    settled_not_answered: u32,
    answered: u32,
}

impl Moments {
    fn count(&mut self, call: &Call<'_>) {
        let moment = if call.answered_as_run() {
            &mut self.answered
        } else if call.settled() {
            &mut self.settled_not_answered
        } else if call.effects > 0 {
            &mut self.effect_not_settled
        } else if call.sent > 0 {
            &mut self.sent_no_effect
        } else if !call.intents.is_empty() {
            &mut self.intent_not_sent
        } else if call.answers.is_empty() {
            &mut self.no_intent
        } else {
            &mut self.refused
        };
        *moment += 1;
    }

    pub(super) fn text(&self) -> String {
        format!(
            "when killed, the calls were: {} before their intent, {} refused, {} with an intent and not sent, {} sent \
             without an effect, {} with an effect and not settled, {} settled and not answered, {} answered",
            self.no_intent,
            self.refused,
            self.intent_not_sent,
            self.sent_no_effect,
            self.effect_not_settled,
            self.settled_not_answered,
            self.answered,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn intent(state: &str, side_effect: &str, in_doubt: bool) -> Intent {
        let text = str::to_owned;
        Intent {
            id: text("i"),
            tool: text("t"),
            state: text(state),
            side_effect: text(side_effect),
            in_doubt,
            approval: None,
        }
    }

    #[test]
    fn each_promise_is_seen_when_it_is_broken() {
        let settled = intent("settled", "done", false);
        let doubtful = intent("open", "unknown", true);
        let forgotten = intent("open", "unknown", false);
        let refused = intent("refused", "none", false);
        let answer = serde_json::json!({"result": {}});
        let refusal = serde_json::json!({"result": {"_meta": {"dev.callgate/refusal": {}}}});
        let of = |need, sent, effects, answer: Option<&Value>, intents: &[&Intent], owed| {
            let answers = answer.into_iter().collect();
            Call { need, sent, effects, answers, intents: intents.to_vec(), owed }.broken()
        };
        let broken = |sent, effects, answer, intents: &[&Intent]| {
            of(Need::Nothing, sent, effects, answer, intents, false)
        };
        assert_eq!(broken(0, 0, None, &[]), []);
        assert_eq!(broken(0, 0, Some(&refusal), &[]), []);
        assert_eq!(broken(1, 1, Some(&answer), &[&settled]), []);
        assert_eq!(broken(1, 0, None, &[&doubtful]), []);
        assert_eq!(broken(0, 0, None, &[&refused]), []);
        assert_eq!(broken(1, 0, None, &[&refused]), [Promise::InDoubt]);
        let denied = intent("settled", "none", false);
        assert_eq!(broken(1, 1, None, &[&denied]), [Promise::InDoubt]);
        assert_eq!(broken(1, 0, None, &[]), [Promise::Intent]);
        assert_eq!(broken(2, 1, None, &[&doubtful]), [Promise::Once]);
        assert_eq!(broken(1, 1, None, &[&doubtful, &doubtful]), [Promise::Once]);
        assert_eq!(broken(1, 1, Some(&answer), &[&doubtful]), [Promise::Settled]);
        assert_eq!(broken(1, 1, None, &[&forgotten]), [Promise::InDoubt]);
        assert_eq!(of(Need::Nothing, 1, 1, Some(&answer), &[&doubtful], true), []);
        assert_eq!(of(Need::Approval, 1, 1, Some(&answer), &[&settled], false), [Promise::Approval]);
    }

    #[test]
    fn a_lost_intent_and_an_approval_that_was_used_twice_are_seen() {
        let mut findings = Findings::default();
        let one = Intent { approval: Some("a".into()), ..intent("settled", "done", false) };
        let other = Intent { id: "j".into(), ..one.clone() };
        findings.seen.insert("k".into(), intent("open", "unknown", true));
        findings.compare(&[("i".to_owned(), one), ("j".to_owned(), other)].into());
        assert!(findings.of(Promise::Kept).is_some());
        assert!(findings.of(Promise::Approval).is_some());
        assert!(findings.of(Promise::Once).is_none());
    }

    #[test]
    fn a_budget_that_lost_a_reservation_and_a_doubt_that_is_not_listed_are_seen() {
        let spent = Intent { tool: "spend-1-0".into(), ..intent("open", "unknown", true) };
        let last = BTreeMap::from([("i".to_owned(), spent.clone())]);
        for (taken, room, broken) in [(1, 1, false), (0, 1, true), (1, 0, true)] {
            let mut findings = Findings::default();
            findings.count_spent(&last, taken, room);
            assert_eq!(findings.of(Promise::Budget).is_some(), broken, "{taken} of {room}");
        }
        let mut findings = Findings::default();
        findings.compare_doubts(&last, &[spent]);
        assert!(findings.of(Promise::InDoubt).is_none());
        findings.compare_doubts(&last, &[]);
        assert!(findings.of(Promise::InDoubt).is_some());
    }
}

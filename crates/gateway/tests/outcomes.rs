//! How intents end: the rows of `cases/outcomes.jsonl`, the printed table, and laws over any order of observations.

use callgate_gateway::intent::{Observation, Transition, outcome_table, settle};
use callgate_wire::{Code, Pinned, Settlement, Timestamp};
use proptest::prelude::*;
use serde_json::Value;

const OBSERVATIONS: [(&str, Observation); 15] = [
    ("result", Observation::Result { is_error: false, bytes: 2, breaks_output: false }),
    ("error-result", Observation::Result { is_error: true, bytes: 2, breaks_output: false }),
    ("broken-result", Observation::Result { is_error: false, bytes: 2, breaks_output: true }),
    ("large-result", Observation::ResultTooLarge { bytes: 9_000_000 }),
    ("unanswered-question", Observation::InputUnavailable),
    ("rpc-error", Observation::RpcError),
    ("timeout", Observation::Timeout),
    ("upstream-gone", Observation::UpstreamGone),
    ("unreadable", Observation::AnswerUnreadable),
    ("cancelled-after", Observation::CancelledAfterDispatch),
    ("gate-stopped", Observation::GateStopped),
    ("gate-gone", Observation::GateGone),
    ("cancelled-before", Observation::CancelledBeforeDispatch),
    ("gone-before", Observation::UpstreamGoneBeforeDispatch),
    ("rejected", Observation::RejectedBeforeDispatch),
];

fn play(observations: impl IntoIterator<Item = Observation>, pinned: Pinned) -> Option<Settlement> {
    let mut known = None;
    for (at, observation) in (0..).zip(observations) {
        let next = observation.settlement(pinned, Timestamp(at));
        if settle(known.as_ref(), &next) == Transition::Record {
            known = Some(next);
        }
    }
    known
}

#[test]
fn every_row_ends_as_it_says() {
    let mut observed = std::collections::BTreeSet::new();
    for line in include_str!("../../../cases/outcomes.jsonl").lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let names = row["observed"].as_array().unwrap().iter().map(|name| name.as_str().unwrap());
        let observations = names.map(|name| {
            observed.insert(name.to_owned());
            OBSERVATIONS.iter().find(|(known, _)| *known == name).unwrap_or_else(|| panic!("{name}")).1
        });
        let read_only = row["read_only"].as_bool().unwrap_or_default();
        let settlement = play(observations, Pinned { read_only, idempotent: false }).unwrap();
        let found = (
            Some(settlement.state.as_str()),
            Some(settlement.side_effect.as_str()),
            Some(settlement.in_doubt),
            settlement.code.map(Code::as_str),
        );
        let expected = (
            row["state"].as_str(),
            row["side_effect"].as_str(),
            row["in_doubt"].as_bool(),
            row["code"].as_str(),
        );
        assert_eq!(found, expected, "{}", row["name"]);
    }
    assert_eq!(observed.len(), OBSERVATIONS.len(), "each observation has a row");
}

#[test]
fn the_printed_table_is_the_one_in_force() {
    let printed = include_str!("../../../docs/reference/outcomes.md");
    let table = outcome_table();
    assert!(printed.contains(&table), "docs/reference/outcomes.md has to hold this table:\n{table}");
    assert_eq!(printed.matches("\n|").count(), table.lines().count(), "the page holds no other rows");
}

proptest! {
    #[test]
    fn the_first_final_outcome_stays_and_doubt_is_only_open(order in proptest::collection::vec(0..OBSERVATIONS.len(), 1..12), read_only in any::<bool>()) {
        let pinned = Pinned { read_only, idempotent: false };
        let observations: Vec<Observation> = order.iter().map(|at| OBSERVATIONS[*at].1).collect();
        let settlements: Vec<Settlement> =
            (0..).zip(&observations).map(|(at, observation)| observation.settlement(pinned, Timestamp(at))).collect();
        let first_final = settlements.iter().find(|settlement| settlement.state.is_final());
        let expected = first_final.or(settlements.first());
        let known = play(observations.iter().copied(), pinned);
        prop_assert_eq!(known.as_ref(), expected);
        for settlement in &settlements {
            prop_assert!(!(settlement.in_doubt && settlement.state.is_final()));
        }
        // Said again, nothing changes.
        prop_assert_eq!(play(observations.iter().chain(&observations).copied(), pinned), known);
    }
}

//! Every state of an intent and everything that can come to it: the table of `docs/reference/transitions.md`, played on a
//! journal. A state or a command that is added here is in the table, and the table says what becomes of each pair.
#![expect(clippy::expect_used, reason = "a table that cannot be made shall stop the test")]

use std::fmt::Write as _;

use callgate_gateway::Journal as _;
use callgate_gateway::journal::MemoryStore;
use callgate_wire::{Incarnation, Timestamp};
use serde_json::{Value, json};

use crate::durable::Stage;

/// A state by its name, and the steps that lead to it.
fn states() -> Vec<(&'static str, Vec<Value>)> {
    let open = json!({"open": "c1"});
    let twice = json!({"open": "c1", "idempotent": true});
    let settle = |observed: &str| json!({"settle": "c1", "observed": observed});
    vec![
        ("no record", vec![]),
        ("open", vec![open.clone()]),
        ("in doubt", vec![open.clone(), settle("timeout")]),
        ("in doubt, may be called twice", vec![twice, settle("timeout")]),
        ("in doubt, retry permitted", vec![open.clone(), settle("timeout"), json!({"retry": "c1"})]),
        ("settled", vec![open.clone(), settle("result")]),
        ("failed", vec![open.clone(), settle("rpc-error")]),
        ("refused", vec![open, settle("withdrawn")]),
    ]
}

/// What can come, by its name.
fn commands(state: &str) -> Vec<(&'static str, Come)> {
    let step = Come::Step;
    let (call, may_twice) = (if state == "no record" { "c1" } else { "c2" }, state.ends_with("twice"));
    vec![
        ("the same call", step(json!({"open": call, "idempotent": may_twice}))),
        ("a result", step(json!({"settle": "c1"}))),
        ("an error of the protocol", step(json!({"settle": "c1", "observed": "rpc-error"}))),
        ("no answer in time", step(json!({"settle": "c1", "observed": "timeout"}))),
        ("proof that it was not taken up", step(json!({"settle": "c1", "observed": "rejected"}))),
        ("its gate is gone, and another looks", Come::Recovery),
        ("`adopt --effect done`", step(json!({"adopt": "c1"}))),
        ("`adopt --effect none`", step(json!({"adopt": "c1", "effect": "none"}))),
        ("`retry`", step(json!({"retry": "c1"}))),
        ("`abandon`", step(json!({"abandon": "c1"}))),
    ]
}

enum Come {
    Step(Value),
    /// The gate of the first call ends, and another one takes over.
    Recovery,
}

/// The table, as Markdown.
pub fn table() -> String {
    let mut out =
        String::from("| the intent is | what comes | the answer | the intent is then |\n|---|---|---|---|\n");
    for (state, steps) in states() {
        for (what, come) in commands(state) {
            let (answer, after) = play(&steps, &come);
            // Writing to a text does not fail.
            let _ = writeln!(out, "| {state} | {what} | {answer} | {after} |");
        }
    }
    out
}

fn play(steps: &[Value], come: &Come) -> (String, String) {
    let store = MemoryStore::default();
    let first = store.enter(Incarnation::from_bytes([1; 16]));
    let mut stage = Stage::new(&first);
    for step in steps {
        stage.answer(step);
    }
    let answer = match come {
        Come::Step(step) => stage.answer(step),
        Come::Recovery => {
            store.lose(first.incarnation());
            let second = store.enter(Incarnation::from_bytes([2; 16]));
            let taken = second.recover(Timestamp(1)).expect("a journal in memory answers");
            format!("{} taken over", taken.len())
        }
    };
    let after = stage.answer(&json!({"show": "c1"}));
    (words(&answer), words(&after))
}

/// The answers of a row in words.
fn words(answer: &str) -> String {
    match answer {
        "go c1 try 1" => "it leaves".to_owned(),
        "go c1 try 2" => "it leaves as the next try".to_owned(),
        "go c2 try 1" => "it leaves as a new intent".to_owned(),
        "in doubt c1" => "held: `call-in-doubt`".to_owned(),
        "no intent" => "no record".to_owned(),
        code if code.contains('-') && !code.contains(' ') => format!("`{code}`"),
        other => other.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_the_table() {
        let printed = include_str!("../../../docs/reference/transitions.md");
        let table = table();
        assert!(printed.contains(&table), "docs/reference/transitions.md has to hold this table:\n{table}");
    }
}

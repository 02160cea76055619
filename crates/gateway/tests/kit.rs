//! The journal in memory holds what every store has to, as far as that applies to it.

use callgate_gateway::journal::kit::{self, CheckOutcome, Hooks};
use callgate_gateway::journal::{Journal, MemoryJournal};

fn memory() -> Hooks<'static> {
    Hooks {
        gate: Box::new(|incarnation| Ok(Box::new(MemoryJournal::new(incarnation)) as Box<dyn Journal>)),
        durable: false,
        operator: None,
        lose: None,
        failing: None,
    }
}

#[test]
fn the_journal_in_memory_holds_what_applies_to_it() {
    let mut skipped = Vec::new();
    for result in kit::run(&memory) {
        match result.outcome {
            CheckOutcome::Holds => println!("holds: {}", result.name),
            CheckOutcome::Broken(found) => panic!("{}: {found}", result.name),
            CheckOutcome::NotApplicable(lacks) => skipped.push((result.name, lacks)),
        }
    }
    let names: Vec<_> = skipped.iter().map(|(name, _)| *name).collect();
    let expected = [
        "direct execution commit",
        "failed commit",
        "incarnation fence",
        "outstanding-effect reconstruction",
        "restart reconstruction",
        "an operator sees and decides what gates do",
    ];
    assert_eq!(names, expected, "what needs records that outlast a gate: {skipped:?}");
}

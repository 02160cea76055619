//! The journal in memory holds what every store has to, as far as that applies to it.

use callgate_gateway::journal::kit::{self, CheckOutcome, Hooks};
use callgate_gateway::journal::{Journal, MemoryStore};

fn memory() -> Hooks<'static> {
    let store = MemoryStore::default();
    let losing = store.clone();
    Hooks {
        gate: Box::new(move |incarnation| Ok(Box::new(store.enter(incarnation)) as Box<dyn Journal>)),
        durable: true,
        operator: None,
        lose: Some(Box::new(move |incarnation| {
            losing.lose(incarnation);
            Ok(())
        })),
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
    let expected = ["failed commit", "an operator sees and decides what gates do"];
    assert_eq!(names, expected, "{skipped:?}");
}

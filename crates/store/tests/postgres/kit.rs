//! The store holds what every store has to.

use callgate_gateway::JournalError;
use callgate_gateway::journal::kit::{self, CheckOutcome, Hooks};
use callgate_gateway::journal::{Journal, Ledger};
use callgate_store::{PostgresJournal, PostgresLedger};
use callgate_testing::postgres::Server;
use callgate_wire::{Incarnation, Timestamp};

use crate::support::place;

/// A lease that no gate moves on by itself within a test, so that one that is taken away stays away.
const STILL: &str = "&lease_ms=600000&renewal_ms=200000";

fn hooks(server: &'static Server, schema: &str) -> Hooks<'static> {
    let (address, schema) = (server.address(schema, STILL), schema.to_owned());
    let ask = move |sql: String| server.query(&sql).map(drop).map_err(|error| format!("{error:#}"));
    let (losing, failing, looking) = (schema.clone(), schema, address.clone());
    let gate = move |incarnation: Incarnation| -> Result<Box<dyn Journal>, JournalError> {
        Ok(Box::new(PostgresJournal::open_gate(place(&address), incarnation, 1, Timestamp(1))?))
    };
    let operator = move || -> Result<Box<dyn Ledger>, JournalError> {
        // One that comes before the first gate finds no store.
        drop(crate::support::try_gate(&looking)?);
        Ok(Box::new(PostgresLedger::open_operator(place(&looking), Timestamp(2))?))
    };
    Hooks {
        gate: Box::new(gate),
        durable: true,
        operator: Some(Box::new(operator)),
        lose: Some(Box::new(move |incarnation| {
            ask(format!(
                "UPDATE {losing}.incarnations SET lease_until = now() - interval '1 s' WHERE id = '{incarnation}'"
            ))
        })),
        failing: Some(Box::new(move |act| {
            // Every transaction that writes leaves its number there.
            ask(format!("ALTER TABLE {failing}.commits ADD CONSTRAINT none CHECK (false) NOT VALID"))?;
            act();
            ask(format!("ALTER TABLE {failing}.commits DROP CONSTRAINT none"))
        })),
    }
}

#[test]
fn every_check_of_the_kit_holds() {
    let Some(server) = Server::shared() else { return };
    for (number, name) in kit::names().enumerate() {
        let schema = format!("kit_{number}");
        let outcome = kit::run_one(name, &hooks(server, &schema)).expect("the check is there").outcome;
        assert_eq!(outcome, CheckOutcome::Holds, "{name}");
    }
}

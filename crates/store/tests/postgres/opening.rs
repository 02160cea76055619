//! A store is made once, kept up to date, and refused where it cannot be relied on.

use callgate_gateway::journal::{Journal as _, Records as _};
use callgate_store::{PostgresJournal, PostgresLedger};
use callgate_testing::postgres::Server;
use callgate_wire::{Code, Incarnation, Timestamp};

use crate::support::{ALL, gate, go, place, request, try_gate, unique};

#[test]
fn gates_that_start_at_once_make_one_store() {
    let Some(server) = Server::shared() else { return };
    let address = server.address("at_once", "");
    std::thread::scope(|scope| {
        let gates: Vec<_> = (0..8).map(|_| scope.spawn(|| gate(&address))).collect();
        for (number, gate) in gates.into_iter().enumerate() {
            let journal = gate.join().unwrap();
            go(&journal, request(journal.incarnation(), &number.to_string()));
        }
    });
    assert_eq!(gate(&address).list(&ALL).unwrap().len(), 8);
}

#[test]
fn a_store_of_a_newer_program_and_another_programs_tables_are_refused() {
    let Some(server) = Server::shared() else { return };
    let newer = server.address("newer", "");
    drop(gate(&newer));
    server.query("UPDATE newer.store SET version = 99").unwrap();
    assert_eq!(try_gate(&newer).unwrap_err().code(), Code::StoreNewer);
    assert_eq!(
        PostgresLedger::open_operator(place(&newer), Timestamp(2)).unwrap_err().code(),
        Code::StoreNewer
    );

    server.query("CREATE SCHEMA another; CREATE TABLE another.intents (id text)").unwrap();
    let another = server.address("another", "");
    assert_eq!(try_gate(&another).unwrap_err().code(), Code::StoreCorrupt);
    assert_eq!(
        server
            .query("SELECT count(*) FROM information_schema.tables WHERE table_schema = 'another'")
            .unwrap(),
        "1"
    );
}

#[test]
fn an_operator_makes_no_store_and_a_gate_fills_an_empty_schema() {
    let Some(server) = Server::shared() else { return };
    let address = server.address("prepared", "");
    let refused = PostgresLedger::open_operator(place(&address), Timestamp(2)).unwrap_err();
    assert_eq!(refused.code(), Code::StoreUnavailable);
    assert!(refused.to_string().contains("there is no store"), "{refused}");
    assert_eq!(server.query("SELECT count(*) FROM pg_namespace WHERE nspname = 'prepared'").unwrap(), "0");

    server.query("CREATE SCHEMA prepared").unwrap();
    let journal = gate(&address);
    go(&journal, request(journal.incarnation(), "a"));
    let ledger = PostgresLedger::open_operator(place(&address), Timestamp(2)).unwrap();
    assert_eq!(ledger.list(&ALL).unwrap().len(), 1);
}

#[test]
fn a_server_that_confirms_what_it_can_lose_is_refused() {
    for setting in ["fsync", "synchronous_commit"] {
        let Some(server) = Server::with(&[&format!("{setting}=off")]) else { return };
        let error = try_gate(&server.address("callgate", "")).unwrap_err();
        assert_eq!(error.code(), Code::StoreUnavailable);
        assert!(error.to_string().contains(setting), "{error}");
        assert_eq!(
            server.query("SELECT count(*) FROM pg_namespace WHERE nspname = 'callgate'").unwrap(),
            "0"
        );
    }
}

#[test]
fn a_server_that_is_not_there_is_said_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().display().to_string().replace('/', "%2F");
    let error = try_gate(&format!("postgres://gate:s3cret@{folder}/calls")).unwrap_err();
    assert_eq!(error.code(), Code::StoreUnavailable);
    assert!(!format!("{error:?}").contains("s3cret"));
}

#[test]
fn a_journal_can_be_opened_used_and_dropped_inside_a_runtime() {
    let Some(server) = Server::shared() else { return };
    let address = server.address("inside", "");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let incarnation = Incarnation::from_bytes(unique());
        let journal = PostgresJournal::open_gate(place(&address), incarnation, 1, Timestamp(1)).unwrap();
        go(&journal, request(journal.incarnation(), "a"));
        assert_eq!(journal.list(&ALL).unwrap().len(), 1);
    });
}

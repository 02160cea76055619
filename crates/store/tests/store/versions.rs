//! Files of older versions are brought up to date with everything that is in them.

use std::path::Path;

use callgate_gateway::IntentFilter;
use callgate_gateway::journal::{Hold, Journal as _, Records as _};
use callgate_store::StoreReader;
use callgate_wire::{
    Attempt, Code, Incarnation, Intent, IntentId, IntentRecord, IntentState, Pinned, Principal, Settlement,
    SideEffect, Timestamp,
};
use rusqlite::Connection;

use crate::support::{gate, go, held, record, result_at, some_digest};

/// The schema of version 1, as it was released: what is tested is what those files are.
const VERSION_1: &str = include_str!("../../src/sqlite/sql/001-intents.sql");
const MARK: &str = "PRAGMA application_id = 0x43676174; PRAGMA journal_mode = WAL; PRAGMA user_version = 1;";
const GONE: &str = "11111111-1111-7111-8111-111111111111";
const INSERT: &str = "INSERT INTO intents (id, format, opened_at, principal, run, upstream, tool, contract_digest, \
     arguments_digest, call_digest, attempt, fence, state, side_effect, in_doubt, code, result_bytes, is_error, \
     settled_at, arguments) VALUES (?1, 1, ?2, 'local:ada', 'run 1', 'notes', 'write_note', ?3, ?4, ?5, 1, ?6, ?7, ?8, \
     ?9, ?10, ?11, ?12, ?13, ?14)";

/// An intent as a gate of version 1 would have recorded it, which is gone since.
fn old(number: u8, settlement: Option<Settlement>) -> IntentRecord {
    let arguments = format!("{{ \"n\" : {number}.0 }}");
    let intent = Intent {
        id: IntentId::from_bytes([number; 16]),
        opened_at: Timestamp(i64::from(number)),
        principal: Principal::local("ada"),
        run: Some("run 1".to_owned()),
        upstream: "notes".to_owned(),
        tool: "write_note".to_owned(),
        contract_digest: some_digest("1"),
        arguments_digest: some_digest(&arguments),
        call_digest: some_digest(&arguments),
        key: None,
        approval: None,
        pinned: Pinned::default(),
        attempt: Attempt::FIRST,
        fence: Incarnation::parse(GONE).expect("it is an id"),
        retry_permitted: false,
        settlement,
    };
    IntentRecord { intent, arguments: arguments.into_bytes().into() }
}

fn insert(connection: &Connection, record: &IntentRecord) {
    let IntentRecord { intent, arguments } = record;
    let settlement = intent.settlement.as_ref();
    connection
        .execute(
            INSERT,
            (
                intent.id.as_str(),
                intent.opened_at.0,
                intent.contract_digest.to_string(),
                intent.arguments_digest.to_string(),
                intent.call_digest.to_string(),
                intent.fence.as_str(),
                intent.state().as_str(),
                settlement.map(|known| known.side_effect.as_str()),
                settlement.is_some_and(|known| known.in_doubt),
                settlement.and_then(|known| known.code).map(Code::as_str),
                settlement
                    .and_then(|known| known.result_bytes)
                    .map(|bytes| i64::try_from(bytes).unwrap_or(0)),
                settlement.and_then(|known| known.is_error),
                settlement.map(|known| known.at.0),
                &arguments[..],
            ),
        )
        .expect("the row is taken");
}

/// A file of version 1 with intents that ended, that are in doubt, and that are open.
fn version_1(path: &Path) -> [IntentRecord; 3] {
    let doubt = Settlement {
        state: IntentState::Open,
        side_effect: SideEffect::Unknown,
        in_doubt: true,
        code: Some(Code::UpstreamTimeout),
        result_bytes: None,
        is_error: None,
        at: Timestamp(5),
    };
    let records = [old(1, Some(result_at(4))), old(2, Some(doubt)), old(3, None)];
    let connection = Connection::open(path).expect("the file is made");
    connection.execute_batch(MARK).expect("the file is marked");
    connection.execute_batch(VERSION_1).expect("the schema is made");
    let life = "INSERT INTO incarnations (id, pid, started_at) VALUES (?1, 7, 1)";
    connection.execute(life, [GONE]).expect("the row is taken");
    let admission = "INSERT INTO admissions VALUES ('notes', 'write_note', 'aa', '', NULL, 1, 2, 1)";
    connection.execute(admission, []).expect("the row is taken");
    for record in &records {
        insert(&connection, record);
    }
    records
}

#[test]
fn a_file_of_version_1_is_brought_up_to_date_with_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let [ended, doubted, open] = version_1(&path);
    let error = StoreReader::open(&path, Timestamp(9)).unwrap_err();
    assert!(error.to_string().contains("start a gate on it once"), "{error}");

    let journal = gate(&path).unwrap();
    for record in [&ended, &doubted, &open] {
        assert_eq!(journal.show(record.intent.id.as_str()).unwrap().as_ref(), Some(record));
    }
    let order: Vec<_> = journal.list(&IntentFilter::last(9)).unwrap().into_iter().map(|one| one.id).collect();
    assert_eq!(order, [&open, &doubted, &ended].map(|record| record.intent.id.clone()));

    // What was in doubt still holds up the same call, and what was open is taken over.
    let mut again = record(journal.incarnation(), "{}");
    again.intent.call_digest = doubted.intent.call_digest;
    assert_eq!(held(&journal, &again), Hold::InDoubt(doubted.intent.id));
    let recovered = journal.recover(Timestamp(7)).unwrap();
    assert_eq!(recovered.iter().map(|intent| &intent.id).collect::<Vec<_>>(), [&open.intent.id]);
    again.intent.call_digest = ended.intent.call_digest;
    go(&journal, &again);
    drop(journal);

    let connection = Connection::open(&path).unwrap();
    let one = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(one("PRAGMA user_version"), 2);
    assert_eq!(one("SELECT count(*) FROM intents WHERE format = 1"), 3, "old rows stay what they are");
    assert_eq!(one("SELECT count(*) FROM intents WHERE format = 2"), 1);
    assert_eq!(one("SELECT count(*) FROM admissions"), 1);
    assert_eq!(one("SELECT count(*) FROM pragma_foreign_key_check"), 0);
}

#[test]
fn a_gate_of_version_1_goes_on_in_a_file_that_was_brought_up_to_date_under_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    version_1(&path);
    let older = Connection::open(&path).unwrap();
    let journal = gate(&path).unwrap();
    let late = old(4, None);
    insert(&older, &late);
    assert_eq!(journal.show(late.intent.id.as_str()).unwrap(), Some(late));
}

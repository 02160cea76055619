//! What an operator does with a store: copies it, looks whether it is whole, deletes what is old.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use callgate_gateway::IntentFilter;
use callgate_gateway::intent::Observation;
use callgate_gateway::journal::{
    Answer, ApprovalFilter, Ask, Command, DecideRequest, EventFilter, Hold, Journal, Ledger as _,
    OpenRequest, Opened, Records as _,
};
use callgate_store::{SqliteJournal, SqliteLedger, StoreReader, backup_store, check_store};
use callgate_wire::{ApprovalId, Charge, Code, IntentId, IntentRecord, Pinned, Timestamp};
use rusqlite::Connection;

use crate::support::{distinct, gate, go, held, record, result_at, some_digest};

const ALL: IntentFilter = IntentFilter { limit: u32::MAX, in_doubt: false, before: None };

fn charge(window: Option<i64>, resets_at: Option<i64>) -> Charge {
    Charge {
        budget: "b".to_owned(),
        scope: String::new(),
        window: window.map(Timestamp),
        resets_at: resets_at.map(Timestamp),
        amount: 3,
        limit: 1_000_000,
    }
}

/// A call that was asked for, approved, and let through at this moment, and what it took.
fn approved(journal: &SqliteJournal, at: i64, charges: &[Charge]) -> IntentId {
    let mut asking = distinct(record(journal.incarnation(), "{}"));
    asking.intent.opened_at = Timestamp(at);
    let open = |record: &IntentRecord| {
        let ask = Ask {
            id: ApprovalId::of(&record.intent.id),
            rules_digest: some_digest("7"),
            rules: vec!["large payments".to_owned()],
            expires_at: Timestamp(at + 10),
        };
        let request =
            OpenRequest { record: record.clone(), ask: Some(ask), charges: charges.to_vec(), again: false };
        match journal.commit(Command::Open(Box::new(request))).unwrap() {
            Answer::Opened(opened) => *opened,
            other => panic!("{other:?}"),
        }
    };
    assert!(matches!(open(&asking), Opened::Held(Hold::ApprovalPending { asked: true, .. })));
    let decide = DecideRequest {
        id: ApprovalId::of(&asking.intent.id),
        approve: true,
        by: "operator".to_owned(),
        reason: None,
        at: Timestamp(at),
        expires_at: Timestamp(at + 10),
    };
    journal.commit(Command::Decide(decide)).unwrap();
    let mut leaving = asking.clone();
    leaving.intent.id = record(journal.incarnation(), "{}").intent.id;
    match open(&leaving) {
        Opened::Go(intent) => intent.id,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_copy_of_a_store_in_use_is_a_store_as_it_was_at_one_moment() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("store.sqlite"), folder.path().join("copy.sqlite"));
    let journal = gate(&path).unwrap();
    for at in 0..50 {
        approved(&journal, at, &[charge(None, None)]);
    }
    let copied = std::thread::scope(|scope| {
        let writing =
            scope.spawn(|| (50..80).for_each(|at| drop(approved(&journal, at, &[charge(None, None)]))));
        let bytes = backup_store(&path, &copy).unwrap();
        writing.join().unwrap();
        bytes
    });
    assert_eq!(fs::metadata(&copy).unwrap().len(), copied);
    assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
    let report = check_store(&copy).unwrap();
    assert!(report.is_sound(), "{report:?}");
    assert!((50..=80).contains(&report.intents), "{report:?}");
    // The same moment for everything: each call with its charge and its approval.
    let reader = StoreReader::open(&copy, Timestamp(99)).unwrap();
    assert_eq!(reader.counters().unwrap()[0].reserved, report.intents * 3);
    drop(reader);

    // A gate that starts on it takes over what was under way; the first one goes on in its own.
    let restored = gate(&copy).unwrap();
    let recovered = restored.recover(Timestamp(99)).unwrap();
    assert_eq!(recovered.len() as u64, report.intents);
    assert!(recovered.iter().all(callgate_wire::Intent::in_doubt));
    assert_eq!(journal.list(&ALL).unwrap().len(), 80);
    assert!(journal.list(&ALL).unwrap().iter().all(|intent| !intent.in_doubt()));
}

#[test]
fn a_copy_takes_the_place_of_no_file_and_half_a_copy_does_not_stay() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("store.sqlite"), folder.path().join("copy.sqlite"));
    assert!(backup_store(&path, &copy).unwrap_err().is_missing());
    drop(gate(&path).unwrap());
    fs::write(&copy, "mine").unwrap();
    assert_eq!(backup_store(&path, &copy).unwrap_err().code(), Code::StoreUnavailable);
    assert_eq!(fs::read(&copy).unwrap(), b"mine");
    let nowhere = folder.path().join("no folder").join("copy.sqlite");
    assert_eq!(backup_store(&path, &nowhere).unwrap_err().code(), Code::StoreUnavailable);
}

#[test]
fn a_check_counts_what_is_there_and_names_each_row_that_breaks_a_rule() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    assert!(check_store(&path).unwrap_err().is_missing());
    let journal = gate(&path).unwrap();
    let settled = approved(&journal, 1, &[charge(None, None)]);
    journal.settle(&settled, &result_at(2), None).unwrap();
    approved(&journal, 2, &[charge(None, None)]);
    let doubted = approved(&journal, 3, &[]);
    let doubt = Observation::Timeout.settlement(Pinned::default(), Timestamp(4));
    journal.settle(&doubted, &doubt, None).unwrap();
    let report = check_store(&path).unwrap();
    assert_eq!(
        (report.intents, report.in_doubt, report.open, report.gates, report.gates_gone, report.faults),
        (3, 1, 1, 1, 0, vec![])
    );
    drop(journal);
    let report = check_store(&path).unwrap();
    assert_eq!((report.gates, report.gates_gone, report.open_of_gone), (0, 1, 1));

    let spoilt = [
        ("UPDATE counters SET reserved = reserved + 1", "the counter is not the sum"),
        ("UPDATE counters SET committed = 0", "the counter has taken less"),
        (
            "INSERT INTO counters SELECT 99, budget, scope, window_at, resets_at, 1, 1, 0, 0, 9 FROM counters",
            "stands twice",
        ),
        ("UPDATE reservations SET intent = 'x' WHERE state = 'held'", "of no intent"),
        ("UPDATE reservations SET state = 'held' WHERE state = 'committed'", "is held although"),
        ("UPDATE reservations SET state = 'committed' WHERE state = 'held'", "is taken although"),
        ("UPDATE intents SET side_effect = 'done' WHERE settled_at IS NULL", "has an end and has none"),
        ("UPDATE intents SET side_effect = 'done' WHERE in_doubt = 1", "is in doubt and has ended"),
        ("UPDATE incarnations SET ended_at = 1", "gate is not known or was ended"),
        ("UPDATE approvals SET used_by = NULL", "does not say by which call"),
        ("UPDATE approvals SET used_by = (SELECT min(id) FROM intents)", "says nothing of it"),
        ("UPDATE intents SET approval = (SELECT min(approval) FROM intents)", "was used twice"),
        ("INSERT INTO receipts VALUES ('u', 'p', 'c', 1)", "publication that is not known"),
        ("UPDATE approvals SET rules = '[1]'", "expected an approval's `rules`"),
        ("UPDATE intents SET arguments_digest = 'x'", "expected an intent's `arguments_digest`"),
        ("UPDATE events SET kind = 'x'", "expected a line of the history's `kind`"),
        ("PRAGMA foreign_keys = OFF; DELETE FROM incarnations", "refers to nothing"),
    ];
    for (sql, sentence) in spoilt {
        let copy = folder.path().join("spoilt.sqlite");
        backup_store(&path, &copy).unwrap();
        Connection::open(&copy).unwrap().execute_batch(sql).unwrap();
        let report = check_store(&copy).unwrap();
        assert!(report.faults.iter().any(|fault| fault.contains(sentence)), "{sql}: {report:?}");
        fs::remove_file(&copy).unwrap();
    }
}

#[test]
fn what_is_old_is_deleted_in_batches_and_what_is_in_doubt_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let journal = gate(&path).unwrap();
    let old_window = || [charge(Some(0), Some(1_000)), charge(None, None)];
    let settled: Vec<_> = (0..700)
        .map(|_| {
            let mut one = distinct(record(journal.incarnation(), "{}"));
            one.intent.opened_at = Timestamp(5);
            one.intent.key = Some(one.intent.id.to_string());
            let id = go(&journal, &one);
            journal.settle(&id, &result_at(6), Some((*b"{}").into())).unwrap();
            id
        })
        .collect();
    let used = approved(&journal, 7, &old_window());
    journal.settle(&used, &result_at(8), None).unwrap();
    let doubted = approved(&journal, 9, &old_window());
    let doubt = Observation::Timeout.settlement(Pinned::default(), Timestamp(10));
    journal.settle(&doubted, &doubt, None).unwrap();
    let open = approved(&journal, 11, &[]);
    let young = approved(&journal, 5_000, &[charge(Some(1_000), Some(9_000))]);
    journal.settle(&young, &result_at(5_001), None).unwrap();

    assert_eq!(journal.forget(Timestamp(1)).unwrap(), callgate_store::Forgotten::default());
    let forgotten = journal.forget(Timestamp(2_000)).unwrap();
    assert_eq!((forgotten.intents, forgotten.approvals), (701, 1));
    let left: Vec<_> = journal.list(&ALL).unwrap().into_iter().map(|intent| intent.id).collect();
    assert_eq!(left, [young.clone(), open, doubted.clone()]);
    assert_eq!(journal.show(settled[0].as_str()).unwrap(), None);
    let approvals = ApprovalFilter { limit: 99, pending_at: None };
    let users: Vec<_> = journal.approvals(&approvals).unwrap().into_iter().map(|one| one.used_by).collect();
    assert_eq!(users.len(), 3);
    assert!(users.contains(&Some(doubted.clone())), "the approval of a call in doubt is kept");
    // The window's counter stays while a call in doubt has a reservation in it, and the one that never resets stays.
    assert_eq!(forgotten.counters, 0);
    let sums: Vec<_> =
        journal.counters().unwrap().iter().map(|counter| (counter.committed, counter.reserved)).collect();
    assert_eq!(sums, [(3, 0), (3, 3), (3, 3)]);
    let about =
        |id: &IntentId| journal.history(&EventFilter { limit: 99, intent: Some(id.clone()) }).unwrap().len();
    assert_eq!((about(&used), about(&doubted)), (0, 1));
    assert!(check_store(&path).unwrap().is_sound());

    // A person decides, and then it is old like the others.
    let operator = SqliteLedger::open_operator(&path, Timestamp(20)).unwrap();
    journal.settle(&doubted, &result_at(20), None).unwrap();
    let forgotten = operator.forget(Timestamp(2_000)).unwrap();
    assert_eq!((forgotten.intents, forgotten.approvals, forgotten.counters), (1, 1, 1));
    assert!(check_store(&path).unwrap().is_sound());
    // A key that was forgotten is free.
    let mut again = distinct(record(journal.incarnation(), "{}"));
    again.intent.key = Some(settled[0].to_string());
    go(&journal, &again);
    let mut known = again.clone();
    known.intent.id = record(journal.incarnation(), "{}").intent.id;
    assert_eq!(held(&journal, &known), Hold::KeyInFlight(again.intent.id));
}

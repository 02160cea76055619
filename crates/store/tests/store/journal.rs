//! What the journal promises to one gate.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use crate::support::{RESULT, gate, record, some_digest};
use callgate_gateway::intent::Observation;
use callgate_gateway::{AdmissionRow, IntentFilter, Journal, JournalError};
use callgate_store::{SqliteJournal, StoreReader};
use callgate_wire::{Code, IntentId, IntentState, Timestamp};

const ALL: IntentFilter = IntentFilter { limit: u32::MAX };

fn code<T: std::fmt::Debug>(outcome: Result<T, JournalError>) -> Code {
    outcome.expect_err("the store refuses").code()
}

#[test]
fn what_was_written_reads_back_whole_after_the_store_was_closed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let journal = gate(&path).unwrap();
    let mut expected = record(journal.incarnation(), "{ \"a\" : 1e2, \"é\": \"\\u0000\" }");
    let committed = journal.open(&expected).unwrap();
    assert_eq!(*committed.id(), expected.intent.id);
    let settlement =
        Observation::Result { is_error: true, bytes: 42, breaks_output: true }.settlement(Timestamp(9));
    journal.settle(&expected.intent.id, &settlement).unwrap();
    drop(journal);
    expected.intent.settlement = Some(settlement);
    let id = expected.intent.id.as_str();
    assert_eq!(gate(&path).unwrap().show(id).unwrap(), Some(expected.clone()));
    assert_eq!(StoreReader::open(&path, Timestamp(2)).unwrap().show(id).unwrap(), Some(expected));
}

#[test]
fn the_last_one_opened_is_listed_first_whatever_the_clock_said() {
    let folder = tempfile::tempdir().unwrap();
    let journal = gate(&folder.path().join("store.sqlite")).unwrap();
    let mut opened = Vec::new();
    for at in [500, 400, 600] {
        let mut record = record(journal.incarnation(), "{}");
        record.intent.opened_at = Timestamp(at);
        journal.append(&record).unwrap();
        opened.insert(0, record.intent);
    }
    assert_eq!(journal.list(&ALL).unwrap(), opened);
    assert_eq!(journal.list(&IntentFilter { limit: 2 }).unwrap(), opened[..2]);
}

#[test]
fn an_intent_is_found_by_the_beginning_or_the_end_of_its_id_if_no_other_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let journal = gate(&folder.path().join("store.sqlite")).unwrap();
    let (mut first, mut second) = (record(journal.incarnation(), "{}"), record(journal.incarnation(), "{}"));
    first.intent.id = IntentId::from_bytes([0xaa; 16]);
    second.intent.id = IntentId::from_bytes([0xaa, 0xab, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    journal.append(&first).unwrap();
    journal.append(&second).unwrap();
    assert_eq!(journal.show("aaaa").unwrap(), Some(first));
    assert_eq!(journal.show("aaab").unwrap().as_ref(), Some(&second));
    assert_eq!(journal.show("000000000000").unwrap(), Some(second));
    assert_eq!(code(journal.show("aa")), Code::IntentAmbiguous);
    assert_eq!(code(journal.show("")), Code::IntentAmbiguous);
    for none in ["b", "aaaaaaaaaaaaa", "aaab%", "g"] {
        assert_eq!(journal.show(none).unwrap(), None, "{none}");
    }
}

#[test]
fn a_late_answer_clears_the_doubt_and_nothing_changes_what_is_final() {
    let folder = tempfile::tempdir().unwrap();
    let journal = gate(&folder.path().join("store.sqlite")).unwrap();
    let opened = record(journal.incarnation(), "{}");
    let id = &opened.intent.id;
    journal.append(&opened).unwrap();
    let steps = [
        (Observation::Timeout, IntentState::Open, Some(Code::UpstreamTimeout)),
        (Observation::GateStopped, IntentState::Open, Some(Code::UpstreamTimeout)),
        (RESULT, IntentState::Settled, None),
        (Observation::RpcError, IntentState::Settled, None),
    ];
    for (observation, state, code) in steps {
        journal.settle(id, &observation.settlement(Timestamp(3))).unwrap();
        let settlement = journal.show(id.as_str()).unwrap().unwrap().intent.settlement.unwrap();
        assert_eq!((settlement.state, settlement.code), (state, code));
    }
}

#[test]
fn an_intent_is_opened_once_and_settled_only_if_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let journal = gate(&folder.path().join("store.sqlite")).unwrap();
    let opened = record(journal.incarnation(), "{}");
    journal.append(&opened).unwrap();
    assert_eq!(code(journal.append(&opened)), Code::StoreUnavailable);
    let missing = IntentId::from_bytes([0xee; 16]);
    assert_eq!(code(journal.settle(&missing, &RESULT.settlement(Timestamp(3)))), Code::IntentNotFound);
    assert_eq!(journal.list(&ALL).unwrap().len(), 1);
}

#[test]
fn a_changed_contract_is_told_once_with_both_digests() {
    let folder = tempfile::tempdir().unwrap();
    let journal = gate(&folder.path().join("store.sqlite")).unwrap();
    let row = |tool: &str, text: &str, code| AdmissionRow {
        tool: tool.to_owned(),
        contract_digest: (!text.is_empty()).then(|| some_digest(text)),
        code,
        detail: None,
    };
    let list = |rows: &[AdmissionRow]| {
        let changes = journal.record_admissions("notes", rows, Timestamp(4)).unwrap();
        changes.into_iter().map(|change| (change.tool, change.before, change.now)).collect::<Vec<_>>()
    };
    assert_eq!(list(&[row("a", "1", None), row("b", "1", None)]), []);
    assert_eq!(list(&[row("a", "1", None), row("b", "1", None)]), []);
    let changed = [("b".to_owned(), some_digest("1"), some_digest("2"))];
    assert_eq!(list(&[row("a", "1", None), row("b", "2", Some(Code::ToolInputSchemaRefused))]), changed);
    assert_eq!(list(&[row("b", "2", None)]), []);
    assert_eq!(
        list(&[row("b", "", Some(Code::ToolDefinitionMalformed))]),
        [],
        "what cannot be read tells nothing"
    );
    let back = [("b".to_owned(), some_digest("2"), some_digest("1"))];
    assert_eq!(list(&[row("b", "1", None)]), back);
    let twice = [row("b", "5", Some(Code::ToolNameRepeated)), row("b", "6", Some(Code::ToolNameRepeated))];
    assert_eq!(list(&twice), [], "of a name with several bearers nobody can say");
    assert_eq!(journal.record_admissions("other", &[row("b", "9", None)], Timestamp(4)).unwrap(), []);
}

/// Opens and settles `calls` intents from each of `threads` threads; gives their ids.
fn load(journal: &SqliteJournal, threads: usize, calls: usize) -> BTreeSet<String> {
    let worker = || {
        let mut ids = Vec::new();
        for _ in 0..calls {
            let opened = record(journal.incarnation(), "{}");
            let committed = journal.open(&opened).expect("the intent is taken");
            journal.settle(committed.id(), &RESULT.settlement(Timestamp(8))).expect("the outcome is taken");
            ids.push(opened.intent.id.as_str().to_owned());
        }
        ids
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("the thread ends well")).collect()
    })
}

#[test]
fn sixty_four_callers_share_commits_and_each_is_answered_for_its_own_intent() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let journal = gate(&path).unwrap();
    let ids = load(&journal, 64, 20);
    let listed = StoreReader::open(&path, Timestamp(9)).unwrap().list(&ALL).unwrap();
    assert_eq!(ids, listed.iter().map(|intent| intent.id.as_str().to_owned()).collect());
    assert!(listed.iter().all(|intent| intent.state() == IntentState::Settled));
}

#[test]
fn a_job_that_errs_spoils_no_other_of_its_batch() {
    let folder = tempfile::tempdir().unwrap();
    let journal = gate(&folder.path().join("store.sqlite")).unwrap();
    let double = record(journal.incarnation(), "{}");
    journal.append(&double).unwrap();
    std::thread::scope(|scope| {
        let good: Vec<_> = (0..16).map(|_| scope.spawn(|| load(&journal, 1, 5).len())).collect();
        let bad: Vec<_> = (0..16).map(|_| scope.spawn(|| journal.append(&double).is_err())).collect();
        assert!(bad.into_iter().all(|thread| thread.join().unwrap()));
        assert_eq!(good.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>(), 80);
    });
    assert_eq!(journal.list(&ALL).unwrap().len(), 81);
}

#[test]
fn a_reader_sees_whole_intents_while_a_gate_writes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let journal = gate(&path).unwrap();
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| load(&journal, 4, 100));
        let mut seen = 0;
        while !writing.is_finished() {
            let listed = StoreReader::open(&path, Timestamp(9)).unwrap().list(&ALL).unwrap();
            assert!(listed.len() >= seen, "nothing that was seen goes away");
            seen = listed.len();
            assert!(listed.iter().all(|intent| !intent.in_doubt()), "a living gate leaves no doubt");
        }
    });
    assert_eq!(journal.list(&ALL).unwrap().len(), 400);
}

#[test]
fn listing_is_fast_in_a_long_history() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let journal = gate(&path).unwrap();
    let one = record(journal.incarnation(), "{}");
    journal.append(&one).unwrap();
    let columns = "format, opened_at, principal, run, upstream, tool, contract_digest, arguments_digest, call_digest, \
         attempt, fence, state, side_effect, in_doubt, code, result_bytes, is_error, settled_at";
    let connection = rusqlite::Connection::open(&path).unwrap();
    let copies = format!(
        "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
         INSERT INTO intents (id, {columns}, arguments)
         SELECT printf('%08x-0000-7000-8000-000000000000', i), {columns}, zeroblob(200) FROM intents, n"
    );
    connection.execute_batch(&copies).unwrap();
    let started = Instant::now();
    let reader = StoreReader::open(&path, Timestamp(9)).unwrap();
    assert_eq!(reader.list(&IntentFilter { limit: 50 }).unwrap().len(), 50);
    assert!(reader.show("0000abcd-").unwrap().is_some());
    assert!(started.elapsed() < Duration::from_millis(100), "{:?}", started.elapsed());
}

//! What the journal promises to one gate.

use std::collections::BTreeSet;

use crate::support::{RESULT, gate, go, open, record, result_at};
use callgate_gateway::IntentFilter;
use callgate_gateway::intent::Observation;
use callgate_gateway::journal::{Journal as _, JournalError, Records as _};
use callgate_store::{SqliteJournal, StoreReader};
use callgate_wire::{Code, IntentId, IntentState, Pinned, Timestamp};

const ALL: IntentFilter = IntentFilter { limit: u32::MAX, in_doubt: false, before: None };

fn code<T: std::fmt::Debug>(outcome: Result<T, JournalError>) -> Code {
    outcome.expect_err("the store refuses").code()
}

#[test]
fn what_was_written_reads_back_whole_after_the_store_was_closed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let journal = gate(&path).unwrap();
    let mut expected = record(journal.incarnation(), "{ \"a\" : 1e2, \"é\": \"\\u0000\" }");
    assert_eq!(go(&journal, &expected), expected.intent.id);
    let settlement = Observation::Result { is_error: true, bytes: 42, breaks_output: true }
        .settlement(Pinned::default(), Timestamp(9));
    journal.settle(&expected.intent.id, &settlement, None).unwrap();
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
        go(&journal, &record);
        opened.insert(0, record.intent);
    }
    assert_eq!(journal.list(&ALL).unwrap(), opened);
    assert_eq!(journal.list(&IntentFilter::last(2)).unwrap(), opened[..2]);
}

#[test]
fn an_intent_is_found_by_the_beginning_or_the_end_of_its_id_if_no_other_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let journal = gate(&folder.path().join("store.sqlite")).unwrap();
    let (mut first, mut second) = (record(journal.incarnation(), "{}"), record(journal.incarnation(), "{}"));
    first.intent.id = IntentId::from_bytes([0xaa; 16]);
    second.intent.id = IntentId::from_bytes([0xaa, 0xab, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    go(&journal, &first);
    go(&journal, &second);
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
    go(&journal, &opened);
    let steps = [
        (Observation::Timeout, IntentState::Open, Some(Code::UpstreamTimeout)),
        (Observation::GateStopped, IntentState::Open, Some(Code::UpstreamTimeout)),
        (RESULT, IntentState::Settled, None),
        (Observation::RpcError, IntentState::Settled, None),
    ];
    for (observation, state, code) in steps {
        journal.settle(id, &observation.settlement(Pinned::default(), Timestamp(3)), None).unwrap();
        let settlement = journal.show(id.as_str()).unwrap().unwrap().intent.settlement.unwrap();
        assert_eq!((settlement.state, settlement.code), (state, code));
    }
}

#[test]
fn an_intent_is_opened_once_and_settled_only_if_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let journal = gate(&folder.path().join("store.sqlite")).unwrap();
    let opened = record(journal.incarnation(), "{}");
    go(&journal, &opened);
    assert_eq!(code(open(&journal, &opened)), Code::StoreUnavailable);
    let missing = IntentId::from_bytes([0xee; 16]);
    assert_eq!(code(journal.settle(&missing, &result_at(3), None)), Code::IntentNotFound);
    assert_eq!(journal.list(&ALL).unwrap().len(), 1);
}

/// Opens and settles `calls` intents from each of `threads` threads; gives their ids.
fn load(journal: &SqliteJournal, threads: usize, calls: usize) -> BTreeSet<String> {
    let worker = || {
        let mut ids = Vec::new();
        for _ in 0..calls {
            let opened = record(journal.incarnation(), "{}");
            let id = go(journal, &opened);
            journal.settle(&id, &result_at(8), None).expect("the outcome is taken");
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
    go(&journal, &double);
    std::thread::scope(|scope| {
        let good: Vec<_> = (0..16).map(|_| scope.spawn(|| load(&journal, 1, 5).len())).collect();
        let bad: Vec<_> = (0..16).map(|_| scope.spawn(|| open(&journal, &double).is_err())).collect();
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

//! Several processes on one store: gates that work side by side, die, or stand still.
//!
//! The other processes are this test program itself, started again with the name of [`a_gate_in_another_process`] and
//! a part to play in the environment.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Stdio};

use crate::support::{distinct, gate, go, record, result_at};
use callgate_gateway::IntentFilter;
use callgate_gateway::journal::{
    Answer, Command, Journal as _, Ledger as _, OpenRequest, Opened, Records as _,
};
use callgate_store::{SqliteJournal, StoreReader, check_store};
use callgate_wire::{Charge, Code, IntentState, SideEffect, Timestamp};

const ALL: IntentFilter = IntentFilter { limit: u32::MAX, in_doubt: false, before: None };
const PART: &str = "CALLGATE_TEST_PART";
const STORE: &str = "CALLGATE_TEST_STORE";

#[test]
fn a_gate_in_another_process() {
    let (Ok(part), Ok(store)) = (std::env::var(PART), std::env::var(STORE)) else { return };
    let journal = gate(Path::new(&store)).unwrap();
    match part.as_str() {
        "works" => {
            for _ in 0..100 {
                let opened = record(journal.incarnation(), "{}");
                journal.settle(&go(&journal, &opened), &result_at(5), None).unwrap();
            }
            println!("done");
        }
        "hangs" => {
            for settled in [true, false, false] {
                let opened = record(journal.incarnation(), "{}");
                let id = go(&journal, &opened);
                if settled {
                    journal.settle(&id, &result_at(5), None).unwrap();
                }
            }
            println!("opened");
            loop {
                std::thread::park();
            }
        }
        "spends" => {
            let left = (0..60).filter(|_| matches!(spend(&journal), Opened::Go(_))).count();
            println!("spent {left} done");
        }
        other => panic!("no part `{other}` is known"),
    }
}

/// Asks whether a call may leave that takes one of a hundred.
fn spend(journal: &SqliteJournal) -> Opened {
    let charge = Charge {
        budget: "b".to_owned(),
        scope: String::new(),
        window: None,
        resets_at: None,
        amount: 1,
        limit: 100,
    };
    let record = distinct(record(journal.incarnation(), "{}"));
    let request = OpenRequest { record, ask: None, charges: vec![charge], again: false };
    match journal.commit(Command::Open(Box::new(request))).expect("the store answers") {
        Answer::Opened(opened) => *opened,
        other => panic!("{other:?}"),
    }
}

/// A gate in another process; killed when dropped.
struct Other {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Other {
    fn start(part: &str, store: &Path) -> Other {
        let mut child =
            std::process::Command::new(std::env::current_exe().expect("the test program has a path"))
                .args(["--exact", "processes::a_gate_in_another_process", "--nocapture"])
                .env(PART, part)
                .env(STORE, store)
                .stdout(Stdio::piped())
                .spawn()
                .expect("the test program starts again");
        let lines = BufReader::new(child.stdout.take().expect("its output is in hand"));
        Other { child, lines }
    }

    fn wait_for(&mut self, text: &str) {
        let mut line = String::new();
        while !line.trim_end().ends_with(text) {
            line.clear();
            assert_ne!(
                self.lines.read_line(&mut line).expect("its output is read"),
                0,
                "it ended before `{text}`"
            );
        }
    }

    fn signal(&self, name: &str) {
        let status = std::process::Command::new("kill").args([name, &self.child.id().to_string()]).status();
        assert!(status.expect("`kill` starts").success());
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn three_gates_and_a_reader_share_one_store_from_its_first_moment() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let mut others =
        [Other::start("works", &path), Other::start("works", &path), Other::start("works", &path)];
    for other in &mut others {
        other.wait_for("done");
        assert!(StoreReader::open(&path, Timestamp(9)).unwrap().list(&ALL).unwrap().len() >= 100);
    }
    let listed = StoreReader::open(&path, Timestamp(9)).unwrap().list(&ALL).unwrap();
    assert_eq!(listed.len(), 300);
    assert!(listed.iter().all(|intent| intent.state() == IntentState::Settled));
}

#[test]
fn three_processes_spend_one_budget_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let mut others =
        [Other::start("spends", &path), Other::start("spends", &path), Other::start("spends", &path)];
    for other in &mut others {
        other.wait_for("done");
    }
    drop(others);
    let reader = StoreReader::open(&path, Timestamp(9)).unwrap();
    let counters = reader.counters().unwrap();
    assert_eq!((counters[0].committed, counters[0].reserved), (0, 100));
    assert_eq!(reader.list(&ALL).unwrap().len(), 100);
    assert!(check_store(&path).unwrap().is_sound());
}

#[test]
fn the_open_intents_of_a_killed_gate_are_in_doubt_for_a_reader_and_then_recorded_so_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let mut other = Other::start("hangs", &path);
    other.wait_for("opened");
    let journal = gate(&path).unwrap();
    assert_eq!(journal.recover(Timestamp(6)).unwrap(), [], "a living gate keeps its intents");
    let doubts = || {
        let listed = StoreReader::open(&path, Timestamp(9)).unwrap().list(&ALL).unwrap();
        listed.into_iter().filter(callgate_wire::Intent::in_doubt).count()
    };
    assert_eq!(doubts(), 0);
    drop(other);
    assert_eq!(doubts(), 2, "before any gate has started again");

    let recovered = journal.recover(Timestamp(7)).unwrap();
    assert_eq!(recovered.len(), 2);
    for intent in &recovered {
        let stored = journal.show(intent.id.as_str()).unwrap().unwrap().intent;
        assert_eq!(*intent, stored);
        let settlement = stored.settlement.unwrap();
        assert_eq!(
            (settlement.state, settlement.side_effect, settlement.in_doubt, settlement.code, settlement.at),
            (IntentState::Open, SideEffect::Unknown, true, Some(Code::GateGone), Timestamp(7)),
        );
    }
    assert_eq!(journal.recover(Timestamp(8)).unwrap(), []);
    assert_eq!(gate(&path).unwrap().recover(Timestamp(8)).unwrap(), []);
    assert_eq!(doubts(), 2);
}

#[test]
fn a_frozen_gate_lives_and_a_gate_that_was_taken_for_gone_can_settle_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let mut other = Other::start("hangs", &path);
    other.wait_for("opened");
    other.signal("-STOP");
    let journal = gate(&path).unwrap();
    assert_eq!(journal.recover(Timestamp(6)).unwrap(), []);
    other.signal("-CONT");

    // Its lock file is taken away, as by a person who tidies up: only now it is taken for gone.
    let ours = gate(&path).unwrap();
    let opened = record(ours.incarnation(), "{}");
    go(&ours, &opened);
    let lock = format!("{}.gates/{}.lock", path.display(), ours.incarnation());
    std::fs::remove_file(lock).unwrap();
    let recovered = journal.recover(Timestamp(7)).unwrap();
    assert_eq!(recovered.iter().map(|intent| &intent.id).collect::<Vec<_>>(), [&opened.intent.id]);
    let late = ours.settle(&opened.intent.id, &result_at(8), None);
    assert_eq!(late.unwrap_err().code(), Code::IntentFenced);
    journal.settle(&opened.intent.id, &result_at(8), None).unwrap();
}

#[test]
fn a_gate_that_ended_well_leaves_its_open_intents_to_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let first = gate(&path).unwrap();
    go(&first, &record(first.incarnation(), "{}"));
    drop(first);
    let second = gate(&path).unwrap();
    assert_eq!(second.recover(Timestamp(6)).unwrap().len(), 1);
    let locks = std::fs::read_dir(format!("{}.gates", path.display())).unwrap().count();
    assert_eq!(locks, 1, "the lock of the gate that is gone is cleared away");
}

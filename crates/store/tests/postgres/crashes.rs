//! Answers that are lost, and a server that is killed: what was confirmed is there, and nothing is there twice.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use callgate_gateway::journal::{Command, Journal as _, Ledger as _, Opened, Records as _};
use callgate_testing::postgres::{Fate, Proxy, Server};
use callgate_wire::{Code, IntentState, SideEffect};

use crate::support::{ALL, charge, gate, go, open, request, result_at};

#[test]
fn a_commit_whose_answer_is_lost_is_found_again() {
    let Some(server) = Server::shared() else { return };
    let folder = tempfile::tempdir().unwrap();
    let proxy = Proxy::start(folder.path(), server.socket()).unwrap();
    let journal = gate(&server.address_through(folder.path(), "lost_answers", "&sslmode=disable"));
    for (round, fates) in [
        &[Fate::CutAfter][..],
        &[Fate::CutBefore],
        &[Fate::CutBefore, Fate::CutAfter],
        &[Fate::CutBefore, Fate::CutBefore, Fate::CutBefore],
    ]
    .into_iter()
    .enumerate()
    {
        proxy.decide(fates);
        let mut asked = request(journal.incarnation(), &round.to_string());
        asked.charges = vec![charge(1, 100)];
        let id = go(&journal, asked);
        assert_eq!(proxy.waiting(), 0);
        proxy.decide(fates);
        journal.settle(&id, &result_at(3), None).unwrap();
        assert_eq!(proxy.waiting(), 0);
        let intents = journal.list(&ALL).unwrap();
        assert_eq!(intents.len(), round + 1);
        assert_eq!(intents[0].settlement, Some(result_at(3)));
        let counters = journal.counters().unwrap();
        assert_eq!((counters[0].committed, counters[0].reserved), (round as u64 + 1, 0));
    }
}

#[test]
fn nothing_leaves_while_nobody_can_say_and_what_is_owed_is_recorded_later() {
    let Some(server) = Server::shared() else { return };
    let folder = tempfile::tempdir().unwrap();
    let proxy = Proxy::start(folder.path(), server.socket()).unwrap();
    let journal = gate(&server.address_through(folder.path(), "nobody_knows", "&sslmode=disable"));
    let called = go(&journal, request(journal.incarnation(), "called"));

    // The intent is recorded, but the gate cannot learn that: the call does not leave.
    proxy.decide(&[Fate::CutAfter]);
    proxy.close(true);
    let asked = request(journal.incarnation(), "unknown");
    let id = asked.record.intent.id.clone();
    assert_eq!(open(&journal, asked).unwrap_err().code(), Code::StoreUnavailable);
    assert_eq!(journal.settle(&called, &result_at(4), None).unwrap_err().code(), Code::StoreUnavailable);
    assert_eq!(
        server.query("SELECT count(*) FROM nobody_knows.intents WHERE settled_at IS NULL").unwrap(),
        "2"
    );

    proxy.close(false);
    go(&journal, request(journal.incarnation(), "after"));
    let show = |id: &callgate_wire::IntentId| journal.show(id.as_str()).unwrap().unwrap().intent;
    assert_eq!(show(&called).settlement, Some(result_at(4)));
    let refused = show(&id).settlement.unwrap();
    assert_eq!((refused.state, refused.side_effect), (IntentState::Refused, SideEffect::None));
    assert_eq!((refused.in_doubt, refused.code), (false, Some(Code::StoreUnavailable)));
}

#[test]
fn a_server_that_is_killed_loses_nothing_that_it_confirmed() {
    let Some(server) = Server::fresh() else { return };
    let address = server.address("killed", "&lease_ms=60000");
    let gates = [gate(&address), gate(&address)];
    let (opened, settled) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (journal, opened, settled, stop) = (&gates[thread % 2], &opened, &settled, &stop);
            scope.spawn(move || {
                let mut round = 0;
                while !stop.load(Ordering::Relaxed) {
                    round += 1;
                    let mut asked = request(journal.incarnation(), &format!("{thread} {round}"));
                    asked.charges = vec![charge(1, u64::MAX >> 1)];
                    match journal.commit(Command::Open(Box::new(asked))) {
                        Ok(callgate_gateway::journal::Answer::Opened(answer)) => {
                            let Opened::Go(intent) = *answer else { panic!("{answer:?}") };
                            opened.lock().unwrap().push(intent.id.clone());
                            if journal.settle(&intent.id, &result_at(3), None).is_ok() {
                                settled.lock().unwrap().push(intent.id);
                            }
                        }
                        Ok(other) => panic!("{other:?}"),
                        Err(error) => assert_eq!(error.code(), Code::StoreUnavailable, "{error:?}"),
                    }
                }
            });
        }
        for _ in 0..3 {
            std::thread::sleep(Duration::from_millis(400));
            server.kill().unwrap();
            server.resume().unwrap();
        }
        std::thread::sleep(Duration::from_millis(400));
        stop.store(true, Ordering::Relaxed);
    });
    let (opened, settled) = (opened.into_inner().unwrap(), settled.into_inner().unwrap());
    let list = gates[0].list(&ALL).unwrap();
    let found: std::collections::HashMap<_, _> = list.iter().map(|intent| (&intent.id, intent)).collect();
    assert_eq!(found.len(), list.len(), "none is there twice");
    assert!(opened.len() > 20, "{}", opened.len());
    for id in &opened {
        assert!(found.contains_key(id), "{id} was confirmed and is lost");
    }
    for id in &settled {
        assert!(found[id].settlement.is_some(), "the outcome of {id} was confirmed and is lost");
    }
    // What was not confirmed did not leave, or is owed and recorded by now; the counter agrees with the intents.
    let counters = gates[0].counters().unwrap();
    let none = |intent: &&&callgate_wire::Intent| {
        intent.settlement.as_ref().is_some_and(|settlement| settlement.side_effect == SideEffect::None)
    };
    let refused = list.iter().collect::<Vec<_>>().iter().filter(none).count();
    assert_eq!(counters[0].committed + counters[0].reserved, (list.len() - refused) as u64);
}

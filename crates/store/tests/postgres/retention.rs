//! What is old is deleted, as in the file.

use callgate_gateway::intent::Observation;
use callgate_gateway::journal::{
    ApprovalFilter, Ask, Command, DecideRequest, EventFilter, Hold, Journal as _, Ledger as _, OpenRequest,
    Records as _,
};
use callgate_store::{Forgotten, PostgresJournal, PostgresLedger};
use callgate_testing::postgres::Server;
use callgate_wire::{ApprovalId, Charge, IntentId, Pinned, Timestamp};

use crate::support::{ALL, charge, gate, go, held, open, place, request, result_at, some_digest, unique};

/// A call that was approved and left, and takes from a window that resets.
fn approved(journal: &PostgresJournal, call: &str, at: i64, resets_at: i64) -> IntentId {
    let mut asked = request(journal.incarnation(), call);
    asked.record.intent.opened_at = Timestamp(at);
    let window =
        Charge { window: Some(Timestamp(0)), resets_at: Some(Timestamp(resets_at)), ..charge(3, 1_000) };
    asked.charges = vec![Charge { budget: format!("window of {resets_at}"), ..window }, charge(1, 1_000)];
    asked.ask = Some(Ask {
        id: ApprovalId::of(&asked.record.intent.id),
        rules_digest: some_digest("rules"),
        rules: vec!["ask".to_owned()],
        expires_at: Timestamp(at + 100),
    });
    open(journal, asked.clone()).unwrap();
    let id = ApprovalId::of(&asked.record.intent.id);
    let (at, expires_at) = (Timestamp(at), Timestamp(at + 100));
    let decide = DecideRequest { id, approve: true, by: "op".into(), reason: None, at, expires_at };
    journal.commit(Command::Decide(decide)).unwrap();
    asked.record.intent.id = IntentId::from_bytes(unique());
    go(journal, asked)
}

fn plain(journal: &PostgresJournal, call: &str, key: &str) -> OpenRequest {
    let mut asked = request(journal.incarnation(), call);
    asked.record.intent.opened_at = Timestamp(5);
    asked.record.intent.key = Some(key.to_owned());
    asked
}

#[test]
fn what_is_old_is_deleted_in_batches_and_what_is_in_doubt_is_kept() {
    let Some(server) = Server::shared() else { return };
    let address = server.address("retention", "");
    let journal = gate(&address);
    for n in 0..700 {
        let id = go(&journal, plain(&journal, &n.to_string(), &n.to_string()));
        journal.settle(&id, &result_at(6), Some((*b"{}").into())).unwrap();
    }
    let used = approved(&journal, "used", 7, 1_000);
    journal.settle(&used, &result_at(8), None).unwrap();
    let doubted = approved(&journal, "doubted", 9, 1_000);
    let doubt = Observation::Timeout.settlement(Pinned::default(), Timestamp(10));
    journal.settle(&doubted, &doubt, None).unwrap();
    let out = approved(&journal, "out", 11, 9_000);
    let young = approved(&journal, "young", 5_000, 9_000);
    journal.settle(&young, &result_at(5_001), None).unwrap();

    let operator = PostgresLedger::open_operator(place(&address), Timestamp(20)).unwrap();
    assert_eq!(operator.forget(Timestamp(1)).unwrap(), Forgotten::default());
    let forgotten = operator.forget(Timestamp(2_000)).unwrap();
    assert_eq!((forgotten.intents, forgotten.approvals, forgotten.counters), (701, 1, 0));
    let left: Vec<_> = journal.list(&ALL).unwrap().into_iter().map(|intent| intent.id).collect();
    assert_eq!(left, [young, out, doubted.clone()]);
    let approvals = ApprovalFilter { limit: 99, pending_at: None };
    let users: Vec<_> = journal.approvals(&approvals).unwrap().into_iter().map(|one| one.used_by).collect();
    assert!(users.len() == 3 && users.contains(&Some(doubted.clone())), "a call in doubt keeps its approval");
    let about =
        |id: &IntentId| journal.history(&EventFilter { limit: 99, intent: Some(id.clone()) }).unwrap().len();
    assert_eq!((about(&used), about(&doubted)), (0, 1));

    // A person decides, and then it is old like the others: the last reservation in its window goes with it.
    journal.settle(&doubted, &result_at(21), None).unwrap();
    let forgotten = operator.forget(Timestamp(2_000)).unwrap();
    assert_eq!((forgotten.intents, forgotten.approvals, forgotten.counters), (1, 1, 1));
    // A key that was forgotten is free.
    let again = plain(&journal, "again", "0");
    go(&journal, again.clone());
    let mut known = again.clone();
    known.record.intent.id = IntentId::from_bytes(unique());
    assert_eq!(held(&journal, known), Hold::KeyInFlight(again.record.intent.id));
}

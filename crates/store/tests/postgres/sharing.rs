//! Two gates and many callers on one store: no budget is overspent, no approval used twice, no key run twice.

use std::sync::atomic::{AtomicU64, Ordering};

use callgate_gateway::journal::{
    Ask, Command, DecideRequest, Hold, Journal as _, Ledger as _, Opened, Records as _,
};
use callgate_store::PostgresJournal;
use callgate_testing::postgres::Server;
use callgate_wire::{ApprovalId, ApprovalState, Timestamp};

use crate::support::{ALL, charge, gate, held, open, request, result_at, some_digest};

const THREADS: u64 = 16;

/// Runs `act` on many threads, half of them on each of two gates.
fn crowd(gates: &[PostgresJournal; 2], act: impl Fn(&PostgresJournal, u64) + Sync) {
    let act = &act;
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let [first, second] = gates;
            let journal = if thread % 2 == 0 { first } else { second };
            scope.spawn(move || act(journal, thread));
        }
    });
}

#[test]
fn a_budget_is_never_overspent() {
    let Some(server) = Server::shared() else { return };
    let address = server.address("budgets", "");
    let gates = [gate(&address), gate(&address)];
    let (spent, given_back) = (AtomicU64::new(0), AtomicU64::new(0));
    crowd(&gates, |journal, thread| {
        for round in 0..20 {
            let amount = 1 + (thread + round) % 7;
            let mut asked = request(journal.incarnation(), &format!("{thread} {round}"));
            asked.charges = vec![charge(amount, 500)];
            match open(journal, asked).unwrap() {
                // Every third did not happen, and its amount is free again.
                Opened::Go(intent) if round % 3 == 0 => {
                    let withdrawn = callgate_gateway::intent::Observation::CancelledBeforeDispatch;
                    let settlement = withdrawn.settlement(intent.pinned, Timestamp(2));
                    journal.settle(&intent.id, &settlement, None).unwrap();
                    given_back.fetch_add(amount, Ordering::Relaxed);
                }
                Opened::Go(intent) => {
                    spent.fetch_add(amount, Ordering::Relaxed);
                    if round % 3 == 1 {
                        journal.settle(&intent.id, &result_at(2), None).unwrap();
                    }
                }
                Opened::Held(Hold::BudgetExceeded { used, .. }) => {
                    assert!(used <= 500 && used + amount > 500);
                }
                other => panic!("{other:?}"),
            }
        }
    });
    let counters = gates[0].counters().unwrap();
    let spent = spent.into_inner();
    assert_eq!(counters.len(), 1);
    assert_eq!(counters[0].committed + counters[0].reserved, spent);
    assert!(spent <= 500 && spent > 490, "{spent}");
    assert!(given_back.into_inner() > 0);
    let held = server
        .query("SELECT coalesce(sum(amount), 0) FROM budgets.reservations WHERE state = 'held'")
        .unwrap();
    assert_eq!(held, counters[0].reserved.to_string());
}

#[test]
fn an_approval_is_used_once() {
    let Some(server) = Server::shared() else { return };
    let address = server.address("approvals_once", "");
    let gates = [gate(&address), gate(&address)];
    let asking = |journal: &PostgresJournal| {
        let mut asked = request(journal.incarnation(), "pay");
        asked.ask = Some(Ask {
            id: ApprovalId::of(&asked.record.intent.id),
            rules_digest: some_digest("rules"),
            rules: vec!["ask".to_owned()],
            expires_at: Timestamp(1_700_000_100_000),
        });
        asked
    };
    for _ in 0..4 {
        let Hold::ApprovalPending { id, .. } = held(&gates[0], asking(&gates[0])) else {
            panic!("not asked")
        };
        let decide = DecideRequest {
            id: id.clone(),
            approve: true,
            by: "grace".to_owned(),
            reason: None,
            at: Timestamp(1_700_000_000_200),
            expires_at: Timestamp(1_700_000_100_000),
        };
        gates[1].commit(Command::Decide(decide)).unwrap();
        let left = AtomicU64::new(0);
        crowd(&gates, |journal, _| match open(journal, asking(journal)).unwrap() {
            Opened::Go(intent) => {
                left.fetch_add(1, Ordering::Relaxed);
                journal.settle(&intent.id, &result_at(2), None).unwrap();
            }
            Opened::Held(Hold::ApprovalPending { .. }) => {}
            other => panic!("{other:?}"),
        });
        assert_eq!(left.into_inner(), 1);
        let used = gates[0].approval_record(id.as_str()).unwrap().unwrap().approval;
        assert_eq!(used.state, ApprovalState::Used);
        // All who came too late asked for one and the same.
        let pending =
            server.query("SELECT count(*) FROM approvals_once.approvals WHERE state = 'pending'").unwrap();
        assert_eq!(pending, "1");
        server.query("UPDATE approvals_once.approvals SET state = 'denied', expires_at = 0 WHERE state = 'pending'").unwrap();
    }
}

#[test]
fn a_key_runs_once() {
    let Some(server) = Server::shared() else { return };
    let address = server.address("keys", "");
    let gates = [gate(&address), gate(&address)];
    let left = AtomicU64::new(0);
    crowd(&gates, |journal, thread| {
        for round in 0..8 {
            let mut asked = request(journal.incarnation(), "same");
            asked.record.intent.key = Some(format!("key {}", (round + thread) % 8));
            match open(journal, asked).unwrap() {
                Opened::Go(intent) => {
                    left.fetch_add(1, Ordering::Relaxed);
                    journal.settle(&intent.id, &result_at(2), Some(b"once"[..].into())).unwrap();
                }
                Opened::Known(_, result) => assert_eq!(result.as_deref(), Some(&b"once"[..])),
                Opened::Held(Hold::KeyInFlight(_)) => {}
                other @ Opened::Held(_) => panic!("{other:?}"),
            }
        }
    });
    assert_eq!(left.into_inner(), 8);
    assert_eq!(gates[0].list(&ALL).unwrap().len(), 8);
}

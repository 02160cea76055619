//! Records come back as they were written.

use callgate_gateway::AdmissionRow;
use callgate_gateway::journal::{
    ApprovalFilter, Ask, Command, DecideRequest, EventFilter, Hold, Journal as _, Ledger as _,
    PublishRequest, PublishedTool, Records as _,
};
use callgate_store::PostgresLedger;
use callgate_testing::postgres::Server;
use callgate_wire::{ApprovalId, ApprovalState, Code, EventKind, IntentRecord, Timestamp};

use crate::support::{ALL, charge, gate, go, held, open, place, request, result_at, some_digest};

#[test]
fn an_intent_comes_back_whole_whatever_its_texts_hold() {
    let Some(server) = Server::shared() else { return };
    let journal = gate(&server.address("whole", ""));
    let mut asked = request(journal.incarnation(), "a");
    asked.record.arguments = vec![0, 0xff, b'{'].into();
    asked.record.intent.tool = "null \0 and \u{1a} and 'quotes' \\ and é".to_owned();
    asked.record.intent.run = Some("\0".to_owned());
    asked.record.intent.key = Some("key \u{1a}0".to_owned());
    asked.record.intent.pinned.read_only = true;
    let IntentRecord { mut intent, arguments } = asked.record.clone();
    let id = go(&journal, asked);
    assert_eq!(journal.show(id.as_str()).unwrap().unwrap().intent, intent);

    journal.settle(&id, &result_at(9), Some(b"\0result"[..].into())).unwrap();
    intent.settlement = Some(result_at(9));
    assert_eq!(journal.list(&ALL).unwrap(), [intent.clone()]);
    let ends = id.as_str().get(20..).unwrap();
    assert_eq!(journal.show(ends).unwrap(), Some(IntentRecord { intent, arguments }));
    assert_eq!(journal.show("%").unwrap(), None);
    assert_eq!(journal.show("").unwrap(), None);
}

#[test]
fn a_part_of_several_ids_is_ambiguous_and_a_long_list_is_read_in_pages() {
    let Some(server) = Server::shared() else { return };
    let journal = gate(&server.address("pages", ""));
    let ids: Vec<_> = (0..5).map(|n| go(&journal, request(journal.incarnation(), &n.to_string()))).collect();
    assert_eq!(journal.show("0").unwrap_err().code(), Code::IntentAmbiguous);

    let mut filter = callgate_gateway::IntentFilter::last(2);
    let mut seen = Vec::new();
    loop {
        let page = journal.list(&filter).unwrap();
        let Some(last) = page.last() else { break };
        filter.before = Some(last.id.clone());
        seen.extend(page.into_iter().map(|intent| intent.id));
    }
    assert_eq!(seen, ids.into_iter().rev().collect::<Vec<_>>());
}

#[test]
fn an_operator_in_another_place_permits_a_call_once() {
    let Some(server) = Server::shared() else { return };
    let address = server.address("permits", "");
    let journal = gate(&address);
    let ask = |id: &callgate_wire::IntentId| Ask {
        id: ApprovalId::of(id),
        rules_digest: some_digest("rules"),
        rules: vec!["a \0 rule".to_owned(), String::new()],
        expires_at: Timestamp(1_700_000_100_000),
    };
    let asking = || {
        let mut asked = request(journal.incarnation(), "pay");
        asked.ask = Some(ask(&asked.record.intent.id));
        asked.charges = vec![charge(3, 10)];
        asked
    };
    let Hold::ApprovalPending { id, asked: true, .. } = held(&journal, asking()) else {
        panic!("none was asked for")
    };

    let ledger = PostgresLedger::open_operator(place(&address), Timestamp(2)).unwrap();
    let pending = ApprovalFilter { limit: 9, pending_at: Some(Timestamp(1_700_000_000_500)) };
    let waiting = ledger.approvals(&pending).unwrap();
    assert_eq!(waiting.iter().map(|approval| &approval.id).collect::<Vec<_>>(), [&id]);
    assert_eq!(waiting[0].rules, ["a \0 rule", ""]);
    let decide = DecideRequest {
        id: id.clone(),
        approve: true,
        by: "grace".to_owned(),
        reason: Some("looked at it".to_owned()),
        at: Timestamp(1_700_000_000_600),
        expires_at: Timestamp(1_700_000_200_000),
    };
    ledger.commit(Command::Decide(decide.clone())).unwrap();
    // The same decision once more is the same; another one is too late.
    ledger.commit(Command::Decide(decide.clone())).unwrap();
    let other = DecideRequest { approve: false, ..decide };
    assert_eq!(ledger.commit(Command::Decide(other)).unwrap_err().code(), Code::ApprovalNotPending);

    let used = go(&journal, asking());
    assert!(matches!(held(&journal, asking()), Hold::ApprovalPending { asked: true, .. }));
    let record = ledger.approval_record(id.as_str()).unwrap().unwrap();
    assert_eq!((record.approval.state, record.approval.used_by), (ApprovalState::Used, Some(used.clone())));
    let last = ledger.last_approved(&record.approval.principal, "notes", "write_note").unwrap().unwrap();
    assert_eq!(last.approval.id, id);
    let counters = ledger.counters().unwrap();
    assert_eq!((counters[0].reserved, counters[0].committed), (3, 0));
    journal.settle(&used, &result_at(1), None).unwrap();
    let counters = ledger.counters().unwrap();
    assert_eq!((counters[0].reserved, counters[0].committed), (0, 3));

    let kinds: Vec<_> = ledger
        .history(&EventFilter { limit: 9, intent: None })
        .unwrap()
        .into_iter()
        .map(|event| event.kind)
        .collect();
    let (asked, granted) = (EventKind::ApprovalAsked, EventKind::ApprovalGranted);
    assert_eq!(kinds, [asked, EventKind::ApprovalUsed, granted, asked]);
    assert_eq!(ledger.history(&EventFilter { limit: 9, intent: Some(used) }).unwrap().len(), 1);
}

#[test]
fn a_publication_of_many_tools_is_one_transaction() {
    let Some(server) = Server::shared() else { return };
    let journal = gate(&server.address("publishes", ""));
    let tool = |name: &str, definition: &str| PublishedTool {
        row: AdmissionRow {
            tool: name.to_owned(),
            contract_digest: Some(some_digest(definition)),
            code: None,
            detail: None,
        },
        definition: definition.as_bytes().into(),
    };
    let publish = |publication: &str, tools: Vec<PublishedTool>| {
        journal.publish(PublishRequest {
            upstream: "bank".to_owned(),
            publication: publication.to_owned(),
            expected: None,
            strict: false,
            tools,
            by: "gate".to_owned(),
            at: Timestamp(5),
        })
    };
    let tools: Vec<_> = (0..100).map(|n| tool(&format!("tool \0 {n}"), "first")).collect();
    let first = publish("one", tools.clone()).unwrap();
    assert_eq!((first.head.revision, first.first_seen.len()), (1, 100));
    assert_eq!(publish("one", tools.clone()).unwrap().head.revision, 1);
    let mut changed = tools;
    changed[7] = tool("tool \0 7", "second");
    assert_eq!(publish("two", changed).unwrap().held.len(), 1);
    let pins = journal.pinned(Some("bank")).unwrap();
    let held: Vec<_> = pins.iter().filter(|record| record.pin.held.is_some()).collect();
    assert_eq!((pins.len(), held.len()), (100, 1));
    assert_eq!((&*held[0].pin.definition, held[0].pin.tool.as_str()), (&b"first"[..], "tool \0 7"));
    assert_eq!(journal.pinned(Some("another")).unwrap(), []);
}

#[test]
fn a_request_that_the_server_does_not_take_fails_alone() {
    let Some(server) = Server::shared() else { return };
    let journal = gate(&server.address("alone", ""));
    let once = request(journal.incarnation(), "a");
    go(&journal, once.clone());
    std::thread::scope(|scope| {
        // The id is taken: whatever shares its transaction must not suffer.
        let taken = scope.spawn(|| open(&journal, once));
        let others: Vec<_> = (0..8)
            .map(|n| {
                scope.spawn({
                    let journal = &journal;
                    move || go(journal, request(journal.incarnation(), &n.to_string()))
                })
            })
            .collect();
        assert_eq!(taken.join().unwrap().unwrap_err().code(), Code::StoreUnavailable);
        for other in others {
            other.join().unwrap();
        }
    });
    assert_eq!(journal.list(&ALL).unwrap().len(), 9);
}

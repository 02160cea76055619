//! What the tests of the store on PostgreSQL share: records to write, and stores to write them to.

use std::sync::atomic::{AtomicU64, Ordering};

use callgate_gateway::intent::Observation;
use callgate_gateway::journal::{
    Answer, Command, Hold, IntentFilter, JournalError, Ledger, OpenRequest, Opened,
};
use callgate_schema::Limits;
use callgate_schema::json::{Digest, Document, digest};
use callgate_store::{PostgresJournal, PostgresPlace};
use callgate_wire::{
    Attempt, Charge, Incarnation, Intent, IntentId, IntentRecord, Pinned, Principal, Settlement, Timestamp,
};

pub(crate) const ALL: IntentFilter = IntentFilter { limit: u32::MAX, in_doubt: false, before: None };

static NEXT: AtomicU64 = AtomicU64::new(1);

/// Bytes that no other call of any process of these tests gets.
pub(crate) fn unique() -> [u8; 16] {
    let mut bytes = [0; 16];
    let (high, low) = bytes.split_at_mut(8);
    high.copy_from_slice(&u64::from(std::process::id()).to_be_bytes());
    low.copy_from_slice(&NEXT.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    bytes
}

/// The digest of a text.
pub(crate) fn some_digest(text: &str) -> Digest {
    let text = serde_json::to_vec(text).expect("a text is JSON");
    let document = Document::read(text, &Limits::default().arguments_text()).expect("it is JSON");
    digest("test", document.root())
}

pub(crate) fn place(address: &str) -> PostgresPlace {
    PostgresPlace::parse(address).expect("an address")
}

/// Enters a new incarnation.
pub(crate) fn gate(address: &str) -> PostgresJournal {
    try_gate(address).expect("the store opens")
}

pub(crate) fn try_gate(address: &str) -> Result<PostgresJournal, JournalError> {
    let incarnation = Incarnation::from_bytes(unique());
    PostgresJournal::open_gate(place(address), incarnation, std::process::id(), Timestamp(1))
}

/// A request for a call that was not made before.
pub(crate) fn request(fence: &Incarnation, call: &str) -> OpenRequest {
    let intent = Intent {
        id: IntentId::from_bytes(unique()),
        opened_at: Timestamp(1_700_000_000_123),
        principal: Principal::local("ada"),
        run: Some("run 1".to_owned()),
        upstream: "notes".to_owned(),
        tool: "write_note".to_owned(),
        contract_digest: some_digest("contract"),
        arguments_digest: some_digest("arguments"),
        call_digest: some_digest(call),
        key: None,
        approval: None,
        pinned: Pinned::default(),
        attempt: Attempt::FIRST,
        fence: fence.clone(),
        retry_permitted: false,
        settlement: None,
    };
    let record = IntentRecord { intent, arguments: format!("{{\"call\":{call:?}}}").into_bytes().into() };
    OpenRequest { record, ask: None, charges: Vec::new(), again: false }
}

/// What a call takes from a budget that never resets.
pub(crate) fn charge(amount: u64, limit: u64) -> Charge {
    Charge { budget: "pay".to_owned(), scope: String::new(), window: None, resets_at: None, amount, limit }
}

/// Asks whether a call may leave.
pub(crate) fn open(journal: &dyn Ledger, request: OpenRequest) -> Result<Opened, JournalError> {
    match journal.commit(Command::Open(Box::new(request)))? {
        Answer::Opened(opened) => Ok(*opened),
        other => panic!("the answer is to another command: {other:?}"),
    }
}

/// Opens an intent that may leave.
pub(crate) fn go(journal: &dyn Ledger, request: OpenRequest) -> IntentId {
    match open(journal, request).expect("the store answers") {
        Opened::Go(intent) => intent.id,
        other => panic!("the call may not leave: {other:?}"),
    }
}

/// Why a call may not leave.
pub(crate) fn held(journal: &dyn Ledger, request: OpenRequest) -> Hold {
    match open(journal, request).expect("the store answers") {
        Opened::Held(hold) => hold,
        other => panic!("the call may leave: {other:?}"),
    }
}

/// What most results lead to.
pub(crate) fn result_at(at: i64) -> Settlement {
    let result = Observation::Result { is_error: false, bytes: 7, breaks_output: false };
    result.settlement(Pinned::default(), Timestamp(at))
}

//! What the tests of the store share: records to write, and a store to write them to.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use callgate_gateway::intent::Observation;
use callgate_gateway::journal::{Answer, Command, Hold, Journal, JournalError, OpenRequest, Opened};
use callgate_schema::Limits;
use callgate_schema::json::{Digest, Document, digest};
use callgate_store::{SqliteJournal, StoreError};
use callgate_wire::{
    Attempt, Incarnation, Intent, IntentId, IntentRecord, Pinned, Principal, Settlement, Timestamp,
};

/// The same, as a call like no other.
pub(crate) fn distinct(mut record: IntentRecord) -> IntentRecord {
    record.intent.call_digest = some_digest(&format!("\"{}\"", record.intent.id));
    record
}

/// What most results lead to.
pub(crate) fn result_at(at: i64) -> Settlement {
    RESULT.settlement(Pinned::default(), Timestamp(at))
}

/// Asks whether this call may leave; it needs no approval and takes from no budget.
pub(crate) fn open(journal: &dyn Journal, record: &IntentRecord) -> Result<Opened, JournalError> {
    let request = OpenRequest { record: record.clone(), ask: None, charges: Vec::new(), again: false };
    match journal.commit(Command::Open(Box::new(request)))? {
        Answer::Opened(opened) => Ok(*opened),
        other => panic!("the answer is to another command: {other:?}"),
    }
}

/// Opens an intent that may leave.
pub(crate) fn go(journal: &dyn Journal, record: &IntentRecord) -> IntentId {
    match open(journal, record).expect("the store answers") {
        Opened::Go(intent) => intent.id,
        other => panic!("the call may not leave: {other:?}"),
    }
}

/// Why this call may not leave.
pub(crate) fn held(journal: &dyn Journal, record: &IntentRecord) -> Hold {
    match open(journal, record).expect("the store answers") {
        Opened::Held(hold) => hold,
        other => panic!("the call may leave: {other:?}"),
    }
}

/// A result as most are.
pub(crate) const RESULT: Observation =
    Observation::Result { is_error: false, bytes: 7, breaks_output: false };

static NEXT: AtomicU64 = AtomicU64::new(1);

/// Bytes that no other call of any process of these tests gets.
fn unique() -> [u8; 16] {
    let mut bytes = [0; 16];
    let (high, low) = bytes.split_at_mut(8);
    high.copy_from_slice(&u64::from(std::process::id()).to_be_bytes());
    low.copy_from_slice(&NEXT.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    bytes
}

/// The digest of a JSON text.
pub(crate) fn some_digest(text: &str) -> Digest {
    let document =
        Document::read(text.as_bytes(), &Limits::default().arguments_text()).expect("the text is JSON");
    digest("test", document.root())
}

/// Enters a new incarnation.
pub(crate) fn gate(path: &Path) -> Result<SqliteJournal, StoreError> {
    SqliteJournal::open_gate(path, Incarnation::from_bytes(unique()), std::process::id(), Timestamp(1))
}

/// An intent that was not opened before.
pub(crate) fn record(fence: &Incarnation, arguments: &str) -> IntentRecord {
    let intent = Intent {
        id: IntentId::from_bytes(unique()),
        opened_at: Timestamp(1_700_000_000_123),
        principal: Principal::local("ada"),
        run: Some("run 1".to_owned()),
        upstream: "notes".to_owned(),
        tool: "write_note".to_owned(),
        contract_digest: some_digest("1"),
        arguments_digest: some_digest(arguments),
        call_digest: some_digest("3"),
        key: None,
        approval: None,
        pinned: Pinned::default(),
        attempt: Attempt::FIRST,
        fence: fence.clone(),
        retry_permitted: false,
        settlement: None,
    };
    IntentRecord { intent, arguments: arguments.as_bytes().into() }
}

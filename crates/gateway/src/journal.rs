//! The port to the store: what the gate asks of whatever keeps its records.

use std::error::Error;
use std::fmt;

use callgate_schema::json::Digest;
use callgate_wire::{Code, Incarnation, Intent, IntentId, IntentRecord, Settlement, Timestamp};

/// Proof that an intent is durable. Only [`Journal::open`] gives one, and nothing is dispatched without it.
#[derive(Debug, PartialEq, Eq)]
pub struct Committed {
    id: IntentId,
}

impl Committed {
    /// The intent that is durable.
    pub fn id(&self) -> &IntentId {
        &self.id
    }
}

/// What keeps the records. All methods block until the answer is as durable as they say; call them where blocking is
/// allowed.
pub trait Journal: Send + Sync {
    /// Records an intent that is not there yet. Returns only after the record is on the disk.
    ///
    /// # Errors
    ///
    /// `store-unavailable` and its like. After an error the record may be there or not: ask [`Journal::show`].
    fn append(&self, record: &IntentRecord) -> Result<(), JournalError>;

    /// Records an intent and gives the proof that dispatching it needs.
    ///
    /// # Errors
    ///
    /// As [`Journal::append`].
    fn open(&self, record: &IntentRecord) -> Result<Committed, JournalError> {
        self.append(record)?;
        Ok(Committed { id: record.intent.id.clone() })
    }

    /// Records how an intent ended, by the rule of [`crate::intent::settle`]: what is final stays as it is, and saying
    /// it again is no error. Returns only after the record is on the disk.
    ///
    /// # Errors
    ///
    /// `intent-not-found`; `intent-fenced` if another gate has taken the intent over; `store-unavailable` and its like.
    fn settle(&self, id: &IntentId, settlement: &Settlement) -> Result<(), JournalError>;

    /// Records what became of the tools that an upstream listed, and tells which of them differ from what was recorded
    /// last.
    fn record_admissions(
        &self,
        upstream: &str,
        rows: &[AdmissionRow],
        at: Timestamp,
    ) -> Result<Vec<ContractChange>, JournalError>;

    /// Takes over the intents without an outcome whose gates are gone and settles them as in doubt; returns those.
    /// Leaves alone every intent whose gate lives, even if it does not move.
    fn recover(&self, at: Timestamp) -> Result<Vec<Intent>, JournalError>;

    /// The intents, the last one opened first.
    fn list(&self, filter: &IntentFilter) -> Result<Vec<Intent>, JournalError>;

    /// The intent with this id, or the only one whose id begins so or, where none does, ends so.
    ///
    /// # Errors
    ///
    /// `intent-ambiguous` if that is said of several; `store-unavailable` and its like.
    fn show(&self, id_or_part: &str) -> Result<Option<IntentRecord>, JournalError>;

    /// The incarnation under which this journal opens and settles intents.
    fn incarnation(&self) -> &Incarnation;
}

/// Which intents to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntentFilter {
    /// At most so many.
    pub limit: u32,
}

/// What became of one tool that an upstream listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdmissionRow {
    /// The name, or its place in the list (such as `#3`) where none can be read.
    pub tool: String,
    /// The digest of the definition, where it can be read.
    pub contract_digest: Option<Digest>,
    /// Why it was quarantined; none for a tool that was admitted.
    pub code: Option<Code>,
    /// The first finding behind that, in a line.
    pub detail: Option<String>,
}

/// A tool whose definition is not the one that was recorded last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContractChange {
    /// The tool.
    pub tool: String,
    /// The digest that was recorded last.
    pub before: Digest,
    /// The digest now.
    pub now: Digest,
}

/// A store that did not do what it was asked.
#[derive(Debug)]
pub struct JournalError {
    code: Code,
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl JournalError {
    /// An error with its stable code and a message: a lower-case fragment without a final stop.
    #[cold]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        JournalError { code, message: message.into(), source: None }
    }

    /// Adds the cause, which the message does not repeat.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// The stable code.
    pub fn code(&self) -> Code {
        self.code
    }
}

impl fmt::Display for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for JournalError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

//! The port to the store: what the gate asks of whatever keeps its records.
//!
//! | file | holds |
//! |---|---|
//! | `command` | START HERE: what can be done to the records, one command a transaction |
//! | `rows` | what a command sees and does within its transaction: what a store implements |
//! | `records` | what is read of the records, and how it is filtered |
//! | `error` | a store that did not do what it was asked |
//! | `memory` | records in memory, for tests and for apps that keep none |
//! | `kit` | what every store has to hold, as checks that its tests call |

mod command;
mod error;
pub mod kit;
mod memory;
mod records;
mod rows;

use callgate_wire::{Approval, Incarnation, Intent, IntentId, Settlement, Timestamp};

pub use command::{
    AcceptRequest, Answer, Ask, Command, DecideRequest, Hold, OpenRequest, Opened, PublishRequest, Published,
    PublishedTool, ReconcileRequest, Verdict,
};
pub use error::JournalError;
pub use memory::{MEMORY_EVENTS_MAX, MEMORY_INTENTS_MAX, MemoryJournal, MemoryStore};
pub use records::{
    AdmissionRow, ApprovalFilter, ContractChange, Counter, EventFilter, IntentFilter, PinRecord, Records,
};
pub use rows::{Effect, Held, Pin, PublicationHead, ReceiptRow, Rows};

/// Records that can be changed.
pub trait Ledger: Records {
    /// Does what the command says, in one transaction. Returns only after that is durable.
    ///
    /// # Errors
    ///
    /// As [`Command::run`]. After `store-unavailable` it may have been done or not: look.
    fn commit(&self, command: Command) -> Result<Answer, JournalError>;

    /// Records an operator's decision about an approval; returns the approval as it is then.
    ///
    /// # Errors
    ///
    /// As [`Ledger::commit`]; `approval-not-found`, `approval-not-pending`, `approval-expired`.
    fn decide(&self, request: DecideRequest) -> Result<Approval, JournalError> {
        match self.commit(Command::Decide(request))? {
            Answer::Decided(approval) => Ok(*approval),
            other => Err(unexpected(&other)),
        }
    }

    /// Records what an operator makes of an intent in doubt; returns the intent as it is then.
    ///
    /// # Errors
    ///
    /// As [`Ledger::commit`]; `intent-not-found`, `intent-not-in-doubt`.
    fn reconcile(&self, request: ReconcileRequest) -> Result<Intent, JournalError> {
        match self.commit(Command::Reconcile(request))? {
            Answer::Reconciled(intent) => Ok(*intent),
            other => Err(unexpected(&other)),
        }
    }

    /// Records that an operator accepts a tool's changed contract.
    ///
    /// # Errors
    ///
    /// As [`Ledger::commit`]; `contract-not-held`.
    fn accept(&self, request: AcceptRequest) -> Result<(), JournalError> {
        match self.commit(Command::Accept(request))? {
            Answer::Accepted => Ok(()),
            other => Err(unexpected(&other)),
        }
    }
}

/// The records of one gate. All methods block until the answer is as durable as they say; call them where blocking is
/// allowed.
pub trait Journal: Ledger + Send + Sync {
    /// The life under which this journal opens and settles intents.
    fn incarnation(&self) -> &Incarnation;

    /// Asks whether a call may leave, and gives the proof that dispatching it needs.
    ///
    /// # Errors
    ///
    /// As [`Ledger::commit`].
    fn open(&self, request: OpenRequest) -> Result<OpenOutcome, JournalError> {
        match self.commit(Command::Open(Box::new(request)))? {
            Answer::Opened(opened) => Ok(match *opened {
                Opened::Go(intent) => OpenOutcome::Go(Box::new(Committed { intent })),
                Opened::Known(intent, result) => OpenOutcome::Known(Box::new(intent), result),
                Opened::Held(hold) => OpenOutcome::Held(hold),
            }),
            other => Err(unexpected(&other)),
        }
    }

    /// Records how an intent ended, by the rule of [`crate::intent::settle`]: what is final stays as it is, and saying
    /// it again is no error. The result is kept if the intent has a key.
    ///
    /// # Errors
    ///
    /// As [`Ledger::commit`]; `intent-not-found`; `intent-fenced` if another gate has taken the intent over.
    fn settle(
        &self,
        id: &IntentId,
        settlement: &Settlement,
        result: Option<Box<[u8]>>,
    ) -> Result<(), JournalError> {
        let (id, fence, settlement) = (id.clone(), self.incarnation().clone(), settlement.clone());
        match self.commit(Command::Settle { id, fence, settlement, result })? {
            Answer::Settled => Ok(()),
            other => Err(unexpected(&other)),
        }
    }

    /// Takes over the intents without an outcome whose gates are gone and classifies them; returns those. Leaves alone
    /// every intent whose gate lives, even if it does not move.
    ///
    /// # Errors
    ///
    /// As [`Ledger::commit`].
    fn recover(&self, at: Timestamp) -> Result<Vec<Intent>, JournalError> {
        match self.commit(Command::Recover { fence: self.incarnation().clone(), at })? {
            Answer::Recovered(intents) => Ok(intents),
            other => Err(unexpected(&other)),
        }
    }

    /// Publishes an upstream's tools.
    ///
    /// # Errors
    ///
    /// As [`Ledger::commit`]; `catalog-conflict`, `catalog-refused`.
    fn publish(&self, request: PublishRequest) -> Result<Published, JournalError> {
        match self.commit(Command::Publish(Box::new(request)))? {
            Answer::Published(published) => Ok(published),
            other => Err(unexpected(&other)),
        }
    }
}

/// A store whose answer is to another command than it was given.
fn unexpected(answer: &Answer) -> JournalError {
    let message = format!("the store answered another command: {answer:?}");
    JournalError::new(callgate_wire::Code::StoreCorrupt, message.chars().take(200).collect::<String>())
}

/// Whether a call may leave.
#[derive(Debug)]
pub enum OpenOutcome {
    /// It may: here is the proof.
    Go(Box<Committed>),
    /// The same call with the same key has an outcome: this one, with the result where that was kept.
    Known(Box<Intent>, Option<Box<[u8]>>),
    /// It may not.
    Held(Hold),
}

/// Proof that an intent is durable. Only [`Journal::open`] gives one, and nothing is dispatched without it.
#[derive(Debug, PartialEq, Eq)]
pub struct Committed {
    pub(crate) intent: Intent,
}

impl Committed {
    /// The intent that is durable.
    pub fn intent(&self) -> &Intent {
        &self.intent
    }
}

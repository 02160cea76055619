//! What a command sees of the records within one transaction, and what it does to them.
//!
//! A store implements [`Rows`] with its own statements and runs [`Command::run`](super::Command::run) inside a transaction
//! that nothing else that writes can disturb. All decisions are made in this crate, once for every store.

use callgate_schema::json::Digest;
use callgate_wire::{
    Approval, ApprovalId, ApprovalRecord, Attempt, Charge, Event, Incarnation, Intent, IntentId,
    IntentRecord, Principal, Settlement, Timestamp,
};

use super::{AdmissionRow, JournalError};

/// The records, as they are within one transaction.
///
/// Everything a command reads, it reads before it changes anything: see [`Effect`].
pub trait Rows {
    /// Whether this life of a gate lasts, as far as the store knows: it was entered, and nobody has ended it.
    fn lasts(&mut self, incarnation: &Incarnation) -> Result<bool, JournalError>;

    /// The lives, but for `ours`, that have ended without a word and that nobody has ended in the store yet.
    fn gone(&mut self, ours: &Incarnation) -> Result<Vec<Incarnation>, JournalError>;

    /// One intent by its whole id.
    fn intent(&mut self, id: &IntentId) -> Result<Option<Intent>, JournalError>;

    /// The intent whose last try was made by the request with this id.
    fn tried_as(&mut self, request: &IntentId) -> Result<Option<Intent>, JournalError>;

    /// The intent that this principal opened last with this key.
    fn intent_of_key(&mut self, principal: &Principal, key: &str) -> Result<Option<Intent>, JournalError>;

    /// The first intent of this principal with this call digest that is in doubt.
    fn in_doubt_twin(
        &mut self,
        principal: &Principal,
        call_digest: Digest,
    ) -> Result<Option<Intent>, JournalError>;

    /// The intents of this principal with this call digest, of other lives than `ours`, of which no outcome is recorded, in
    /// the order of opening.
    fn unsettled_twins(
        &mut self,
        principal: &Principal,
        call_digest: Digest,
        ours: &Incarnation,
    ) -> Result<Vec<Intent>, JournalError>;

    /// The intents of a life of which no outcome is recorded, in the order of opening.
    fn unsettled(&mut self, fence: &Incarnation) -> Result<Vec<Intent>, JournalError>;

    /// The result that was kept with a settled intent.
    fn result(&mut self, id: &IntentId) -> Result<Option<Box<[u8]>>, JournalError>;

    /// One approval by its whole id.
    fn approval(&mut self, id: &ApprovalId) -> Result<Option<Approval>, JournalError>;

    /// The approvals of this principal for this call digest that are not used and do not expire before `now`, in the
    /// order in which they were asked for.
    fn approvals_for(
        &mut self,
        principal: &Principal,
        call_digest: Digest,
        now: Timestamp,
    ) -> Result<Vec<Approval>, JournalError>;

    /// How many approvals wait for a decision and do not expire before `now`.
    fn approvals_pending(&mut self, now: Timestamp) -> Result<u64, JournalError>;

    /// What a counter stands at: what is taken for good and what is reserved.
    fn used(&mut self, charge: &Charge) -> Result<u64, JournalError>;

    /// What is published of an upstream.
    fn publication(&mut self, upstream: &str) -> Result<Option<PublicationHead>, JournalError>;

    /// The receipt of a publication, where it is still kept.
    fn receipt(&mut self, upstream: &str, publication: &str) -> Result<Option<ReceiptRow>, JournalError>;

    /// The pins of an upstream, by the tools' names.
    fn pins(&mut self, upstream: &str) -> Result<Vec<Pin>, JournalError>;

    /// Does one thing.
    fn apply(&mut self, effect: &Effect) -> Result<(), JournalError>;
}

/// What a command does to the records, as a value. All effects of a command are applied, in order, or none.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// A new intent.
    AddIntent(Box<IntentRecord>),
    /// Another try of an intent: what was known of its end is gone, and so is the permission.
    Retry {
        /// The intent.
        id: IntentId,
        /// The number of the try.
        attempt: Attempt,
        /// The life that makes it.
        fence: Incarnation,
        /// The id that the call would have had as one of its own: see [`Rows::tried_as`].
        request: IntentId,
    },
    /// One more try is permitted.
    PermitRetry(IntentId),
    /// What is known of an intent's end.
    SetSettlement {
        /// The intent.
        id: IntentId,
        /// The life that says so.
        fence: Incarnation,
        /// What is known.
        settlement: Settlement,
        /// The result, where it is kept for callers who come again with the same key.
        result: Option<Box<[u8]>>,
    },
    /// A life has ended.
    EndIncarnation {
        /// The life.
        incarnation: Incarnation,
        /// When that was seen.
        at: Timestamp,
    },
    /// A new request for an approval.
    AddApproval(Box<ApprovalRecord>),
    /// An approval's state, last moment, decision and use.
    SetApproval(Box<Approval>),
    /// A counter is charged, so far as a reservation of this intent.
    Reserve {
        /// The intent.
        intent: IntentId,
        /// What it takes.
        charge: Charge,
    },
    /// All reservations of an intent are taken for good.
    CommitReservations(IntentId),
    /// All reservations of an intent are given back.
    ReleaseReservations(IntentId),
    /// An upstream's publication takes the place of the one before.
    SetPublication {
        /// The upstream.
        upstream: String,
        /// What is published from now on.
        head: PublicationHead,
        /// What the publisher is told, also when it asks again.
        receipt: ReceiptRow,
        /// What became of each tool.
        rows: Vec<AdmissionRow>,
    },
    /// Receipts of an upstream beyond the last so many are forgotten.
    ForgetReceipts {
        /// The upstream.
        upstream: String,
        /// How many are kept.
        kept: u32,
    },
    /// A tool's pin.
    SetPin {
        /// The upstream.
        upstream: String,
        /// The pin.
        pin: Pin,
    },
    /// A line of the history.
    Note(Event),
}

/// What is published of an upstream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicationHead {
    /// The number of the publication, from 1.
    pub revision: u64,
    /// Its id.
    pub publication: String,
    /// When.
    pub at: Timestamp,
}

/// What a publisher was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiptRow {
    /// The publication's id.
    pub publication: String,
    /// The digest of everything that was published.
    pub content: Digest,
    /// The revision that it made.
    pub revision: u64,
}

/// The contract of a tool that callers are bound to, and the one that waits for an operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// The tool.
    pub tool: String,
    /// The digest of the definition that is good.
    pub digest: Digest,
    /// That definition, byte for byte as it was received.
    pub definition: Box<[u8]>,
    /// When it was pinned.
    pub pinned_at: Timestamp,
    /// Who accepted it, or nothing for the first one that was ever seen.
    pub accepted_by: Option<String>,
    /// The changed definition that was listed last and that nobody has accepted.
    pub held: Option<Held>,
}

/// A changed definition that waits for an operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// Its digest.
    pub digest: Digest,
    /// The definition, byte for byte as it was received.
    pub definition: Box<[u8]>,
    /// When it was first seen.
    pub at: Timestamp,
}

//! What can be done to the records: one command a transaction, the same for every store.

use callgate_schema::json::Digest;
use callgate_wire::{
    Approval, ApprovalId, Charge, Incarnation, Intent, IntentId, IntentRecord, Settlement, SideEffect,
    Timestamp,
};

use super::{AdmissionRow, ContractChange, Effect, JournalError, PublicationHead, Rows};
use crate::{approval, catalog, intent};

/// Something to be done to the records, all or nothing.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// A call wants to leave.
    Open(Box<OpenRequest>),
    /// The outcome of a call is known, or why it is not.
    Settle {
        /// The intent.
        id: IntentId,
        /// The life that says so.
        fence: Incarnation,
        /// What is known.
        settlement: Settlement,
        /// The result, for callers who come again with the same key.
        result: Option<Box<[u8]>>,
    },
    /// The intents of lives that are gone are taken over.
    Recover {
        /// The life that takes them over.
        fence: Incarnation,
        /// When.
        at: Timestamp,
    },
    /// An operator decides about an approval.
    Decide(DecideRequest),
    /// An operator says what is to become of an intent in doubt.
    Reconcile(ReconcileRequest),
    /// An upstream's tools are published.
    Publish(Box<PublishRequest>),
    /// An operator accepts changed contracts.
    Accept(AcceptRequest),
}

/// A call that wants to leave, with everything that it needs for that.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenRequest {
    /// The intent as it would be.
    pub record: IntentRecord,
    /// The approval that it needs, if it needs one.
    pub ask: Option<Ask>,
    /// What it takes from budgets.
    pub charges: Vec<Charge>,
    /// Whether this very request was made before and its answer was lost: where its intent is recorded, it may leave.
    /// Only whoever holds the request may say so, since nothing of the call has left without an answer.
    pub again: bool,
}

/// An approval that a call needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ask {
    /// The id of the request for it, where a new one has to be made.
    pub id: ApprovalId,
    /// The digest of the rules that ask.
    pub rules_digest: Digest,
    /// The rules that ask, by name.
    pub rules: Vec<String>,
    /// The last moment of a new request.
    pub expires_at: Timestamp,
}

/// An operator's decision about an approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecideRequest {
    /// The approval.
    pub id: ApprovalId,
    /// Whether the call is permitted.
    pub approve: bool,
    /// Who decides.
    pub by: String,
    /// Why.
    pub reason: Option<String>,
    /// When.
    pub at: Timestamp,
    /// The last moment at which the call may use it.
    pub expires_at: Timestamp,
}

/// What an operator makes of an intent in doubt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// They have found out whether it took effect.
    Adopt(SideEffect),
    /// The same call may be tried once more.
    Retry,
    /// Nobody will find out.
    Abandon,
}

/// What an operator says of an intent in doubt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReconcileRequest {
    /// The intent.
    pub id: IntentId,
    /// What is to become of it.
    pub verdict: Verdict,
    /// Who says so.
    pub by: String,
    /// Why.
    pub reason: String,
    /// When.
    pub at: Timestamp,
}

/// An upstream's tools, to be published at once.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishRequest {
    /// The upstream.
    pub upstream: String,
    /// The id of this publication: the same one again is answered as it was before.
    pub publication: String,
    /// The revision that the publisher takes for the last one; none where it has not looked.
    pub expected: Option<u64>,
    /// Whether one tool that is not admitted refuses the whole publication.
    pub strict: bool,
    /// The tools.
    pub tools: Vec<PublishedTool>,
    /// Who publishes: the gate's incarnation.
    pub by: String,
    /// When.
    pub at: Timestamp,
}

/// One tool of a publication.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedTool {
    /// What became of it.
    pub row: AdmissionRow,
    /// The definition, byte for byte, where its digest is known.
    pub definition: Box<[u8]>,
}

/// Changed contracts that an operator accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceptRequest {
    /// The upstream.
    pub upstream: String,
    /// The tool.
    pub tool: String,
    /// The digest that the operator has looked at: another one is not accepted unseen.
    pub digest: Digest,
    /// Who accepts.
    pub by: String,
    /// When.
    pub at: Timestamp,
}

/// What became of a command.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// To [`Command::Open`].
    Opened(Box<Opened>),
    /// To [`Command::Settle`].
    Settled,
    /// To [`Command::Recover`]: the intents that are in doubt now, or whose effect is known to be none.
    Recovered(Vec<Intent>),
    /// To [`Command::Decide`].
    Decided(Box<Approval>),
    /// To [`Command::Reconcile`].
    Reconciled(Box<Intent>),
    /// To [`Command::Publish`].
    Published(Published),
    /// To [`Command::Accept`].
    Accepted,
}

/// Whether a call may leave.
#[derive(Debug, Clone, PartialEq)]
pub enum Opened {
    /// It may: the intent with this id and try is recorded.
    Go(Intent),
    /// The same call with the same key has an outcome: this one, with the result where that was kept.
    Known(Intent, Option<Box<[u8]>>),
    /// It may not.
    Held(Hold),
}

/// Why a call may not leave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hold {
    /// The gate's life has ended in the store: another gate has taken over.
    Fenced,
    /// An identical call of the principal is in doubt.
    InDoubt(IntentId),
    /// The call with this key has left and is not answered yet.
    KeyInFlight(IntentId),
    /// The key stands for another call.
    KeyConflict(IntentId),
    /// A person has to permit it; `asked` says that this call made the request.
    ApprovalPending {
        /// The request.
        id: ApprovalId,
        /// Its last moment.
        expires_at: Timestamp,
        /// Whether it was made just now.
        asked: bool,
    },
    /// A person has not permitted it.
    ApprovalDenied(ApprovalId),
    /// More requests than [`APPROVALS_PENDING_MAX`](crate::approval::APPROVALS_PENDING_MAX) wait for a decision.
    ApprovalsFull,
    /// A budget does not take it.
    BudgetExceeded {
        /// What it would take.
        charge: Charge,
        /// What the counter stands at.
        used: u64,
    },
}

/// What a publication has led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// What is published now.
    pub head: PublicationHead,
    /// The tools that were seen for the first time and are pinned now.
    pub first_seen: Vec<String>,
    /// The tools whose definitions are not the pinned ones: they are held until an operator accepts the change.
    pub held: Vec<ContractChange>,
    /// Pinned tools that are not listed any more.
    pub missing: Vec<String>,
}

impl Command {
    /// The same command once more, after its answer was lost: what it did is not done twice, and its answer is the one that
    /// was lost.
    #[must_use]
    pub fn again(mut self) -> Command {
        if let Command::Open(request) = &mut self {
            request.again = true;
        }
        self
    }

    /// Decides what this command does to the records as they are, does it, and answers. Run it in a transaction: after an
    /// error nothing of it may stay.
    ///
    /// # Errors
    ///
    /// What the store says; `intent-not-found`, `intent-fenced`, `intent-not-in-doubt`, `approval-not-found`,
    /// `approval-not-pending`, `approval-expired`, `catalog-conflict`, `contract-not-held`.
    pub fn run(&self, rows: &mut dyn Rows) -> Result<Answer, JournalError> {
        let (answer, effects) = self.decide(rows)?;
        for effect in &effects {
            rows.apply(effect)?;
        }
        Ok(answer)
    }

    /// Decides, and changes nothing.
    ///
    /// # Errors
    ///
    /// As [`Command::run`].
    pub fn decide(&self, rows: &mut dyn Rows) -> Result<(Answer, Vec<Effect>), JournalError> {
        match self {
            Command::Open(request) => intent::open(rows, request),
            Command::Settle { id, fence, settlement, result } => {
                intent::record(rows, id, fence, settlement, result.as_deref())
            }
            Command::Recover { fence, at } => intent::recover(rows, fence, *at),
            Command::Decide(request) => approval::decide(rows, request),
            Command::Reconcile(request) => intent::reconcile(rows, request),
            Command::Publish(request) => catalog::publish(rows, request),
            Command::Accept(request) => catalog::accept(rows, request),
        }
    }
}

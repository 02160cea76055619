//! What is read of the records.

use callgate_schema::json::Digest;
use callgate_wire::{
    Approval, ApprovalRecord, Charge, Code, Event, Intent, IntentId, IntentRecord, Principal, Timestamp,
};

use super::{JournalError, Pin};

/// What is read of the records, outside any command.
pub trait Records {
    /// The intents, the last one opened first.
    ///
    /// # Errors
    ///
    /// `store-unavailable` and its like, as of all methods here.
    fn list(&self, filter: &IntentFilter) -> Result<Vec<Intent>, JournalError>;

    /// The intent with this id, or the only one whose id begins so or, where none does, ends so.
    ///
    /// # Errors
    ///
    /// `intent-ambiguous` if that is said of several.
    fn show(&self, id_or_part: &str) -> Result<Option<IntentRecord>, JournalError>;

    /// The approvals, the last one asked for first.
    fn approvals(&self, filter: &ApprovalFilter) -> Result<Vec<Approval>, JournalError>;

    /// The approval with this id, or the only one whose id begins so or, where none does, ends so.
    ///
    /// # Errors
    ///
    /// `approval-ambiguous` if that is said of several.
    fn approval_record(&self, id_or_part: &str) -> Result<Option<ApprovalRecord>, JournalError>;

    /// The last call of this tool of this principal that an approval let through, with its arguments: what an operator
    /// compares a new request with.
    fn last_approved(
        &self,
        principal: &Principal,
        upstream: &str,
        tool: &str,
    ) -> Result<Option<ApprovalRecord>, JournalError>;

    /// The counters of budgets, those that were charged last first.
    fn counters(&self) -> Result<Vec<Counter>, JournalError>;

    /// The pins of all upstreams, or of one.
    fn pinned(&self, upstream: Option<&str>) -> Result<Vec<PinRecord>, JournalError>;

    /// The history, the last line first.
    fn history(&self, filter: &EventFilter) -> Result<Vec<Event>, JournalError>;
}

/// Which intents to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntentFilter {
    /// At most so many.
    pub limit: u32,
    /// Only those in doubt.
    pub in_doubt: bool,
    /// Only those opened before this one, which is how a long list is read in pages.
    pub before: Option<IntentId>,
}

impl IntentFilter {
    /// The last so many.
    pub fn last(limit: u32) -> IntentFilter {
        IntentFilter { limit, in_doubt: false, before: None }
    }
}

/// Which approvals to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalFilter {
    /// At most so many.
    pub limit: u32,
    /// Only those that wait for a decision and do not expire before this moment.
    pub pending_at: Option<Timestamp>,
}

/// Which lines of the history to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventFilter {
    /// At most so many.
    pub limit: u32,
    /// Only those about this intent.
    pub intent: Option<IntentId>,
}

/// What a counter of a budget stands at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counter {
    /// The budget, scope, window and limit, as they were charged last; the amount is that of the last charge.
    pub charge: Charge,
    /// What is taken for good.
    pub committed: u64,
    /// What is reserved by calls whose outcome is not known.
    pub reserved: u64,
}

/// A pin and whose tool it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinRecord {
    /// The upstream.
    pub upstream: String,
    /// The pin.
    pub pin: Pin,
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

/// A tool whose definition is not the one that callers are bound to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContractChange {
    /// The tool.
    pub tool: String,
    /// The digest that is pinned.
    pub before: Digest,
    /// The digest now.
    pub now: Digest,
}

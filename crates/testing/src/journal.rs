//! A journal with something put before its commits: faults, delays, a count.

use callgate_gateway::journal::{
    Answer, ApprovalFilter, Command, Counter, EventFilter, IntentFilter, Journal, JournalError, Ledger,
    PinRecord, Records,
};
use callgate_wire::{Approval, ApprovalRecord, Event, Incarnation, Intent, IntentRecord, Principal};

/// A journal whose commits pass a function first, which has the journal and may ask it or not.
#[derive(Debug)]
pub struct Interposed<J, F> {
    /// The journal itself.
    pub inner: J,
    before: F,
}

impl<J, F> Interposed<J, F>
where
    J: Journal,
    F: Fn(&J, Command) -> Result<Answer, JournalError> + Send + Sync,
{
    /// Puts `before` in front of the journal's commits.
    pub fn new(inner: J, before: F) -> Self {
        Interposed { inner, before }
    }
}

impl<J: Journal, F> Records for Interposed<J, F> {
    fn list(&self, filter: &IntentFilter) -> Result<Vec<Intent>, JournalError> {
        self.inner.list(filter)
    }
    fn show(&self, id_or_part: &str) -> Result<Option<IntentRecord>, JournalError> {
        self.inner.show(id_or_part)
    }
    fn approvals(&self, filter: &ApprovalFilter) -> Result<Vec<Approval>, JournalError> {
        self.inner.approvals(filter)
    }
    fn approval_record(&self, id_or_part: &str) -> Result<Option<ApprovalRecord>, JournalError> {
        self.inner.approval_record(id_or_part)
    }
    fn last_approved(
        &self,
        principal: &Principal,
        upstream: &str,
        tool: &str,
    ) -> Result<Option<ApprovalRecord>, JournalError> {
        self.inner.last_approved(principal, upstream, tool)
    }
    fn counters(&self) -> Result<Vec<Counter>, JournalError> {
        self.inner.counters()
    }
    fn pinned(&self, upstream: Option<&str>) -> Result<Vec<PinRecord>, JournalError> {
        self.inner.pinned(upstream)
    }
    fn history(&self, filter: &EventFilter) -> Result<Vec<Event>, JournalError> {
        self.inner.history(filter)
    }
}

impl<J, F> Ledger for Interposed<J, F>
where
    J: Journal,
    F: Fn(&J, Command) -> Result<Answer, JournalError> + Send + Sync,
{
    fn commit(&self, command: Command) -> Result<Answer, JournalError> {
        (self.before)(&self.inner, command)
    }
}

impl<J, F> Journal for Interposed<J, F>
where
    J: Journal,
    F: Fn(&J, Command) -> Result<Answer, JournalError> + Send + Sync,
{
    fn incarnation(&self) -> &Incarnation {
        self.inner.incarnation()
    }
}

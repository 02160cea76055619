//! The records as the commands of one transaction see them: what was read, with what they have changed of it.
//!
//! What most commands need is read for all of them at once, and what they change is written for all of them at once, so
//! that a batch costs two round trips whatever it holds. Whatever else a command asks for is read when it asks, after
//! what is pending has been written.

use std::collections::HashMap;

use callgate_gateway::JournalError;
use callgate_gateway::intent::Observation;
use callgate_gateway::journal::{Command, Counter, Effect, Pin, PublicationHead, ReceiptRow, Rows};
use callgate_schema::json::Digest;
use callgate_wire::{
    Approval, ApprovalId, ApprovalState, Charge, Incarnation, Intent, IntentId, Principal, Timestamp,
};
use tokio_postgres::Row;

use super::error::Failure;
use super::line::{Line, Params};
use super::pending::Pending;
use super::rows::{self, NO_WINDOW};
use super::sql::Query;
use super::text::stored;

/// By what a counter is known.
pub(super) type CounterKey = (String, String, i64);

pub(super) fn counter_key(charge: &Charge) -> CounterKey {
    (charge.budget.clone(), charge.scope.clone(), charge.window.map_or(NO_WINDOW, |at| at.0))
}

/// What was read so far, as it is now.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) lasts: HashMap<Incarnation, bool>,
    /// The lives whose leases have passed and that nobody has ended.
    pub(super) gone: Option<Vec<Incarnation>>,
    pub(super) intents: HashMap<IntentId, Option<Intent>>,
    pub(super) keys: HashMap<(Principal, String), Option<IntentId>>,
    pub(super) twins: HashMap<(Principal, Digest), Option<IntentId>>,
    pub(super) approvals: HashMap<ApprovalId, Option<Approval>>,
    /// The approvals of a call that are not used, whether or not they have expired, in the order of asking.
    pub(super) approvals_for: HashMap<(Principal, Digest), Vec<ApprovalId>>,
    pub(super) counters: HashMap<CounterKey, Option<Counter>>,
    pub(super) reservations: HashMap<IntentId, Vec<Charge>>,
}

/// One transaction's view of the records.
#[derive(Debug)]
pub(super) struct Batch<'a> {
    line: &'a Line,
    pub(super) known: Known,
    pub(super) pending: Pending,
    /// Where an operator decides: the moment at which an intent of a gate that is gone is taken for one in doubt, although
    /// no gate has taken it over yet.
    doubts_at: Option<Timestamp>,
    /// Whether something was written already.
    written: bool,
    /// Why the transaction cannot go on.
    failed: Option<Failure>,
}

impl<'a> Batch<'a> {
    pub(super) fn new(line: &'a Line, known: Known) -> Batch<'a> {
        Batch { line, known, pending: Pending::default(), doubts_at: None, written: false, failed: None }
    }

    /// The batch of an operator, whose commands come alone.
    pub(super) fn for_operator(self, command: &Command) -> Batch<'a> {
        let doubts_at = match command {
            Command::Reconcile(request) => Some(request.at),
            _ => None,
        };
        Batch { doubts_at, ..self }
    }

    /// Why the transaction cannot go on, if it cannot.
    pub(super) fn failure(&mut self) -> Option<Failure> {
        self.failed.take()
    }

    /// Whether the commands change anything.
    pub(super) fn wrote(&self) -> bool {
        self.written || !self.pending.is_empty()
    }

    /// What is to be written yet.
    pub(super) fn into_pending(self) -> (Known, Pending) {
        (self.known, self.pending)
    }

    /// Reads from the server, which first gets what is pending.
    fn read(&mut self, query: Query, params: Params<'_>) -> Result<Vec<Row>, JournalError> {
        self.write_pending()?;
        self.line.rows(query, params).map_err(|failure| self.fail(failure))
    }

    /// The one who runs the commands learns why; the command itself only that it is over.
    #[cold]
    pub(super) fn fail(&mut self, failure: Failure) -> JournalError {
        let told = JournalError::new(callgate_wire::Code::StoreUnavailable, "the transaction was broken off");
        self.failed = Some(failure);
        told
    }

    fn decode<T>(
        &mut self,
        rows: &[Row],
        decode: impl Fn(&Row) -> Result<T, Failure>,
    ) -> Result<Vec<T>, JournalError> {
        rows.iter().map(decode).collect::<Result<_, _>>().map_err(|failure| self.fail(failure))
    }

    fn read_intents(&mut self, query: Query, params: Params<'_>) -> Result<Vec<Intent>, JournalError> {
        let rows = self.read(query, params)?;
        let intents = self.decode(&rows, rows::intent)?;
        for intent in &intents {
            self.known.intents.insert(intent.id.clone(), Some(intent.clone()));
        }
        Ok(intents)
    }

    fn all_gone(&mut self) -> Result<Vec<Incarnation>, JournalError> {
        if let Some(gone) = &self.known.gone {
            return Ok(gone.clone());
        }
        let rows = self.read(Query::Gone, &[])?;
        let gone = self.decode(&rows, rows::incarnation)?;
        self.known.gone = Some(gone.clone());
        Ok(gone)
    }

    fn known_intent(&self, id: Option<&IntentId>) -> Option<Intent> {
        id.and_then(|id| self.known.intents.get(id)).cloned().flatten()
    }

    /// Makes a counter known.
    pub(super) fn counter(&mut self, charge: &Charge) -> Result<u64, JournalError> {
        let key = counter_key(charge);
        if !self.known.counters.contains_key(&key) {
            let (budget, scope) = (stored(&key.0).into_owned(), stored(&key.1).into_owned());
            let rows = self.read(Query::Counters, &[&vec![budget], &vec![scope], &vec![key.2]])?;
            let found = self.decode(&rows, rows::counter)?.pop();
            self.known.counters.insert(key.clone(), found);
        }
        let counter = self.known.counters.get(&key).and_then(Option::as_ref);
        Ok(counter.map_or(0, |counter| counter.committed.saturating_add(counter.reserved)))
    }

    /// Makes the reservations of an intent known, with their counters.
    pub(super) fn reservations(&mut self, intent: &IntentId) -> Result<(), JournalError> {
        if self.known.reservations.contains_key(intent) {
            return Ok(());
        }
        let rows = self.read(Query::Reservations, &[&vec![intent.as_str()]])?;
        self.known.reservations.insert(intent.clone(), Vec::new());
        self.known.learn_reservations(&rows).map_err(|failure| self.fail(failure))
    }

    /// Writes what is pending now, for an effect that must not meet it in one statement.
    pub(super) fn write_pending(&mut self) -> Result<(), JournalError> {
        let pending = std::mem::take(&mut self.pending);
        if pending.is_empty() {
            return Ok(());
        }
        self.written = true;
        let written = self.line.all(&pending.statements(&self.known));
        written.map_err(|failure| self.fail(failure))
    }
}

impl Known {
    /// Takes up rows of [`Query::Reservations`]. What is known of a counter already is newer than what was read.
    pub(super) fn learn_reservations(&mut self, rows: &[Row]) -> Result<(), Failure> {
        for row in rows {
            let intent: &str = rows::column(row, 0, "an intent's id")?;
            let intent = IntentId::parse(intent).map_err(|_| Failure::damaged("an intent's id"))?;
            let amount: i64 = rows::column(row, 1, "an amount")?;
            let amount = u64::try_from(amount).map_err(|_| Failure::damaged("an amount"))?;
            let counter = rows::counter_at(row, 2)?;
            let charge = Charge { amount, ..counter.charge.clone() };
            self.counters.entry(counter_key(&charge)).or_insert(Some(counter));
            self.reservations.entry(intent).or_default().push(charge);
        }
        Ok(())
    }
}

impl Rows for Batch<'_> {
    fn lasts(&mut self, incarnation: &Incarnation) -> Result<bool, JournalError> {
        if let Some(lasts) = self.known.lasts.get(incarnation) {
            return Ok(*lasts);
        }
        let rows = self.read(Query::Lease, &[&incarnation.as_str(), &0_f64])?;
        let lasts = self.decode(&rows, |row| rows::column(row, 0, "a lease"))?.pop().unwrap_or(false);
        self.known.lasts.insert(incarnation.clone(), lasts);
        Ok(lasts)
    }

    fn gone(&mut self, ours: &Incarnation) -> Result<Vec<Incarnation>, JournalError> {
        let mut gone = self.all_gone()?;
        gone.retain(|one| one != ours);
        Ok(gone)
    }

    fn intent(&mut self, id: &IntentId) -> Result<Option<Intent>, JournalError> {
        if let Some(known) = self.known.intents.get(id) {
            return Ok(known.clone());
        }
        let mut found = self.read_intents(Query::Intents, &[&vec![id.as_str()]])?.pop();
        if let (Some(intent), Some(at)) = (&mut found, self.doubts_at)
            && intent.settlement.is_none()
            && self.all_gone()?.contains(&intent.fence)
        {
            intent.settlement = Some(Observation::GateGone.settlement(intent.pinned, at));
        }
        self.known.intents.insert(id.clone(), found.clone());
        Ok(found)
    }

    fn tried_as(&mut self, request: &IntentId) -> Result<Option<Intent>, JournalError> {
        Ok(self.read_intents(Query::TriedAs, &[&request.as_str()])?.pop())
    }

    fn intent_of_key(&mut self, principal: &Principal, key: &str) -> Result<Option<Intent>, JournalError> {
        let of = (principal.clone(), key.to_owned());
        if let Some(id) = self.known.keys.get(&of) {
            return Ok(self.known_intent(id.as_ref()));
        }
        let (stored_principal, stored_key) = (stored(principal.as_str()), stored(key));
        let params: Params<'_> = &[&vec![stored_principal], &vec![stored_key]];
        let found = self.read_intents(Query::IntentsOfKeys, params)?.pop();
        self.known.keys.insert(of, found.as_ref().map(|intent| intent.id.clone()));
        Ok(found)
    }

    fn in_doubt_twin(
        &mut self,
        principal: &Principal,
        call_digest: Digest,
    ) -> Result<Option<Intent>, JournalError> {
        let of = (principal.clone(), call_digest);
        if let Some(id) = self.known.twins.get(&of) {
            return Ok(self.known_intent(id.as_ref()));
        }
        let params: Params<'_> = &[&vec![call_digest.to_string()], &vec![stored(principal.as_str())]];
        let found = self.read_intents(Query::Twins, params)?.pop();
        self.known.twins.insert(of, found.as_ref().map(|intent| intent.id.clone()));
        Ok(found)
    }

    /// Only those of lives that are gone: of the others nothing follows, and to look at them would be to stand in the way of
    /// every gate that opens a call.
    fn unsettled_twins(
        &mut self,
        principal: &Principal,
        call_digest: Digest,
        ours: &Incarnation,
    ) -> Result<Vec<Intent>, JournalError> {
        let gone = self.gone(ours)?;
        if gone.is_empty() {
            return Ok(Vec::new());
        }
        let gone: Vec<&str> = gone.iter().map(Incarnation::as_str).collect();
        let digest = call_digest.to_string();
        self.read_intents(Query::UnsettledTwins, &[&gone, &digest, &stored(principal.as_str())])
    }

    fn unsettled(&mut self, fence: &Incarnation) -> Result<Vec<Intent>, JournalError> {
        self.read_intents(Query::Unsettled, &[&fence.as_str()])
    }

    fn result(&mut self, id: &IntentId) -> Result<Option<Box<[u8]>>, JournalError> {
        let rows = self.read(Query::Result, &[&id.as_str()])?;
        let found = self.decode(&rows, |row| rows::column::<Option<Vec<u8>>>(row, 0, "a result"))?.pop();
        Ok(found.flatten().map(Into::into))
    }

    fn approval(&mut self, id: &ApprovalId) -> Result<Option<Approval>, JournalError> {
        if let Some(known) = self.known.approvals.get(id) {
            return Ok(known.clone());
        }
        let rows = self.read(Query::Approvals, &[&id.as_str()])?;
        let found = self.decode(&rows, rows::approval)?.pop();
        self.known.approvals.insert(id.clone(), found.clone());
        Ok(found)
    }

    fn approvals_for(
        &mut self,
        principal: &Principal,
        call_digest: Digest,
        now: Timestamp,
    ) -> Result<Vec<Approval>, JournalError> {
        let of = (principal.clone(), call_digest);
        if !self.known.approvals_for.contains_key(&of) {
            let params: Params<'_> = &[&vec![call_digest.to_string()], &vec![stored(principal.as_str())]];
            let rows = self.read(Query::ApprovalsFor, params)?;
            let found = self.decode(&rows, rows::approval)?;
            self.known.approvals_for.insert(of.clone(), Vec::new());
            self.known.learn_approvals(found);
        }
        let ids = self.known.approvals_for.get(&of).into_iter().flatten();
        let known = ids.filter_map(|id| self.known.approvals.get(id)?.as_ref());
        let good = |approval: &&Approval| approval.state != ApprovalState::Used && !approval.expired(now);
        Ok(known.filter(good).cloned().collect())
    }

    fn approvals_pending(&mut self, now: Timestamp) -> Result<u64, JournalError> {
        let rows = self.read(Query::ApprovalsPending, &[&now.0])?;
        let count = self.decode(&rows, |row| rows::column::<i64>(row, 0, "a number"))?.pop().unwrap_or(0);
        Ok(count.unsigned_abs())
    }

    fn used(&mut self, charge: &Charge) -> Result<u64, JournalError> {
        self.counter(charge)
    }

    fn publication(&mut self, upstream: &str) -> Result<Option<PublicationHead>, JournalError> {
        let rows = self.read(Query::Publication, &[&stored(upstream)])?;
        Ok(self.decode(&rows, rows::publication)?.pop())
    }

    fn receipt(&mut self, upstream: &str, publication: &str) -> Result<Option<ReceiptRow>, JournalError> {
        let rows = self.read(Query::Receipt, &[&stored(upstream), &stored(publication)])?;
        Ok(self.decode(&rows, rows::receipt)?.pop())
    }

    fn pins(&mut self, upstream: &str) -> Result<Vec<Pin>, JournalError> {
        let rows = self.read(Query::Pins, &[&stored(upstream)])?;
        self.decode(&rows, rows::pin)
    }

    fn apply(&mut self, effect: &Effect) -> Result<(), JournalError> {
        self.take(effect)
    }
}

impl Known {
    /// Takes up approvals of calls that are not used, in the order of asking.
    pub(super) fn learn_approvals(&mut self, approvals: Vec<Approval>) {
        for approval in approvals {
            let of = (approval.principal.clone(), approval.call_digest);
            self.approvals_for.entry(of).or_default().push(approval.id.clone());
            self.approvals.entry(approval.id.clone()).or_insert(Some(approval));
        }
    }
}

//! Records in memory: for tests, measurements, and apps that keep none. They end with the process.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use callgate_schema::json::Digest;
use callgate_wire::{
    Approval, ApprovalId, ApprovalRecord, ApprovalState, Charge, Code, Event, Incarnation, Intent, IntentId,
    IntentRecord, Principal, Timestamp,
};

use super::{
    AdmissionRow, Answer, ApprovalFilter, Command, Counter, Effect, EventFilter, IntentFilter, Journal,
    JournalError, Ledger, Pin, PinRecord, PublicationHead, ReceiptRow, Records, Rows,
};

/// Intents that are kept; beyond that the oldest that has ended is forgotten, and where none has, no more are taken.
pub const MEMORY_INTENTS_MAX: usize = 65_536;
/// Lines of the history that are kept.
pub const MEMORY_EVENTS_MAX: usize = 65_536;

/// Records in memory that several gates share.
#[derive(Debug, Clone, Default)]
pub struct MemoryStore {
    state: Arc<Mutex<State>>,
}

impl MemoryStore {
    /// Enters a new life of a gate.
    pub fn enter(&self, incarnation: Incarnation) -> MemoryJournal {
        self.state().lives.insert(incarnation.clone(), Life::Lasts);
        MemoryJournal { store: self.clone(), incarnation }
    }

    /// Notes that a life has ended without a word, or is taken to have.
    pub fn lose(&self, incarnation: &Incarnation) {
        self.state().lives.insert(incarnation.clone(), Life::Gone);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A command that panicked has not applied anything: it decides first.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How a life of a gate stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Life {
    Lasts,
    /// It has ended, and nobody has taken its intents over yet.
    Gone,
    Ended,
}

/// A journal in memory, of one gate.
#[derive(Debug)]
pub struct MemoryJournal {
    store: MemoryStore,
    incarnation: Incarnation,
}

impl MemoryJournal {
    /// An empty one of its own, for this life.
    pub fn new(incarnation: Incarnation) -> MemoryJournal {
        MemoryStore::default().enter(incarnation)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.store.state()
    }
}

/// The rows.
#[derive(Debug, Default)]
struct State {
    /// In the order of opening.
    intents: BTreeMap<u64, Row>,
    by_id: HashMap<IntentId, u64>,
    /// The last intent of each key.
    by_key: HashMap<(Principal, String), u64>,
    /// Those in doubt, by call.
    doubts: HashMap<(Principal, Digest), Vec<u64>>,
    next: u64,
    /// The request that made an intent's last try.
    tried_as: HashMap<IntentId, IntentId>,
    approvals: BTreeMap<ApprovalId, ApprovalRecord>,
    counters: HashMap<CounterName, Counter>,
    /// The names of the counters, the one that was charged last at the end.
    charged: Vec<CounterName>,
    reservations: HashMap<IntentId, Vec<Charge>>,
    publications: HashMap<String, (PublicationHead, Vec<ReceiptRow>, Vec<AdmissionRow>)>,
    pins: BTreeMap<(String, String), Pin>,
    events: VecDeque<Event>,
    lives: BTreeMap<Incarnation, Life>,
}

/// Budget, scope and window.
type CounterName = (String, String, Option<Timestamp>);

fn counter_name(charge: &Charge) -> CounterName {
    (charge.budget.clone(), charge.scope.clone(), charge.window)
}

#[derive(Debug)]
struct Row {
    record: IntentRecord,
    result: Option<Box<[u8]>>,
}

impl State {
    fn row(&self, id: &IntentId) -> Option<&Row> {
        self.by_id.get(id).and_then(|at| self.intents.get(at))
    }

    fn row_mut(&mut self, id: &IntentId) -> Result<&mut Row, JournalError> {
        let found = self.by_id.get(id).and_then(|at| self.intents.get_mut(at));
        found.ok_or_else(|| JournalError::new(Code::IntentNotFound, format!("there is no intent `{id}`")))
    }

    /// Keeps the list of doubts as the intent now is.
    fn index_doubt(&mut self, id: &IntentId) {
        let Some((at, row)) = self.by_id.get(id).and_then(|at| Some((*at, self.intents.get(at)?))) else {
            return;
        };
        let intent = &row.record.intent;
        let in_doubt = intent.in_doubt();
        let twins = self.doubts.entry((intent.principal.clone(), intent.call_digest)).or_default();
        twins.retain(|other| *other != at);
        if in_doubt {
            twins.push(at);
            twins.sort_unstable();
        }
        self.doubts.retain(|_, twins| !twins.is_empty());
    }

    fn add(&mut self, record: &IntentRecord) -> Result<(), JournalError> {
        if self.intents.len() >= MEMORY_INTENTS_MAX {
            self.forget_oldest()?;
        }
        let at = self.next;
        self.next += 1;
        let intent = &record.intent;
        self.by_id.insert(intent.id.clone(), at);
        if let Some(key) = &intent.key {
            self.by_key.insert((intent.principal.clone(), key.clone()), at);
        }
        self.intents.insert(at, Row { record: record.clone(), result: None });
        Ok(())
    }

    fn forget_oldest(&mut self) -> Result<(), JournalError> {
        let ended = |row: &Row| row.record.intent.settlement.is_some() && !row.record.intent.in_doubt();
        let Some(at) = self.intents.iter().find(|(_, row)| ended(row)).map(|(at, _)| *at) else {
            let message =
                format!("expected at most {MEMORY_INTENTS_MAX} calls under way or in doubt, found one more");
            return Err(JournalError::new(Code::StoreUnavailable, message));
        };
        if let Some(Row { record: IntentRecord { intent, .. }, .. }) = self.intents.remove(&at) {
            self.by_id.remove(&intent.id);
            self.reservations.remove(&intent.id);
            if let Some(key) = intent.key {
                let key = (intent.principal, key);
                if self.by_key.get(&key) == Some(&at) {
                    self.by_key.remove(&key);
                }
            }
        }
        Ok(())
    }

    fn reserve(&mut self, intent: &IntentId, charge: &Charge) {
        let name = counter_name(charge);
        self.charged.retain(|other| *other != name);
        self.charged.push(name.clone());
        let fresh = || Counter { charge: charge.clone(), committed: 0, reserved: 0 };
        let counter = self.counters.entry(name).or_insert_with(fresh);
        counter.charge = charge.clone();
        counter.reserved = counter.reserved.saturating_add(charge.amount);
        self.reservations.entry(intent.clone()).or_default().push(charge.clone());
    }

    fn end_reservations(&mut self, id: &IntentId, taken: bool) {
        for charge in self.reservations.remove(id).unwrap_or_default() {
            let Some(counter) = self.counters.get_mut(&counter_name(&charge)) else { continue };
            counter.reserved = counter.reserved.saturating_sub(charge.amount);
            if taken {
                counter.committed = counter.committed.saturating_add(charge.amount);
            }
        }
    }

    fn publish(
        &mut self,
        upstream: &str,
        head: &PublicationHead,
        receipt: &ReceiptRow,
        rows: &[AdmissionRow],
    ) {
        let entry = self.publications.entry(upstream.to_owned());
        let (known, receipts, admissions) = entry.or_insert_with(|| (head.clone(), Vec::new(), Vec::new()));
        *known = head.clone();
        receipts.push(receipt.clone());
        *admissions = rows.to_vec();
    }

    fn note(&mut self, event: &Event) {
        if self.events.len() >= MEMORY_EVENTS_MAX {
            self.events.pop_front();
        }
        self.events.push_back(event.clone());
    }
}

impl Rows for State {
    fn lasts(&mut self, incarnation: &Incarnation) -> Result<bool, JournalError> {
        // Its own store's clock never runs out, so that one that is gone lasts until somebody has taken over.
        Ok(matches!(self.lives.get(incarnation), Some(Life::Lasts | Life::Gone)))
    }

    fn gone(&mut self, ours: &Incarnation) -> Result<Vec<Incarnation>, JournalError> {
        let gone = self.lives.iter().filter(|(one, life)| **life == Life::Gone && *one != ours);
        Ok(gone.map(|(one, _)| one.clone()).collect())
    }

    fn intent(&mut self, id: &IntentId) -> Result<Option<Intent>, JournalError> {
        Ok(self.row(id).map(|row| row.record.intent.clone()))
    }

    fn tried_as(&mut self, request: &IntentId) -> Result<Option<Intent>, JournalError> {
        let tried = self.tried_as.get(request).and_then(|id| self.row(id));
        Ok(tried.map(|row| row.record.intent.clone()))
    }

    fn intent_of_key(&mut self, principal: &Principal, key: &str) -> Result<Option<Intent>, JournalError> {
        let at = self.by_key.get(&(principal.clone(), key.to_owned()));
        Ok(at.and_then(|at| self.intents.get(at)).map(|row| row.record.intent.clone()))
    }

    fn in_doubt_twin(
        &mut self,
        principal: &Principal,
        call_digest: Digest,
    ) -> Result<Option<Intent>, JournalError> {
        if self.doubts.is_empty() {
            return Ok(None);
        }
        let twins = self.doubts.get(&(principal.clone(), call_digest));
        let first = twins.and_then(|twins| twins.first()).and_then(|at| self.intents.get(at));
        Ok(first.map(|row| row.record.intent.clone()))
    }

    fn unsettled_twins(
        &mut self,
        principal: &Principal,
        call_digest: Digest,
        ours: &Incarnation,
    ) -> Result<Vec<Intent>, JournalError> {
        // One life alone has no others.
        if self.lives.len() < 2 {
            return Ok(Vec::new());
        }
        let intents = self.intents.values().map(|row| &row.record.intent);
        let twin = |intent: &&Intent| {
            intent.settlement.is_none()
                && intent.call_digest == call_digest
                && intent.principal == *principal
                && intent.fence != *ours
        };
        Ok(intents.filter(twin).cloned().collect())
    }

    fn unsettled(&mut self, fence: &Incarnation) -> Result<Vec<Intent>, JournalError> {
        let intents = self.intents.values().map(|row| &row.record.intent);
        Ok(intents.filter(|intent| intent.fence == *fence && intent.settlement.is_none()).cloned().collect())
    }

    fn result(&mut self, id: &IntentId) -> Result<Option<Box<[u8]>>, JournalError> {
        Ok(self.row(id).and_then(|row| row.result.clone()))
    }

    fn approval(&mut self, id: &ApprovalId) -> Result<Option<Approval>, JournalError> {
        Ok(self.approvals.get(id).map(|record| record.approval.clone()))
    }

    fn approvals_for(
        &mut self,
        principal: &Principal,
        call_digest: Digest,
        now: Timestamp,
    ) -> Result<Vec<Approval>, JournalError> {
        let approvals = self.approvals.values().map(|record| &record.approval);
        let good = |approval: &&Approval| {
            approval.principal == *principal
                && approval.call_digest == call_digest
                && approval.state != ApprovalState::Used
                && !approval.expired(now)
        };
        Ok(approvals.filter(good).cloned().collect())
    }

    fn approvals_pending(&mut self, now: Timestamp) -> Result<u64, JournalError> {
        let pending = |record: &&ApprovalRecord| {
            record.approval.state == ApprovalState::Pending && !record.approval.expired(now)
        };
        Ok(self.approvals.values().filter(pending).count() as u64)
    }

    fn used(&mut self, charge: &Charge) -> Result<u64, JournalError> {
        Ok(self
            .counters
            .get(&counter_name(charge))
            .map_or(0, |counter| counter.committed.saturating_add(counter.reserved)))
    }

    fn publication(&mut self, upstream: &str) -> Result<Option<PublicationHead>, JournalError> {
        Ok(self.publications.get(upstream).map(|(head, _, _)| head.clone()))
    }

    fn receipt(&mut self, upstream: &str, publication: &str) -> Result<Option<ReceiptRow>, JournalError> {
        let receipts = self.publications.get(upstream).map(|(_, receipts, _)| receipts);
        Ok(receipts
            .and_then(|receipts| receipts.iter().find(|receipt| receipt.publication == publication))
            .cloned())
    }

    fn pins(&mut self, upstream: &str) -> Result<Vec<Pin>, JournalError> {
        let pins = self.pins.iter().filter(|((of, _), _)| of == upstream);
        Ok(pins.map(|(_, pin)| pin.clone()).collect())
    }

    fn apply(&mut self, effect: &Effect) -> Result<(), JournalError> {
        match effect {
            Effect::AddIntent(record) => self.add(record)?,
            Effect::Retry { id, attempt, fence, request } => {
                self.tried_as.retain(|_, tried| tried != id);
                self.tried_as.insert(request.clone(), id.clone());
                let intent = &mut self.row_mut(id)?.record.intent;
                intent.attempt = *attempt;
                intent.fence = fence.clone();
                intent.settlement = None;
                intent.retry_permitted = false;
                self.index_doubt(id);
            }
            Effect::PermitRetry(id) => self.row_mut(id)?.record.intent.retry_permitted = true,
            Effect::SetSettlement { id, fence, settlement, result } => {
                let row = self.row_mut(id)?;
                let doubted = row.record.intent.in_doubt();
                row.record.intent.fence = fence.clone();
                row.record.intent.settlement = Some(settlement.clone());
                row.record.intent.retry_permitted &= settlement.in_doubt;
                row.result.clone_from(result);
                if doubted || settlement.in_doubt {
                    self.index_doubt(id);
                }
            }
            Effect::EndIncarnation { incarnation, .. } => {
                self.lives.insert(incarnation.clone(), Life::Ended);
            }
            Effect::AddApproval(record) => {
                self.approvals.insert(record.approval.id.clone(), (**record).clone());
            }
            Effect::SetApproval(approval) => {
                if let Some(record) = self.approvals.get_mut(&approval.id) {
                    record.approval = (**approval).clone();
                }
            }
            Effect::Reserve { intent, charge } => self.reserve(intent, charge),
            Effect::CommitReservations(id) => self.end_reservations(id, true),
            Effect::ReleaseReservations(id) => self.end_reservations(id, false),
            Effect::SetPublication { upstream, head, receipt, rows } => {
                self.publish(upstream, head, receipt, rows);
            }
            Effect::ForgetReceipts { upstream, kept } => {
                if let Some((_, receipts, _)) = self.publications.get_mut(upstream) {
                    let spare = receipts.len().saturating_sub(*kept as usize);
                    receipts.drain(..spare);
                }
            }
            Effect::SetPin { upstream, pin } => {
                self.pins.insert((upstream.clone(), pin.tool.clone()), pin.clone());
            }
            Effect::Note(event) => self.note(event),
        }
        Ok(())
    }
}

/// The only one whose id begins so or, where none does, ends so.
fn by_part<'a, T>(
    all: impl Iterator<Item = &'a T> + Clone,
    id: impl Fn(&T) -> &str,
    part: &str,
    ambiguous: Code,
) -> Result<Option<&'a T>, JournalError> {
    let begins: Vec<&T> = all.clone().filter(|one| id(one).starts_with(part)).take(2).collect();
    let found =
        if begins.is_empty() { all.filter(|one| id(one).ends_with(part)).take(2).collect() } else { begins };
    match found.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        _ => Err(JournalError::new(
            ambiguous,
            format!("expected a part of one id, found several with `{part}`"),
        )),
    }
}

impl Records for MemoryJournal {
    fn list(&self, filter: &IntentFilter) -> Result<Vec<Intent>, JournalError> {
        let state = self.state();
        let before = match &filter.before {
            Some(id) => state.by_id.get(id).copied().unwrap_or_default(),
            None => u64::MAX,
        };
        let newest = state.intents.range(..before).rev().map(|(_, row)| &row.record.intent);
        let wanted = newest.filter(|intent| !filter.in_doubt || intent.in_doubt());
        Ok(wanted.take(filter.limit as usize).cloned().collect())
    }

    fn show(&self, id_or_part: &str) -> Result<Option<IntentRecord>, JournalError> {
        let state = self.state();
        let records = state.intents.values().map(|row| &row.record);
        let found = by_part(records, |record| record.intent.id.as_str(), id_or_part, Code::IntentAmbiguous)?;
        Ok(found.cloned())
    }

    fn approvals(&self, filter: &ApprovalFilter) -> Result<Vec<Approval>, JournalError> {
        let state = self.state();
        let newest = state.approvals.values().rev().map(|record| &record.approval);
        let wanted = newest.filter(|approval| match filter.pending_at {
            Some(now) => approval.state == ApprovalState::Pending && !approval.expired(now),
            None => true,
        });
        Ok(wanted.take(filter.limit as usize).cloned().collect())
    }

    fn approval_record(&self, id_or_part: &str) -> Result<Option<ApprovalRecord>, JournalError> {
        let state = self.state();
        let records = state.approvals.values();
        let found =
            by_part(records, |record| record.approval.id.as_str(), id_or_part, Code::ApprovalAmbiguous)?;
        Ok(found.cloned())
    }

    fn last_approved(
        &self,
        principal: &Principal,
        upstream: &str,
        tool: &str,
    ) -> Result<Option<ApprovalRecord>, JournalError> {
        let state = self.state();
        let used = state.approvals.values().rev().find(|record| {
            let approval = &record.approval;
            approval.state == ApprovalState::Used
                && approval.principal == *principal
                && approval.upstream == upstream
                && approval.tool == tool
        });
        Ok(used.cloned())
    }

    fn counters(&self) -> Result<Vec<Counter>, JournalError> {
        let state = self.state();
        Ok(state.charged.iter().rev().filter_map(|name| state.counters.get(name)).cloned().collect())
    }

    fn pinned(&self, upstream: Option<&str>) -> Result<Vec<PinRecord>, JournalError> {
        let state = self.state();
        let wanted = state.pins.iter().filter(|((of, _), _)| upstream.is_none_or(|wanted| wanted == of));
        Ok(wanted
            .map(|((upstream, _), pin)| PinRecord { upstream: upstream.clone(), pin: pin.clone() })
            .collect())
    }

    fn history(&self, filter: &EventFilter) -> Result<Vec<Event>, JournalError> {
        let state = self.state();
        let about = |event: &&Event| filter.intent.is_none() || event.intent == filter.intent;
        Ok(state.events.iter().rev().filter(about).take(filter.limit as usize).cloned().collect())
    }
}

impl Ledger for MemoryJournal {
    fn commit(&self, command: Command) -> Result<Answer, JournalError> {
        command.run(&mut *self.state())
    }
}

impl Journal for MemoryJournal {
    fn incarnation(&self) -> &Incarnation {
        &self.incarnation
    }
}

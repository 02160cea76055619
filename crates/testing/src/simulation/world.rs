//! What the steps of a schedule happen to: callers, gates, a store, upstreams and operators.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex};

use callgate_gateway::intent::Observation;
use callgate_gateway::journal::{
    Answer, ApprovalFilter, Ask, Command, Committed, DecideRequest, Hold, IntentFilter, Journal as _,
    JournalError, Ledger as _, MemoryJournal, MemoryStore, OpenOutcome, OpenRequest, ReconcileRequest,
    Records as _, Verdict,
};
use callgate_schema::json::Digest;
use callgate_wire::{
    ApprovalId, Attempt, Charge, Code, Incarnation, Intent, IntentId, IntentRecord, Pinned, Principal,
    SideEffect, Timestamp,
};

use super::promises;
use super::schedule::{Kind, Step, Summary};
use crate::journal::Interposed;

/// Gates at once.
const GATES: usize = 3;
/// The most that the one budget takes.
pub(super) const LIMIT: u64 = 6;

type Commit = dyn Fn(&MemoryJournal, Command) -> Result<Answer, JournalError> + Send + Sync;
type FaultyJournal = Interposed<MemoryJournal, Box<Commit>>;

/// What befalls the next commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    /// It is not done.
    Before,
    /// It is done, and the gate is told otherwise.
    After,
}

/// A gate: a journal, and the calls that it has under way.
struct Gate {
    journal: FaultyJournal,
    fault: Arc<Mutex<Fault>>,
    flights: Vec<Flight>,
}

/// A call under way. It holds the journal's proof, as whoever sends bytes must.
struct Flight {
    proof: Box<Committed>,
    sent: bool,
    /// The gate has given up waiting; an answer may come late.
    late: bool,
}

/// A message on its way.
#[derive(Debug, Clone)]
struct Message {
    intent: IntentId,
    attempt: Attempt,
    gate: Incarnation,
    /// None on the way to the upstream, the answer on the way back.
    answer: Option<Observation>,
}

/// One effect at an upstream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Did {
    pub(super) intent: IntentId,
    pub(super) attempt: Attempt,
}

/// What was asked and answered, as a caller or operator knows it; the promises are about this.
#[derive(Default)]
pub(super) struct Ground {
    /// The proofs that were given, each of which may be used once.
    pub(super) proofs: Vec<(IntentId, Attempt)>,
    /// What took effect.
    pub(super) effects: Vec<Did>,
    /// Tries that operators permitted, by intent.
    pub(super) permitted: BTreeMap<IntentId, u32>,
    /// Calls whose tools were vouched for when one of them was made: they may be tried again by themselves.
    pub(super) vouched: HashSet<Digest>,
    /// The calls that need an approval, by intent.
    pub(super) need_approval: Vec<IntentId>,
    /// A call that may leave although an identical one is in doubt or its gate is gone.
    pub(super) left_beside_an_orphan: Option<IntentId>,
    /// An intent that a gate has settled after another one had taken it over.
    pub(super) settled_by_another: Option<IntentId>,
}

pub(super) struct World {
    pub(super) store: MemoryStore,
    /// Looks at the records; is no gate.
    pub(super) eye: MemoryJournal,
    pub(super) ground: Ground,
    gates: Vec<Gate>,
    wire: Vec<Message>,
    pub(super) now: i64,
    ids: u64,
    summary: Summary,
    told: String,
}

fn commit(fault: &Mutex<Fault>, journal: &MemoryJournal, command: Command) -> Result<Answer, JournalError> {
    let planned = fault.lock().map_or(Fault::None, |mut fault| std::mem::replace(&mut *fault, Fault::None));
    let down = || JournalError::new(Code::StoreUnavailable, "simulated");
    match planned {
        Fault::None => journal.commit(command),
        Fault::Before => Err(down()),
        Fault::After => journal.commit(command).and_then(|_| Err(down())),
    }
}

impl World {
    pub(super) fn new() -> World {
        let store = MemoryStore::default();
        let eye = store.enter(Incarnation::from_bytes([0xff; 16]));
        let mut world = World {
            store,
            eye,
            ground: Ground::default(),
            gates: Vec::new(),
            wire: Vec::new(),
            now: 1_000,
            ids: 0,
            summary: Summary { schedules: 1, ..Summary::default() },
            told: String::new(),
        };
        world.start();
        world
    }

    /// What happened in the last step.
    pub(super) fn told(&self) -> &str {
        &self.told
    }

    /// Takes one step, and looks whether all promises still hold.
    pub(super) fn step(&mut self, step: Step) -> Result<(), String> {
        self.told.clear();
        match step.kind {
            Kind::Call => self.call(step),
            Kind::Send => self.send(step),
            Kind::Serve => self.serve(step),
            Kind::Arrive => self.arrive(step),
            Kind::TimeOut => self.time_out(step),
            Kind::Cancel => self.cancel(step),
            Kind::Crash => self.crash(step),
            Kind::Suspect => self.suspect(step),
            Kind::Start => self.start(),
            Kind::Decide => self.decide(step),
            Kind::Reconcile => self.reconcile(step),
            Kind::Clock => self.now += i64::from(step.a % 400) - 100,
        }
        self.summary.steps += u64::from(!self.told.is_empty());
        promises::hold(self)
    }

    /// All gates end, a last one takes over, and everything that was dispatched and not answered is listed as in doubt.
    pub(super) fn end(mut self) -> Result<Summary, String> {
        while !self.gates.is_empty() {
            self.lose_gate(0);
        }
        self.start();
        promises::hold(&self)?;
        promises::nothing_is_left_open(&self)?;
        Ok(self.summary)
    }

    fn id(&mut self) -> [u8; 16] {
        self.ids += 1;
        u128::from(self.ids).to_be_bytes()
    }

    fn start(&mut self) {
        if self.gates.len() >= GATES {
            return;
        }
        let incarnation = Incarnation::from_bytes(self.id());
        let fault = Arc::new(Mutex::new(Fault::None));
        let planned = Arc::clone(&fault);
        let before: Box<Commit> = Box::new(move |journal, command| commit(&planned, journal, command));
        let journal = Interposed::new(self.store.enter(incarnation), before);
        let recovered = journal.recover(Timestamp(self.now)).unwrap_or_default();
        self.summary.doubts += recovered.iter().filter(|intent| intent.in_doubt()).count() as u64;
        self.told = format!("a gate starts and takes over {}", recovered.len());
        self.gates.push(Gate { journal, fault, flights: Vec::new() });
    }

    /// The gate that a number chooses, with a fault for its next commit one time in eight.
    fn gate(&mut self, step: Step) -> Option<usize> {
        let at = pick(step.a, self.gates.len())?;
        let fault = match step.c % 16 {
            0 => Fault::Before,
            1 => Fault::After,
            _ => Fault::None,
        };
        self.summary.faults += u64::from(fault != Fault::None);
        if let Some(gate) = self.gates.get(at)
            && let Ok(mut planned) = gate.fault.lock()
        {
            *planned = fault;
        }
        Some(at)
    }

    fn call(&mut self, step: Step) {
        let Some(at) = self.gate(step) else { return };
        let (id, approval) = (self.id(), step.b.is_multiple_of(3));
        let Some(gate) = self.gates.get(at) else { return };
        let record = record(id, step, self.now, gate.journal.incarnation());
        let intent = record.intent.id.clone();
        let ask = approval.then(|| Ask {
            id: ApprovalId::of(&intent),
            rules_digest: Digest::default(),
            rules: vec!["ask".to_owned()],
            expires_at: Timestamp(self.now + 500),
        });
        let charges = vec![Charge {
            budget: "b".to_owned(),
            scope: String::new(),
            window: Some(Timestamp(self.now.div_euclid(1_000))),
            resets_at: None,
            amount: u64::from(step.c % 3),
            limit: LIMIT,
        }];
        let doubted = self.doubted(&record.intent);
        if record.intent.pinned.repeatable() {
            self.ground.vouched.insert(record.intent.call_digest);
        }
        let Some(gate) = self.gates.get(at) else { return };
        let outcome = gate.journal.open(OpenRequest { record, ask, charges, again: false });
        self.told = match &outcome {
            Ok(OpenOutcome::Go(proof)) => format!("{} may leave", proof.intent().id),
            Ok(other) => format!("{intent}: {other:?}"),
            Err(_) => format!("{intent}: the store fails"),
        };
        match outcome {
            Ok(OpenOutcome::Go(proof)) => {
                self.summary.opened += 1;
                let opened = proof.intent();
                self.summary.retries += u64::from(opened.attempt > Attempt::FIRST);
                self.summary.approvals +=
                    u64::from(opened.approval.is_some() && opened.attempt == Attempt::FIRST);
                if doubted && opened.attempt == Attempt::FIRST {
                    self.ground.left_beside_an_orphan = Some(opened.id.clone());
                }
                if approval && opened.attempt == Attempt::FIRST {
                    self.ground.need_approval.push(opened.id.clone());
                }
                self.ground.proofs.push((opened.id.clone(), opened.attempt));
                if let Some(gate) = self.gates.get_mut(at) {
                    gate.flights.push(Flight { proof, sent: false, late: false });
                }
            }
            Ok(OpenOutcome::Held(hold)) => {
                self.summary.held += 1;
                // A gate that is told that another has taken over from it ends.
                if hold == Hold::Fenced {
                    self.lose_gate(at);
                }
            }
            Ok(OpenOutcome::Known(..)) | Err(_) => {}
        }
    }

    /// Whether an identical call is in doubt, or has no outcome and its gate is gone, and may not be made twice.
    fn doubted(&self, intent: &Intent) -> bool {
        if intent.pinned.repeatable() {
            return false;
        }
        let intents = self.eye.list(&IntentFilter::last(u32::MAX)).unwrap_or_default();
        let lives = |fence: &Incarnation| self.gates.iter().any(|gate| gate.journal.incarnation() == fence);
        intents.iter().any(|other| {
            other.call_digest == intent.call_digest
                && !other.pinned.repeatable()
                && (other.in_doubt() || (other.settlement.is_none() && !lives(&other.fence)))
        })
    }

    fn send(&mut self, step: Step) {
        let Some(at) = pick(step.a, self.gates.len()) else { return };
        let Some(gate) = self.gates.get_mut(at) else { return };
        let mut waiting: Vec<&mut Flight> = gate.flights.iter_mut().filter(|flight| !flight.sent).collect();
        let Some(which) = pick(step.b, waiting.len()) else { return };
        let Some(flight) = waiting.get_mut(which) else { return };
        flight.sent = true;
        let intent = flight.proof.intent();
        self.told = format!("{} is sent", intent.id);
        if !step.c.is_multiple_of(8) {
            self.wire.push(Message {
                intent: intent.id.clone(),
                attempt: intent.attempt,
                gate: gate.journal.incarnation().clone(),
                answer: None,
            });
        }
    }

    fn serve(&mut self, step: Step) {
        let coming: Vec<usize> = (0..self.wire.len())
            .filter(|at| self.wire.get(*at).is_some_and(|message| message.answer.is_none()))
            .collect();
        let Some(at) = pick(step.a, coming.len()).and_then(|which| coming.get(which).copied()) else {
            return;
        };
        let answer = match step.b % 8 {
            0 => Observation::RpcError,
            1 => Observation::AnswerUnreadable,
            2 => Observation::ResultTooLarge { bytes: 1 },
            _ => Observation::Result { is_error: step.b.is_multiple_of(5), bytes: 1, breaks_output: false },
        };
        let Some(message) = self.wire.get_mut(at) else { return };
        message.answer = Some(answer);
        // An error can come before anything was done, or after.
        if answer != Observation::RpcError || step.c.is_multiple_of(2) {
            let did = Did { intent: message.intent.clone(), attempt: message.attempt };
            self.told = format!("{} takes effect", did.intent);
            self.ground.effects.push(did);
            self.summary.effects += 1;
        }
    }

    fn arrive(&mut self, step: Step) {
        let answers: Vec<usize> = (0..self.wire.len())
            .filter(|at| self.wire.get(*at).is_some_and(|message| message.answer.is_some()))
            .collect();
        let Some(at) = pick(step.a, answers.len()).and_then(|which| answers.get(which).copied()) else {
            return;
        };
        let Some(message) = self.wire.get(at).cloned() else { return };
        // One time in eight it comes once more later, one time in eight it is lost.
        if !step.b.is_multiple_of(8) {
            self.wire.remove(at);
        }
        if step.b % 8 == 1 {
            return;
        }
        let Some(gate) = self.gates.iter_mut().find(|gate| *gate.journal.incarnation() == message.gate)
        else {
            return;
        };
        if let Ok(mut planned) = gate.fault.lock() {
            *planned = if step.c.is_multiple_of(16) { Fault::Before } else { Fault::None };
        }
        let known = gate.flights.iter().position(|flight| {
            flight.sent
                && flight.proof.intent().id == message.intent
                && flight.proof.intent().attempt == message.attempt
        });
        let (Some(which), Some(answer)) = (known, message.answer) else { return };
        let flight = gate.flights.remove(which);
        self.told = format!("{} is answered: {}", message.intent, answer.description());
        settle(&self.eye, &mut self.ground, gate, flight.proof.intent(), answer, self.now);
    }

    fn time_out(&mut self, step: Step) {
        let Some(at) = self.gate(step) else { return };
        let Some(gate) = self.gates.get_mut(at) else { return };
        let mut out: Vec<&mut Flight> =
            gate.flights.iter_mut().filter(|flight| flight.sent && !flight.late).collect();
        let Some(which) = pick(step.b, out.len()) else { return };
        let Some(flight) = out.get_mut(which) else { return };
        flight.late = true;
        let intent = flight.proof.intent().clone();
        self.told = format!("{} is given up", intent.id);
        self.summary.doubts +=
            u64::from(settle(&self.eye, &mut self.ground, gate, &intent, Observation::Timeout, self.now));
    }

    fn cancel(&mut self, step: Step) {
        let Some(at) = self.gate(step) else { return };
        let Some(gate) = self.gates.get_mut(at) else { return };
        let Some(which) = pick(step.b, gate.flights.len()) else { return };
        let flight = gate.flights.remove(which);
        let intent = flight.proof.intent().clone();
        let observation = if flight.sent {
            Observation::CancelledAfterDispatch
        } else {
            Observation::CancelledBeforeDispatch
        };
        self.told = format!("{}: {}", intent.id, observation.description());
        settle(&self.eye, &mut self.ground, gate, &intent, observation, self.now);
    }

    fn crash(&mut self, step: Step) {
        if let Some(at) = pick(step.a, self.gates.len()) {
            self.told.push_str("a gate ends without a word");
            self.summary.crashes += 1;
            self.lose_gate(at);
        }
    }

    fn lose_gate(&mut self, at: usize) {
        let gate = self.gates.remove(at);
        self.store.lose(gate.journal.incarnation());
    }

    /// The gate goes on with what it has, and whoever starts next takes over from it.
    fn suspect(&mut self, step: Step) {
        let Some(gate) = pick(step.a, self.gates.len()).and_then(|at| self.gates.get(at)) else { return };
        self.told.push_str("a gate is taken to be gone");
        self.store.lose(gate.journal.incarnation());
    }

    fn decide(&mut self, step: Step) {
        let filter = ApprovalFilter { limit: 100, pending_at: Some(Timestamp(self.now)) };
        let pending = self.eye.approvals(&filter).unwrap_or_default();
        let Some(approval) = pick(step.a, pending.len()).and_then(|at| pending.get(at)) else { return };
        let approve = !step.b.is_multiple_of(4);
        let command = Command::Decide(DecideRequest {
            id: approval.id.clone(),
            approve,
            by: "operator".to_owned(),
            reason: None,
            at: Timestamp(self.now),
            expires_at: Timestamp(self.now + i64::from(step.c % 600)),
        });
        self.told = format!("{} {}", if approve { "approved" } else { "denied" }, approval.id);
        // It was pending at this very moment, so nothing can be said against it.
        let _ = self.eye.commit(command);
    }

    fn reconcile(&mut self, step: Step) {
        let filter = IntentFilter { in_doubt: true, ..IntentFilter::last(100) };
        let doubts = self.eye.list(&filter).unwrap_or_default();
        let Some(intent) = pick(step.a, doubts.len()).and_then(|at| doubts.get(at)) else { return };
        let happened = self.ground.effects.iter().any(|did| did.intent == intent.id);
        let verdict = match step.b % 3 {
            0 => Verdict::Retry,
            1 => Verdict::Abandon,
            _ => Verdict::Adopt(if happened { SideEffect::Done } else { SideEffect::None }),
        };
        if verdict == Verdict::Retry && !intent.retry_permitted {
            *self.ground.permitted.entry(intent.id.clone()).or_default() += 1;
        }
        self.told = format!("{}: {verdict:?}", intent.id);
        let command = Command::Reconcile(ReconcileRequest {
            id: intent.id.clone(),
            verdict,
            by: "operator".to_owned(),
            reason: "simulated".to_owned(),
            at: Timestamp(self.now),
        });
        let _ = self.eye.commit(command);
    }
}

/// Records an outcome; whether the store took it.
fn settle(
    eye: &MemoryJournal,
    ground: &mut Ground,
    gate: &Gate,
    intent: &Intent,
    observation: Observation,
    now: i64,
) -> bool {
    let settlement = observation.settlement(intent.pinned, Timestamp(now));
    let before = eye.show(intent.id.as_str()).ok().flatten();
    let taken = before.is_some_and(|record| record.intent.fence != *gate.journal.incarnation());
    let recorded = gate.journal.settle(&intent.id, &settlement, Some(Box::from(&b"1"[..]))).is_ok();
    if recorded && taken {
        ground.settled_by_another = Some(intent.id.clone());
    }
    recorded
}

/// One of `count`, if there is one.
fn pick(number: u32, count: usize) -> Option<usize> {
    (number as usize).checked_rem(count)
}

/// Few different calls, so that the same one is made often.
fn record(id: [u8; 16], step: Step, now: i64, fence: &Incarnation) -> IntentRecord {
    let arguments = [b'0' + u8::try_from(step.b % 4).unwrap_or_default()];
    let key = (step.c.is_multiple_of(5)).then(|| format!("k{}", step.c % 3));
    let intent = Intent {
        id: IntentId::from_bytes(id),
        opened_at: Timestamp(now),
        principal: Principal::local("ada"),
        run: None,
        upstream: "u".to_owned(),
        tool: "t".to_owned(),
        contract_digest: Digest::default(),
        arguments_digest: Digest::default(),
        call_digest: Digest::of("call", &[&arguments]),
        key,
        approval: None,
        pinned: Pinned { read_only: step.b.is_multiple_of(7), idempotent: step.b.is_multiple_of(11) },
        attempt: Attempt::FIRST,
        fence: fence.clone(),
        retry_permitted: false,
        settlement: None,
    };
    IntentRecord { intent, arguments: Box::from(arguments) }
}

//! What a check has in hand.

use std::fmt::Debug;
use std::str::FromStr as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use callgate_schema::json::Digest;
use callgate_wire::{
    ApprovalId, Attempt, Charge, Incarnation, Intent, IntentId, IntentRecord, Pinned, Principal, Settlement,
    Timestamp,
};

use super::{Fault, Hooks, THREADS};
use crate::intent::Observation;
use crate::journal::{
    AdmissionRow, Answer, Ask, Command, DecideRequest, IntentFilter, Journal, Ledger, OpenRequest, Opened,
    PublishRequest, PublishedTool, ReconcileRequest, Verdict,
};

/// When everything happens, unless a check says otherwise.
pub(super) const NOW: Timestamp = Timestamp(1_764_547_200_000);
/// The last moment of approvals.
pub(super) const LATER: Timestamp = Timestamp(1_764_633_600_000);
/// All intents that a check can have opened.
pub(super) const ALL: IntentFilter = IntentFilter { limit: 10_000, in_doubt: false, before: None };
/// A result as most are.
pub(super) const RESULT: Observation =
    Observation::Result { is_error: false, bytes: 7, breaks_output: false };

static NEXT: AtomicU64 = AtomicU64::new(1);

/// Bytes that no other id of this process has, and that grow.
fn bytes() -> [u8; 16] {
    let mut bytes = [0x4b; 16];
    let number = NEXT.fetch_add(1, Ordering::Relaxed).to_be_bytes();
    for (to, from) in bytes.iter_mut().skip(8).zip(number) {
        *to = from;
    }
    bytes
}

/// The digest with this number.
pub(super) fn digest(number: u64) -> Result<Digest, Fault> {
    Digest::from_str(&format!("{number:064x}")).map_err(|error| Fault::Found(format!("{error:?}")))
}

/// `found` must be `wanted`.
#[expect(clippy::needless_pass_by_value, reason = "what is compared is made for that alone")]
pub(super) fn expect<T: Debug + PartialEq>(what: &str, found: T, wanted: T) -> Result<(), Fault> {
    if found == wanted {
        Ok(())
    } else {
        Err(Fault::Found(format!("{what}: expected {wanted:?}, found {found:?}")))
    }
}

/// This must hold.
pub(super) fn hold(what: &str, holds: bool) -> Result<(), Fault> {
    if holds { Ok(()) } else { Err(Fault::Found(format!("it does not hold: {what}"))) }
}

/// Does the same thing on every thread at once, and gives what each found.
pub(super) fn together<T: Send>(act: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let found = Mutex::new(Vec::new());
    let act = &act;
    std::thread::scope(|scope| {
        for number in 0..THREADS {
            let found = &found;
            scope.spawn(move || {
                let one = act(number);
                found.lock().unwrap_or_else(PoisonError::into_inner).push(one);
            });
        }
    });
    found.into_inner().unwrap_or_else(PoisonError::into_inner)
}

impl Hooks<'_> {
    /// A gate with a new life.
    pub(super) fn new_gate(&self) -> Result<Box<dyn Journal>, Fault> {
        Ok((self.gate)(Incarnation::from_bytes(bytes()))?)
    }

    /// A gate beside others or after them, on the same records.
    pub(super) fn another_gate(&self) -> Result<Box<dyn Journal>, Fault> {
        if self.durable { self.new_gate() } else { Err(Fault::Lacks("records that outlast a gate")) }
    }

    pub(super) fn new_operator(&self) -> Result<Box<dyn Ledger>, Fault> {
        let open = self.operator.as_ref().ok_or(Fault::Lacks("a way in for operators"))?;
        Ok(open()?)
    }

    pub(super) fn lose_gate(&self, gate: &dyn Journal) -> Result<(), Fault> {
        let lose = self.lose.as_ref().ok_or(Fault::Lacks("lives that end without a word"))?;
        Ok(lose(gate.incarnation())?)
    }

    pub(super) fn while_failing(&self, act: &mut dyn FnMut()) -> Result<(), Fault> {
        let failing = self.failing.as_ref().ok_or(Fault::Lacks("commits that fail"))?;
        Ok(failing(act)?)
    }
}

/// A call as a check wants it.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) record: IntentRecord,
    pub(super) asks: bool,
    pub(super) charges: Vec<Charge>,
}

/// A call that wants to leave through this gate; calls with the same number are the same call.
pub(super) fn call(gate: &dyn Journal, number: u64) -> Result<Call, Fault> {
    let arguments = format!("{{ \"n\" : {number}.0 }}");
    let intent = Intent {
        id: IntentId::from_bytes(bytes()),
        opened_at: NOW,
        principal: Principal::local("ada"),
        run: None,
        upstream: "bank".to_owned(),
        tool: "pay".to_owned(),
        contract_digest: digest(1)?,
        arguments_digest: digest(number)?,
        call_digest: digest(number)?,
        key: None,
        approval: None,
        pinned: Pinned::default(),
        attempt: Attempt::FIRST,
        fence: gate.incarnation().clone(),
        retry_permitted: false,
        settlement: None,
    };
    let record = IntentRecord { intent, arguments: arguments.into_bytes().into() };
    Ok(Call { record, asks: false, charges: Vec::new() })
}

/// So much of the budget `b`, of which there are 100.
pub(super) fn charge(amount: u64) -> Charge {
    Charge { budget: "b".to_owned(), scope: String::new(), window: None, resets_at: None, amount, limit: 100 }
}

impl Call {
    pub(super) fn id(&self) -> &IntentId {
        &self.record.intent.id
    }

    pub(super) fn with_key(mut self, key: &str) -> Call {
        self.record.intent.key = Some(key.to_owned());
        self
    }

    pub(super) fn of(mut self, user: &str) -> Call {
        self.record.intent.principal = Principal::local(user);
        self
    }

    pub(super) fn pinned_read_only(mut self) -> Call {
        self.record.intent.pinned.read_only = true;
        self
    }

    pub(super) fn asking(mut self) -> Call {
        self.asks = true;
        self
    }

    pub(super) fn charging(mut self, amount: u64) -> Call {
        self.charges.push(charge(amount));
        self
    }

    fn request(&self) -> Result<OpenRequest, Fault> {
        let rules_digest = digest(7)?;
        let ask = self.asks.then(|| Ask {
            id: ApprovalId::of(self.id()),
            rules_digest,
            rules: vec!["a \"rule\"".to_owned(), "another".to_owned()],
            expires_at: LATER,
        });
        Ok(OpenRequest { record: self.record.clone(), ask, charges: self.charges.clone(), again: false })
    }

    /// Asks whether it may leave.
    pub(super) fn open(&self, gate: &dyn Journal) -> Result<Opened, Fault> {
        match gate.commit(Command::Open(Box::new(self.request()?)))? {
            Answer::Opened(opened) => Ok(*opened),
            other => Err(Fault::Found(format!("an answer to another command: {other:?}"))),
        }
    }

    /// Leaves.
    pub(super) fn go(&self, gate: &dyn Journal) -> Result<Intent, Fault> {
        match self.open(gate)? {
            Opened::Go(intent) => Ok(intent),
            other => Err(Fault::Found(format!("a call that may leave: {other:?}"))),
        }
    }
}

/// What an observation of a tool that is not pinned leads to.
pub(super) fn settlement(observation: Observation) -> Settlement {
    observation.settlement(Pinned::default(), NOW)
}

/// An operator's decision about the request that this call made.
pub(super) fn decision(asked: &Call, approve: bool, by: &str) -> Command {
    Command::Decide(DecideRequest {
        id: ApprovalId::of(asked.id()),
        approve,
        by: by.to_owned(),
        reason: Some("looked at it".to_owned()),
        at: NOW,
        expires_at: LATER,
    })
}

/// What an operator says of an intent.
pub(super) fn reconciliation(id: &IntentId, verdict: Verdict) -> Command {
    let (by, reason) = ("operator".to_owned(), "asked the bank".to_owned());
    Command::Reconcile(ReconcileRequest { id: id.clone(), verdict, by, reason, at: LATER })
}

/// A publication of tools, each with the number of its definition.
pub(super) fn publication(
    id: &str,
    expected: Option<u64>,
    tools: &[(&str, u64)],
) -> Result<PublishRequest, Fault> {
    let tool = |(name, number): &(&str, u64)| {
        let contract_digest = Some(digest(*number)?);
        let row = AdmissionRow { tool: (*name).to_owned(), contract_digest, code: None, detail: None };
        Ok(PublishedTool { row, definition: format!("{{\"n\": {number}}}").into_bytes().into() })
    };
    Ok(PublishRequest {
        upstream: "bank".to_owned(),
        publication: id.to_owned(),
        expected,
        strict: false,
        tools: tools.iter().map(tool).collect::<Result<_, Fault>>()?,
        by: "gate".to_owned(),
        at: NOW,
    })
}

/// What the budget `b` stands at: taken for good, and reserved.
pub(super) fn budget(records: &(impl Ledger + ?Sized)) -> Result<(u64, u64), Fault> {
    let counters = records.counters()?;
    let of_b = counters.iter().find(|counter| counter.charge.budget == "b");
    Ok(of_b.map_or((0, 0), |counter| (counter.committed, counter.reserved)))
}

/// The intent as it is recorded.
pub(super) fn stored(records: &(impl Ledger + ?Sized), id: &IntentId) -> Result<Intent, Fault> {
    let record = records.show(id.as_str())?;
    record.map(|record| record.intent).ok_or_else(|| Fault::Found(format!("no intent {id}")))
}

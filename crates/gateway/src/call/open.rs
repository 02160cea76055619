//! The intent is written: from here on the call owns its bytes and can wait for the journal.

use std::sync::Arc;

use callgate_wire::{
    ApprovalId, Attempt, Charge, Code, Incarnation, Intent, IntentId, IntentRecord, SideEffect, Stage,
    Timestamp,
};

use super::{Authorized, Bound, Dispatch};
use crate::catalog::AdmittedTool;
use crate::journal::{Ask, Hold, Journal, OpenOutcome, OpenRequest};
use crate::policy::Decision;
use crate::{Committed, JournalError, Refusal};

/// What the world gives to an intent: ids, the time, and what the caller and the operator add.
#[derive(Debug, Clone)]
pub struct Terms {
    /// A fresh id for the intent.
    pub id: IntentId,
    /// The gate's life.
    pub fence: Incarnation,
    /// Now.
    pub at: Timestamp,
    /// The caller's key by which the same call is known again, if it gave one.
    pub key: Option<String>,
    /// What the call takes from budgets.
    pub charges: Vec<Charge>,
    /// A fresh id for the request for an approval, should one have to be made.
    pub approval: ApprovalId,
    /// The last moment of that request.
    pub approval_expires_at: Timestamp,
}

impl Terms {
    /// Those of a call that needs nothing but its record.
    pub fn new(id: IntentId, fence: Incarnation, at: Timestamp) -> Terms {
        // An approval's id never meets an intent's, and a call has at most one of each.
        let approval = ApprovalId::of(&id);
        Terms { id, fence, at, key: None, charges: Vec::new(), approval, approval_expires_at: at }
    }
}

/// A call whose intent is written down but not known to be durable: nothing of it may leave yet.
#[derive(Debug)]
pub struct Opening {
    pub(super) request: OpenRequest,
    pub(super) tool: Arc<AdmittedTool>,
    decision: Decision,
    reason: Option<String>,
}

/// What became of a call at the journal.
#[derive(Debug)]
pub enum Departure {
    /// It may leave.
    Go(Box<Dispatch>),
    /// The same call with the same key has run: this is its intent, and its result where that was kept.
    Known(Box<Intent>, Option<Box<[u8]>>),
}

impl Authorized<'_> {
    /// Writes the intent, with the arguments byte for byte as they were checked.
    pub fn open(self, terms: Terms) -> Opening {
        let ask = self.asks().map(|(rules_digest, rules)| Ask {
            id: terms.approval,
            rules_digest,
            rules,
            expires_at: terms.approval_expires_at,
        });
        let Authorized { bound, decision, pins, reason } = self;
        let Bound { call, upstream, tool, arguments, arguments_digest, call_digest } = bound;
        let intent = Intent {
            id: terms.id,
            opened_at: terms.at,
            principal: call.principal.clone(),
            run: call.run.map(str::to_owned),
            upstream,
            tool: tool.name.clone(),
            contract_digest: tool.contract_digest,
            arguments_digest,
            call_digest,
            key: terms.key,
            approval: None,
            pinned: pins.pinned(),
            attempt: Attempt::FIRST,
            fence: terms.fence,
            retry_permitted: false,
            settlement: None,
        };
        let record = IntentRecord { intent, arguments: arguments.into_text() };
        let request = OpenRequest { record, ask, charges: terms.charges, again: false };
        Opening { request, tool, decision, reason }
    }
}

impl Opening {
    /// What the journal has to make durable.
    pub fn record(&self) -> &IntentRecord {
        &self.request.record
    }

    /// Why the call may be made.
    pub fn decision(&self) -> &Decision {
        &self.decision
    }

    /// Asks the journal whether the call may leave: its approval, what it takes from budgets and its record are one
    /// transaction. Blocks until that is durable.
    ///
    /// # Errors
    ///
    /// A refusal, with `approval-required` and the like, `budget-exceeded`, `call-in-doubt`, the codes of keys, or those of
    /// the store; in that case with the store's own error, for the log.
    pub fn commit(self, journal: &dyn Journal) -> Result<Departure, (Box<Refusal>, Option<JournalError>)> {
        match journal.open(self.request.clone()) {
            Ok(OpenOutcome::Go(committed)) => Ok(Departure::Go(Box::new(self.durable(*committed)))),
            Ok(OpenOutcome::Known(intent, result)) => Ok(Departure::Known(intent, result)),
            Ok(OpenOutcome::Held(hold @ Hold::ApprovalPending { .. })) => {
                let mut refusal = held(&hold).with_determining(self.decision.determining);
                if let (Some(reason), Some(help)) = (self.reason, &refusal.help) {
                    refusal.help = Some(format!("{help} ({reason})"));
                }
                Err((Box::new(refusal), None))
            }
            Ok(OpenOutcome::Held(hold)) => Err((Box::new(held(&hold)), None)),
            Err(error) => Err((Box::new(unrecorded(&error)), Some(error))),
        }
    }

    /// Goes on with the journal's proof.
    ///
    /// # Panics
    ///
    /// If the proof is that of another call, which would let a call leave that nothing durable speaks of.
    pub fn durable(self, committed: Committed) -> Dispatch {
        let Committed { intent } = committed;
        let Opening { request: OpenRequest { record, .. }, tool, .. } = self;
        let wanted = &record.intent;
        let same = intent.call_digest == wanted.call_digest
            && intent.principal == wanted.principal
            && intent.fence == wanted.fence;
        assert!(same, "the proof is for this call");
        Dispatch::new(IntentRecord { intent, arguments: record.arguments }, tool)
    }
}

fn unrecorded(error: &JournalError) -> Refusal {
    Refusal::new(error.code(), "the call could not be recorded, and nothing is sent without a record")
        .with_help("the operator of the gate has to look at its store; the same call may pass then")
}

/// The journal's no in words that a model can act on.
pub fn held(hold: &Hold) -> Refusal {
    match hold {
        Hold::Fenced => Refusal::new(Code::IntentFenced, "another gate has taken over from this one")
            .in_stage(Stage::Open)
            .with_help("the gate has to be started again"),
        Hold::InDoubt(id) => {
            let message = format!("nobody knows yet whether the same call took effect (intent `{id}`)");
            Refusal::new(Code::CallInDoubt, message).with_help(
                "do not repeat it in other words; ask an operator to settle it with `callgate intents`",
            )
        }
        Hold::KeyInFlight(id) => {
            let message = format!("the call with this idempotency key is not answered yet (intent `{id}`)");
            Refusal::new(Code::KeyInFlight, message).with_help("wait, and make the same call again")
        }
        Hold::KeyConflict(id) => {
            let message = format!("the idempotency key belongs to another call (intent `{id}`)");
            Refusal::new(Code::KeyConflict, message).with_help("give this call a key of its own")
        }
        Hold::ApprovalPending { id, asked, .. } => {
            let asked = if *asked { "is asked" } else { "has been asked already" };
            let message = format!("a person has to approve this call, and {asked} (approval `{id}`)");
            Refusal::new(Code::ApprovalRequired, message)
                .with_help("make the same call again, unchanged, once it is approved")
                .with_approval(id.clone())
        }
        Hold::ApprovalDenied(id) => {
            Refusal::new(Code::ApprovalDenied, format!("a person has denied this call (approval `{id}`)"))
                .with_help("do not make it again; find another way, or ask what would be permitted")
        }
        Hold::ApprovalsFull => Refusal::new(Code::ApprovalsFull, "too many calls wait for a person")
            .with_help("wait until some are decided"),
        Hold::BudgetExceeded { charge, used } => {
            let Charge { budget, amount, limit, .. } = charge;
            let message =
                format!("expected at most {limit} in the budget `{budget}`, found {used} and {amount} more");
            let help = match charge.resets_at {
                Some(_) => "wait until the budget resets, or do without this call",
                None => "do without this call; only an operator can raise the budget",
            };
            Refusal::new(Code::BudgetExceeded, message).with_help(help)
        }
    }
}

/// What a caller is told who comes again with the key of a call that has run and whose result is not kept.
pub fn repeated(intent: &Intent) -> Refusal {
    let effect = match intent.settlement.as_ref().map(|settlement| settlement.side_effect) {
        Some(SideEffect::Done) => "has run",
        _ => "may have run",
    };
    let message = format!("this call {effect} already (intent `{}`), and its result is not kept", intent.id);
    Refusal::new(Code::CallRepeated, message).with_help("it is not run again; look at what it did")
}

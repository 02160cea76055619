//! Whether a call may leave. Approval, reservation and the record of its try are one transaction, in this order, so that
//! none of them is ever there without the others.

use callgate_wire::{Attempt, Event, EventKind, Intent, IntentId, SideEffect};

use crate::JournalError;
use crate::approval::{Standing, standing};
use crate::journal::{Answer, Effect, Hold, OpenRequest, Opened, Rows};

/// Decides about a call that wants to leave.
pub(crate) fn open(
    rows: &mut dyn Rows,
    request: &OpenRequest,
) -> Result<(Answer, Vec<Effect>), JournalError> {
    let mut effects = Vec::new();
    let opened = decide(rows, request, &mut effects)?;
    Ok((Answer::Opened(Box::new(opened)), effects))
}

fn decide(
    rows: &mut dyn Rows,
    request: &OpenRequest,
    effects: &mut Vec<Effect>,
) -> Result<Opened, JournalError> {
    let intent = &request.record.intent;
    assert!(intent.settlement.is_none(), "what is opened has no outcome yet");
    if !rows.lasts(&intent.fence)? {
        return Ok(Opened::Held(Hold::Fenced));
    }
    if let Some(opened) = opened_before(rows, request)? {
        return Ok(Opened::Go(opened));
    }
    if let Some(known) = known_by_key(rows, intent)? {
        return Ok(known);
    }
    if let Some(twin) = rows.in_doubt_twin(&intent.principal, intent.call_digest)? {
        // What an operator vouches for now counts, not what they did when the call left.
        if twin.retry_permitted || intent.pinned.repeatable() {
            return Ok(Opened::Go(retry(twin, intent, effects)));
        }
        return Ok(Opened::Held(Hold::InDoubt(twin.id)));
    }
    if let Some(twin) = orphaned_twin(rows, intent)? {
        return Ok(Opened::Held(Hold::InDoubt(twin)));
    }
    let mut record = request.record.clone();
    if let Some(ask) = &request.ask {
        match standing(rows, &request.record, ask, effects)? {
            Standing::Granted(approval) => {
                effects.push(Effect::Note(Event {
                    at: intent.opened_at,
                    kind: EventKind::ApprovalUsed,
                    intent: Some(intent.id.clone()),
                    approval: Some(approval.clone()),
                    by: intent.fence.to_string(),
                    detail: None,
                }));
                record.intent.approval = Some(approval);
            }
            Standing::Held(hold) => return Ok(Opened::Held(hold)),
        }
    }
    for charge in &request.charges {
        let used = rows.used(charge)?;
        if !charge.fits(used) {
            // An approval is not used up by a call that does not leave.
            effects.clear();
            return Ok(Opened::Held(Hold::BudgetExceeded { charge: charge.clone(), used }));
        }
    }
    let opened = record.intent.clone();
    effects.push(Effect::AddIntent(Box::new(record)));
    let reserve = |charge| Effect::Reserve { intent: opened.id.clone(), charge };
    effects.extend(request.charges.iter().cloned().map(reserve));
    Ok(Opened::Go(opened))
}

/// An identical call whose gate is gone and that nobody has taken over yet: it is in doubt, though nothing says so, unless
/// an operator vouches that its tool may be called twice.
fn orphaned_twin(rows: &mut dyn Rows, intent: &Intent) -> Result<Option<IntentId>, JournalError> {
    if intent.pinned.repeatable() {
        return Ok(None);
    }
    let twins = rows.unsettled_twins(&intent.principal, intent.call_digest, &intent.fence)?;
    if twins.iter().all(|twin| twin.pinned.repeatable()) {
        return Ok(None);
    }
    let gone = rows.gone(&intent.fence)?;
    let orphan = twins.into_iter().find(|twin| !twin.pinned.repeatable() && gone.contains(&twin.fence));
    Ok(orphan.map(|twin| twin.id))
}

/// The intent of a request that was made before and whose answer was lost, if that recorded it: a new one, or one more try of
/// a call in doubt.
fn opened_before(rows: &mut dyn Rows, request: &OpenRequest) -> Result<Option<Intent>, JournalError> {
    let intent = &request.record.intent;
    if !request.again {
        return Ok(None);
    }
    let known = match rows.intent(&intent.id)? {
        Some(known) => Some(known),
        None => rows.tried_as(&intent.id)?,
    };
    Ok(known.filter(|known| known.fence == intent.fence && known.settlement.is_none()))
}

/// What the caller's key says: the key belongs to the last call with it, unless that one surely had no effect.
fn known_by_key(rows: &mut dyn Rows, intent: &Intent) -> Result<Option<Opened>, JournalError> {
    let Some(key) = &intent.key else { return Ok(None) };
    let Some(known) = rows.intent_of_key(&intent.principal, key)? else { return Ok(None) };
    if known.settlement.as_ref().is_some_and(|settlement| settlement.side_effect == SideEffect::None) {
        return Ok(None);
    }
    if known.call_digest != intent.call_digest {
        return Ok(Some(Opened::Held(Hold::KeyConflict(known.id))));
    }
    Ok(match &known.settlement {
        None => Some(Opened::Held(Hold::KeyInFlight(known.id))),
        // Whether it may be tried again is for the look at twins to say.
        Some(settlement) if settlement.in_doubt => None,
        Some(_) => {
            let result = rows.result(&known.id)?;
            Some(Opened::Known(known, result))
        }
    })
}

/// One more try of a call in doubt, which an operator permits, for this once or for the tool. What it took from budgets is still reserved, and what
/// approval it had is used for this call and no other.
fn retry(twin: Intent, asked: &Intent, effects: &mut Vec<Effect>) -> Intent {
    let attempt = Attempt(twin.attempt.0.saturating_add(1));
    let (id, fence, at) = (twin.id.clone(), asked.fence.clone(), asked.opened_at);
    effects.push(Effect::Retry { id: id.clone(), attempt, fence: fence.clone(), request: asked.id.clone() });
    effects.push(Effect::Note(Event {
        at,
        kind: EventKind::IntentRetried,
        intent: Some(id),
        approval: None,
        by: fence.to_string(),
        detail: Some(format!("try {}", attempt.0)),
    }));
    Intent { attempt, fence, settlement: None, retry_permitted: false, ..twin }
}

//! An operator says what is to become of an intent in doubt.

use callgate_wire::{Code, Event, EventKind, Intent, IntentState, Settlement, SideEffect};

use super::record::reservations;
use crate::JournalError;
use crate::journal::{Answer, Effect, ReconcileRequest, Rows, Verdict};

/// Does what the operator says, if the intent is in doubt.
pub(crate) fn reconcile(
    rows: &mut dyn Rows,
    request: &ReconcileRequest,
) -> Result<(Answer, Vec<Effect>), JournalError> {
    let ReconcileRequest { id, verdict, by, reason, at } = request;
    let Some(intent) = rows.intent(id)? else {
        return Err(JournalError::new(Code::IntentNotFound, format!("there is no intent `{id}`")));
    };
    let permitted = *verdict == Verdict::Retry && intent.retry_permitted;
    if permitted || intent.settlement.as_ref().is_some_and(|known| said_before(known, request)) {
        return Ok((Answer::Reconciled(Box::new(intent)), Vec::new()));
    }
    let Some(known) = intent.settlement.as_ref().filter(|settlement| settlement.in_doubt) else {
        let message = format!("the intent `{id}` is {}, and not in doubt", intent.state());
        return Err(JournalError::new(Code::IntentNotInDoubt, message));
    };
    let (settlement, kind) = match verdict {
        Verdict::Adopt(side_effect) => {
            let state = match side_effect {
                SideEffect::None => IntentState::Refused,
                SideEffect::Done | SideEffect::Unknown => IntentState::Settled,
            };
            (ended(known, state, *side_effect, request), EventKind::IntentAdopted)
        }
        Verdict::Abandon => {
            (ended(known, IntentState::Failed, SideEffect::Unknown, request), EventKind::IntentAbandoned)
        }
        Verdict::Retry => (known.clone(), EventKind::IntentRetryPermitted),
    };
    let mut effects = match verdict {
        Verdict::Retry => vec![Effect::PermitRetry(id.clone())],
        Verdict::Adopt(_) | Verdict::Abandon => {
            let set = Effect::SetSettlement {
                id: id.clone(),
                fence: intent.fence.clone(),
                settlement: settlement.clone(),
                result: None,
            };
            std::iter::once(set).chain(reservations(id, &settlement)).collect()
        }
    };
    effects.push(Effect::Note(Event {
        at: *at,
        kind,
        intent: Some(id.clone()),
        approval: None,
        by: by.clone(),
        detail: Some(reason.clone()),
    }));
    let retry_permitted = *verdict == Verdict::Retry;
    let intent = Intent { settlement: Some(settlement), retry_permitted, ..intent };
    Ok((Answer::Reconciled(Box::new(intent)), effects))
}

/// Whether this very request has ended the doubt, and its answer was lost. To permit a try twice permits one.
fn said_before(known: &Settlement, request: &ReconcileRequest) -> bool {
    let wanted = match request.verdict {
        Verdict::Adopt(side_effect) => side_effect,
        Verdict::Abandon => SideEffect::Unknown,
        Verdict::Retry => return false,
    };
    !known.in_doubt && known.at == request.at && known.side_effect == wanted && known.code.is_some()
}

/// The code stays: it says why there was a doubt.
fn ended(
    known: &Settlement,
    state: IntentState,
    side_effect: SideEffect,
    request: &ReconcileRequest,
) -> Settlement {
    Settlement { state, side_effect, in_doubt: false, at: request.at, ..known.clone() }
}

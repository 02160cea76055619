//! The outcome of a call is recorded, and its reservations follow.

use callgate_wire::{Code, Incarnation, Intent, IntentId, Settlement, SideEffect};

use super::{Transition, settle};
use crate::JournalError;
use crate::journal::{Answer, Effect, Rows};

/// Records what is known of an intent's end.
pub(crate) fn record(
    rows: &mut dyn Rows,
    id: &IntentId,
    fence: &Incarnation,
    settlement: &Settlement,
    result: Option<&[u8]>,
) -> Result<(Answer, Vec<Effect>), JournalError> {
    let Some(intent) = rows.intent(id)? else {
        return Err(JournalError::new(Code::IntentNotFound, format!("there is no intent `{id}`")));
    };
    if intent.fence != *fence {
        let message = format!("the gate `{}` has taken over the intent `{id}`", intent.fence);
        return Err(JournalError::new(Code::IntentFenced, message));
    }
    Ok((Answer::Settled, effects(&intent, fence, settlement, result)))
}

/// What recording a settlement does, which may be nothing.
pub(super) fn effects(
    intent: &Intent,
    fence: &Incarnation,
    settlement: &Settlement,
    result: Option<&[u8]>,
) -> Vec<Effect> {
    if settle(intent.settlement.as_ref(), settlement) == Transition::Keep {
        return Vec::new();
    }
    let result = result.filter(|_| intent.key.is_some()).map(Into::into);
    let mut effects = vec![Effect::SetSettlement {
        id: intent.id.clone(),
        fence: fence.clone(),
        settlement: settlement.clone(),
        result,
    }];
    effects.extend(reservations(&intent.id, settlement));
    effects
}

/// What becomes of the reservations: kept while it is in doubt, given back if nothing happened, else taken.
pub(super) fn reservations(id: &IntentId, settlement: &Settlement) -> Option<Effect> {
    match (settlement.in_doubt, settlement.side_effect) {
        (true, _) => None,
        (false, SideEffect::None) => Some(Effect::ReleaseReservations(id.clone())),
        (false, SideEffect::Done | SideEffect::Unknown) => Some(Effect::CommitReservations(id.clone())),
    }
}

//! The intents of gates that are gone are taken over and classified.

use callgate_wire::{Event, EventKind, Incarnation, Timestamp};

use super::{Observation, record};
use crate::JournalError;
use crate::journal::{Answer, Effect, Rows};

/// Takes over for the life `fence`.
pub(crate) fn recover(
    rows: &mut dyn Rows,
    fence: &Incarnation,
    at: Timestamp,
) -> Result<(Answer, Vec<Effect>), JournalError> {
    let (mut recovered, mut effects) = (Vec::new(), Vec::new());
    for gone in rows.gone(fence)? {
        for mut intent in rows.unsettled(&gone)? {
            let settlement = Observation::GateGone.settlement(intent.pinned, at);
            effects.extend(record::effects(&intent, fence, &settlement, None));
            effects.push(Effect::Note(Event {
                at,
                kind: EventKind::IntentRecovered,
                intent: Some(intent.id.clone()),
                approval: None,
                by: fence.to_string(),
                detail: Some(format!("from {gone}")),
            }));
            intent.fence = fence.clone();
            intent.settlement = Some(settlement);
            recovered.push(intent);
        }
        effects.push(Effect::EndIncarnation { incarnation: gone, at });
    }
    Ok((Answer::Recovered(recovered), effects))
}

//! An operator accepts a changed contract: the definition that was held becomes the one that callers are bound to.

use callgate_wire::{Code, Event, EventKind};

use crate::JournalError;
use crate::journal::{AcceptRequest, Answer, Effect, Pin, Rows};

/// Accepts the definition with exactly this digest.
pub(crate) fn accept(
    rows: &mut dyn Rows,
    request: &AcceptRequest,
) -> Result<(Answer, Vec<Effect>), JournalError> {
    let AcceptRequest { upstream, tool, digest, by, at } = request;
    let pins = rows.pins(upstream)?;
    let not_held = |found: &str| {
        let message = format!("expected a change of `{tool}` that waits to be accepted, found {found}");
        JournalError::new(Code::ContractNotHeld, message)
    };
    let pin = pins.into_iter().find(|pin| pin.tool == *tool).ok_or_else(|| not_held("no such tool"))?;
    if pin.digest == *digest && pin.accepted_by.as_ref() == Some(by) && pin.pinned_at == *at {
        // The same acceptance once more, since its answer was lost.
        return Ok((Answer::Accepted, Vec::new()));
    }
    let held = pin.held.ok_or_else(|| not_held("none"))?;
    if held.digest != *digest {
        return Err(not_held("a later one"));
    }
    let pin = Pin {
        tool: pin.tool,
        digest: held.digest,
        definition: held.definition,
        pinned_at: *at,
        accepted_by: Some(by.clone()),
        held: None,
    };
    let event = Event {
        at: *at,
        kind: EventKind::ContractAccepted,
        intent: None,
        approval: None,
        by: by.clone(),
        detail: Some(format!("{upstream} {tool} {digest}")),
    };
    let upstream = upstream.clone();
    Ok((Answer::Accepted, vec![Effect::SetPin { upstream, pin }, Effect::Note(event)]))
}

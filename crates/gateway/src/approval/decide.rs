//! What an operator's decision does.

use callgate_wire::{Approval, ApprovalState, Code, Decision, Event, EventKind};

use crate::JournalError;
use crate::journal::{Answer, DecideRequest, Effect, Rows};

/// Decides about one request, which must wait for a decision and not have expired.
pub(crate) fn decide(
    rows: &mut dyn Rows,
    request: &DecideRequest,
) -> Result<(Answer, Vec<Effect>), JournalError> {
    let DecideRequest { id, approve, by, reason, at, expires_at } = request;
    let Some(known) = rows.approval(id)? else {
        return Err(JournalError::new(Code::ApprovalNotFound, format!("there is no approval `{id}`")));
    };
    let decision = Decision { at: *at, by: by.clone(), reason: reason.clone() };
    let wanted = if *approve { ApprovalState::Approved } else { ApprovalState::Denied };
    if known.state == wanted && known.decision.as_ref() == Some(&decision) {
        // The same decision once more, since its answer was lost.
        return Ok((Answer::Decided(Box::new(known)), Vec::new()));
    }
    if known.state != ApprovalState::Pending {
        let message = format!("the approval `{id}` is {} already", known.state);
        return Err(JournalError::new(Code::ApprovalNotPending, message));
    }
    if known.expired(*at) {
        let message = format!("the approval `{id}` has expired; the call has to be made anew");
        return Err(JournalError::new(Code::ApprovalExpired, message));
    }
    let (kind, expires_at) = if *approve {
        (EventKind::ApprovalGranted, *expires_at)
    } else {
        // A denial lasts as long as the request would have: the same call does not ask again before that.
        (EventKind::ApprovalDenied, known.expires_at)
    };
    let approval = Approval { state: wanted, decision: Some(decision), expires_at, ..known };
    let effects = vec![
        Effect::SetApproval(Box::new(approval.clone())),
        Effect::Note(Event {
            at: *at,
            kind,
            intent: None,
            approval: Some(id.clone()),
            by: by.clone(),
            detail: reason.clone(),
        }),
    ];
    Ok((Answer::Decided(Box::new(approval)), effects))
}

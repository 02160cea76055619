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
    if known.state != ApprovalState::Pending {
        let message = format!("the approval `{id}` is {} already", known.state);
        return Err(JournalError::new(Code::ApprovalNotPending, message));
    }
    if known.expired(*at) {
        let message = format!("the approval `{id}` has expired; the call has to be made anew");
        return Err(JournalError::new(Code::ApprovalExpired, message));
    }
    let (state, kind, expires_at) = if *approve {
        (ApprovalState::Approved, EventKind::ApprovalGranted, *expires_at)
    } else {
        // A denial lasts as long as the request would have: the same call does not ask again before that.
        (ApprovalState::Denied, EventKind::ApprovalDenied, known.expires_at)
    };
    let decision = Some(Decision { at: *at, by: by.clone(), reason: reason.clone() });
    let approval = Approval { state, decision, expires_at, ..known };
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

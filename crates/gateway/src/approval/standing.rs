//! Whether a call that needs an approval has one.

use callgate_wire::{Approval, ApprovalId, ApprovalRecord, ApprovalState, Event, EventKind, IntentRecord};

use super::APPROVALS_PENDING_MAX;
use crate::JournalError;
use crate::journal::{Ask, Effect, Hold, Rows};

/// How a call stands that needs an approval.
#[derive(Debug)]
pub(crate) enum Standing {
    /// It has this one, which it uses up.
    Granted(ApprovalId),
    /// It has none.
    Held(Hold),
}

/// Looks for an approval of this very call under these very rules; makes a request for one where there is none.
pub(crate) fn standing(
    rows: &mut dyn Rows,
    record: &IntentRecord,
    ask: &Ask,
    effects: &mut Vec<Effect>,
) -> Result<Standing, JournalError> {
    let intent = &record.intent;
    let now = intent.opened_at;
    let mut known = rows.approvals_for(&intent.principal, intent.call_digest, now)?;
    known.retain(|approval| approval.rules_digest == ask.rules_digest && approval.run == intent.run);
    for wanted in [ApprovalState::Approved, ApprovalState::Pending, ApprovalState::Denied] {
        let Some(approval) = known.iter().find(|approval| approval.state == wanted) else { continue };
        let id = approval.id.clone();
        return Ok(match wanted {
            ApprovalState::Approved => {
                let used_by = Some(intent.id.clone());
                let used = Approval { state: ApprovalState::Used, used_by, ..approval.clone() };
                effects.push(Effect::SetApproval(Box::new(used)));
                Standing::Granted(id)
            }
            ApprovalState::Pending => {
                let expires_at = approval.expires_at;
                // Made by this very request, if it comes again since its answer was lost.
                let asked = id == ask.id;
                Standing::Held(Hold::ApprovalPending { id, expires_at, asked })
            }
            ApprovalState::Denied | ApprovalState::Used => Standing::Held(Hold::ApprovalDenied(id)),
        });
    }
    if rows.approvals_pending(now)? >= APPROVALS_PENDING_MAX {
        return Ok(Standing::Held(Hold::ApprovalsFull));
    }
    effects.extend(request(record, ask));
    let (id, expires_at) = (ask.id.clone(), ask.expires_at);
    Ok(Standing::Held(Hold::ApprovalPending { id, expires_at, asked: true }))
}

fn request(record: &IntentRecord, ask: &Ask) -> [Effect; 2] {
    let intent = &record.intent;
    let approval = Approval {
        id: ask.id.clone(),
        asked_at: intent.opened_at,
        expires_at: ask.expires_at,
        principal: intent.principal.clone(),
        run: intent.run.clone(),
        upstream: intent.upstream.clone(),
        tool: intent.tool.clone(),
        contract_digest: intent.contract_digest,
        arguments_digest: intent.arguments_digest,
        call_digest: intent.call_digest,
        rules_digest: ask.rules_digest,
        rules: ask.rules.clone(),
        state: ApprovalState::Pending,
        decision: None,
        used_by: None,
    };
    let event = Event {
        at: intent.opened_at,
        kind: EventKind::ApprovalAsked,
        intent: None,
        approval: Some(ask.id.clone()),
        by: intent.fence.to_string(),
        detail: None,
    };
    let arguments = record.arguments.clone();
    [Effect::AddApproval(Box::new(ApprovalRecord { approval, arguments })), Effect::Note(event)]
}

//! What must hold after every step of a schedule.

use std::collections::HashMap;

use callgate_gateway::journal::{ApprovalFilter, IntentFilter, Records as _};
use callgate_wire::{ApprovalState, Attempt, Intent, IntentId, IntentState, SideEffect};

use super::world::{LIMIT, World};

const ALL: u32 = u32::MAX;

/// The first promise that does not hold.
pub(super) fn hold(world: &World) -> Result<(), String> {
    let intents = world.eye.list(&IntentFilter::last(ALL)).map_err(|error| error.to_string())?;
    let by_id: HashMap<&IntentId, &Intent> = intents.iter().map(|intent| (&intent.id, intent)).collect();
    no_intent_is_lost(world, &by_id)?;
    no_effect_twice(world, &by_id)?;
    what_is_settled_happened(world, &intents)?;
    no_twin_of_an_orphan_leaves(world)?;
    a_key_is_one_call(&intents)?;
    no_gate_settles_what_was_taken_from_it(world)?;
    no_budget_is_overspent(world)?;
    no_approval_is_used_twice(world, &by_id)
}

/// Every proof that was given speaks of an intent that is there, and no proof was given twice.
fn no_intent_is_lost(world: &World, by_id: &HashMap<&IntentId, &Intent>) -> Result<(), String> {
    for (at, (id, attempt)) in world.ground.proofs.iter().enumerate() {
        let Some(intent) = by_id.get(id) else {
            return Err(format!("the intent {id} may leave and is not recorded"));
        };
        if intent.attempt < *attempt {
            return Err(format!("try {} of {id} may leave and is not recorded", attempt.0));
        }
        if world.ground.proofs.iter().take(at).any(|before| before == &(id.clone(), *attempt)) {
            return Err(format!("try {} of {id} may leave twice", attempt.0));
        }
    }
    Ok(())
}

/// One effect a try, and one try but for those that an operator permits, for one call or for a tool.
fn no_effect_twice(world: &World, by_id: &HashMap<&IntentId, &Intent>) -> Result<(), String> {
    for (at, did) in world.ground.effects.iter().enumerate() {
        if !by_id.contains_key(&did.intent) {
            return Err(format!("{} took effect and is not recorded", did.intent));
        }
        if world.ground.effects.iter().take(at).any(|before| before == did) {
            return Err(format!("try {} of {} took effect twice", did.attempt.0, did.intent));
        }
    }
    for (id, intent) in by_id {
        let permitted = world.ground.permitted.get(*id).copied().unwrap_or_default();
        if world.ground.vouched.contains(&intent.call_digest) {
            continue;
        }
        if intent.attempt.0 > Attempt::FIRST.0 + permitted {
            return Err(format!("{id} was tried {} times, {permitted} of them permitted", intent.attempt.0));
        }
    }
    Ok(())
}

/// What is recorded as done was done, and what is recorded as without an effect was not, but for tools that are vouched for.
fn what_is_settled_happened(world: &World, intents: &[Intent]) -> Result<(), String> {
    for intent in intents {
        let Some(settlement) = &intent.settlement else { continue };
        let happened = world.ground.effects.iter().any(|did| did.intent == intent.id);
        match (settlement.state, settlement.side_effect) {
            (IntentState::Settled, SideEffect::Done) if !happened => {
                return Err(format!("{} is recorded as done and was not", intent.id));
            }
            // An operator may have looked before the message arrived, as a person would; a doubt has a code.
            (_, SideEffect::None)
                if happened
                    && !intent.pinned.read_only
                    && settlement.code.is_none()
                    && !world.ground.permitted.contains_key(&intent.id) =>
            {
                return Err(format!("{} is recorded as without an effect and had one", intent.id));
            }
            _ => {}
        }
        if settlement.in_doubt && settlement.state != IntentState::Open {
            return Err(format!("{} is in doubt and {}", intent.id, settlement.state));
        }
    }
    Ok(())
}

fn no_twin_of_an_orphan_leaves(world: &World) -> Result<(), String> {
    match &world.ground.left_beside_an_orphan {
        Some(id) => Err(format!("{id} may leave although nobody knows what became of an identical call")),
        None => Ok(()),
    }
}

/// Of the calls with one key only the last one had an effect or may have one, but for those of tools that are vouched for.
fn a_key_is_one_call(intents: &[Intent]) -> Result<(), String> {
    for (at, later) in intents.iter().enumerate() {
        let Some(key) = &later.key else { continue };
        // The last one opened comes first.
        for before in intents.iter().skip(at + 1).filter(|before| before.key.as_ref() == Some(key)) {
            let surely_none = |intent: &Intent| {
                intent.settlement.as_ref().is_some_and(|known| known.side_effect == SideEffect::None)
            };
            if !surely_none(before) && !before.pinned.read_only {
                return Err(format!(
                    "{} and {} have the key {key}, and both may have an effect",
                    before.id, later.id
                ));
            }
        }
    }
    Ok(())
}

fn no_gate_settles_what_was_taken_from_it(world: &World) -> Result<(), String> {
    match &world.ground.settled_by_another {
        Some(id) => Err(format!("{id} was taken over, and its former gate has settled it")),
        None => Ok(()),
    }
}

fn no_budget_is_overspent(world: &World) -> Result<(), String> {
    for counter in world.eye.counters().map_err(|error| error.to_string())? {
        let sum = counter.committed + counter.reserved;
        if sum > LIMIT {
            return Err(format!("{sum} of {LIMIT} are taken or reserved"));
        }
    }
    Ok(())
}

fn no_approval_is_used_twice(world: &World, by_id: &HashMap<&IntentId, &Intent>) -> Result<(), String> {
    let filter = ApprovalFilter { limit: ALL, pending_at: None };
    let approvals = world.eye.approvals(&filter).map_err(|error| error.to_string())?;
    for id in &world.ground.need_approval {
        let Some(intent) = by_id.get(id) else { continue };
        let Some(used) = &intent.approval else { return Err(format!("{id} left without an approval")) };
        let approval = approvals.iter().find(|approval| approval.id == *used);
        match approval {
            Some(approval)
                if approval.state == ApprovalState::Used && approval.used_by.as_ref() == Some(id) => {}
            other => return Err(format!("{id} left with the approval {other:?}")),
        }
        if approval.is_some_and(|approval| approval.call_digest != intent.call_digest) {
            return Err(format!("{id} left with an approval of another call"));
        }
    }
    Ok(())
}

/// After all gates have gone and one has taken over: whatever was let out and has no outcome is in doubt, and listed so.
pub(super) fn nothing_is_left_open(world: &World) -> Result<(), String> {
    let all = world.eye.list(&IntentFilter::last(ALL)).map_err(|error| error.to_string())?;
    let doubts = IntentFilter { in_doubt: true, ..IntentFilter::last(ALL) };
    let doubts = world.eye.list(&doubts).map_err(|error| error.to_string())?;
    for intent in all {
        let Some(settlement) = &intent.settlement else {
            return Err(format!("{} has no outcome, and its gate is gone", intent.id));
        };
        let listed = doubts.iter().any(|doubt| doubt.id == intent.id);
        if listed != settlement.in_doubt {
            return Err(format!("{} is in doubt: {}, listed: {listed}", intent.id, settlement.in_doubt));
        }
    }
    Ok(())
}

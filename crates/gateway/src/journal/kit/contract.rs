//! The nine checks of the contract for durable adapters, in the words of intents.

use callgate_wire::{ApprovalState, Code, EventKind, IntentState, SideEffect};

use super::stage::{
    ALL, NOW, RESULT, budget, call, decision, expect, hold, publication, reconciliation, settlement, stored,
    together,
};
use super::{Check, Fault, Hooks};
use crate::intent::Observation;
use crate::journal::{ApprovalFilter, EventFilter, Hold, IntentFilter, Opened, Verdict};

/// In the order of the contract.
pub(super) const CHECKS: &[(&str, Check)] = &[
    ("atomic commit", atomic_commit),
    ("direct execution commit", direct_execution_commit),
    ("failed commit", failed_commit),
    ("incarnation fence", incarnation_fence),
    ("outstanding-effect reconstruction", outstanding_effects),
    ("restart reconstruction", restart),
    ("stale revision", stale_revision),
    ("terminal reconstruction", terminal),
    ("uncertain-effect fencing", uncertain_effects),
];

const EVENTS: EventFilter = EventFilter { limit: 100, intent: None };
const APPROVALS: ApprovalFilter = ApprovalFilter { limit: 100, pending_at: None };

/// The intent, the use of its approval, what it reserves and the lines of the history are there together or not at all.
fn atomic_commit(hooks: &Hooks<'_>) -> Result<(), Fault> {
    let gate = hooks.new_gate()?;
    let asked = call(&*gate, 10)?.asking().charging(60);
    hold(
        "a call without an approval asks for one",
        matches!(asked.open(&*gate)?, Opened::Held(Hold::ApprovalPending { asked: true, .. })),
    )?;
    gate.commit(decision(&asked, true, "operator"))?;

    // The second charge does not fit any more: nothing of the call stays, not even the use of the approval.
    let too_much = call(&*gate, 10)?.asking().charging(60).charging(101);
    hold(
        "a charge over the limit is refused",
        matches!(too_much.open(&*gate)?, Opened::Held(Hold::BudgetExceeded { .. })),
    )?;
    expect("intents after a refusal", gate.list(&ALL)?.len(), 0)?;
    expect("the budget after a refusal", budget(&*gate)?, (0, 0))?;
    let states: Vec<_> = gate.approvals(&APPROVALS)?.iter().map(|approval| approval.state).collect();
    expect("approvals after a refusal", states, vec![ApprovalState::Approved])?;

    let good = call(&*gate, 10)?.asking().charging(60);
    let intent = good.go(&*gate)?;
    expect("the intent's approval", intent.approval.is_some(), true)?;
    expect("the intent as it is recorded", stored(&*gate, good.id())?, intent)?;
    expect("the budget", budget(&*gate)?, (0, 60))?;
    let approvals = gate.approvals(&APPROVALS)?;
    let used: Vec<_> = approvals.iter().map(|approval| (approval.state, approval.used_by.clone())).collect();
    expect("the approval", used, vec![(ApprovalState::Used, Some(good.id().clone()))])?;
    let kinds: Vec<_> = gate.history(&EVENTS)?.into_iter().map(|event| event.kind).collect();
    let wanted = vec![EventKind::ApprovalUsed, EventKind::ApprovalGranted, EventKind::ApprovalAsked];
    expect("the history", kinds, wanted)?;
    let of_intent = EventFilter { limit: 100, intent: Some(good.id().clone()) };
    expect("the history of the intent", gate.history(&of_intent)?.len(), 1)
}

/// What a gate may send is recorded, byte for byte, when it learns that it may, for everybody who looks.
fn direct_execution_commit(hooks: &Hooks<'_>) -> Result<(), Fault> {
    let gate = hooks.new_gate()?;
    let other = hooks.another_gate()?;
    let call = call(&*gate, 20)?.with_key("k").charging(1);
    let intent = call.go(&*gate)?;
    let mut wanted = call.record.clone();
    wanted.intent = intent;
    expect("the record for another gate", other.show(call.id().as_str())?, Some(wanted.clone()))?;
    if hooks.operator.is_some() {
        expect("the record for an operator", hooks.new_operator()?.show(call.id().as_str())?, Some(wanted))?;
    }
    gate.settle(call.id(), &settlement(RESULT), None)?;
    expect("the outcome for another gate", stored(&*other, call.id())?.settlement, Some(settlement(RESULT)))
}

/// A commit that does not come through is an error, and nothing of it is there then or later.
fn failed_commit(hooks: &Hooks<'_>) -> Result<(), Fault> {
    let gate = hooks.new_gate()?;
    let before = call(&*gate, 30)?.charging(1);
    before.go(&*gate)?;
    let lost = call(&*gate, 31)?.charging(2);
    let (mut opened, mut settled) = (None, None);
    hooks.while_failing(&mut || {
        opened = Some(lost.open(&*gate).is_err());
        settled = Some(gate.settle(before.id(), &settlement(RESULT), None).is_err());
    })?;
    expect(
        "a call and an outcome while commits fail are errors",
        (opened, settled),
        (Some(true), Some(true)),
    )?;
    let (gate, recovering) = (gate, hooks.another_gate()?);
    expect("a call that failed is not there", recovering.show(lost.id().as_str())?, None)?;
    expect("nor does it count", budget(&*recovering)?, (0, 1))?;
    expect("nor is an outcome that failed", stored(&*recovering, before.id())?.settlement, None)?;
    // The same gate goes on, or another one does where the store has taken it for gone.
    let after = call(&*gate, 32)?;
    match after.open(&*gate)? {
        Opened::Go(_) => gate.settle(before.id(), &settlement(RESULT), None).map_err(Fault::from),
        Opened::Held(Hold::Fenced) => call(&*recovering, 32)?.go(&*recovering).map(drop),
        other => Err(Fault::Found(format!("a gate that goes on: {other:?}"))),
    }
}

/// A gate that was taken for gone opens and settles nothing any more, and nobody takes over from one that lives.
fn incarnation_fence(hooks: &Hooks<'_>) -> Result<(), Fault> {
    let (frozen, living) = (hooks.new_gate()?, hooks.another_gate()?);
    let (taken, kept) = (call(&*frozen, 40)?, call(&*living, 41)?);
    taken.go(&*frozen)?;
    kept.go(&*living)?;
    let next = hooks.another_gate()?;
    expect("while both live nothing is taken over", next.recover(NOW)?.len(), 0)?;

    hooks.lose_gate(&*frozen)?;
    let recovered: Vec<_> = next.recover(NOW)?.into_iter().map(|intent| intent.id).collect();
    expect("what is taken over", recovered, vec![taken.id().clone()])?;
    expect(
        "what the gate that is gone opens",
        call(&*frozen, 42)?.open(&*frozen)?,
        Opened::Held(Hold::Fenced),
    )?;
    let late = frozen.settle(taken.id(), &settlement(RESULT), None).err();
    expect("its late answer", late.map(|error| error.code()), Some(Code::IntentFenced))?;
    hold("the doubt stays", stored(&*next, taken.id())?.in_doubt())?;
    next.settle(taken.id(), &settlement(RESULT), None)?;
    living.settle(kept.id(), &settlement(RESULT), None)?;
    expect("a gate that lives goes on", call(&*living, 43)?.go(&*living)?.state(), IntentState::Open)
}

/// What was under way when a gate ended is found whole, in order, and classified; once.
fn outstanding_effects(hooks: &Hooks<'_>) -> Result<(), Fault> {
    let gone = hooks.new_gate()?;
    let ended = call(&*gone, 50)?.charging(1);
    let read = call(&*gone, 51)?.pinned_read_only().charging(2);
    let (first, second) = (call(&*gone, 52)?.charging(4), call(&*gone, 53)?.charging(8));
    for call in [&ended, &second, &read, &first] {
        call.go(&*gone)?;
    }
    gone.settle(ended.id(), &settlement(RESULT), None)?;
    let next = hooks.another_gate()?;
    hooks.lose_gate(&*gone)?;
    drop(gone);
    let recovered = next.recover(NOW)?;
    let found: Vec<_> = recovered.iter().map(|intent| (intent.id.clone(), intent.in_doubt())).collect();
    let wanted = vec![(second.id().clone(), true), (read.id().clone(), false), (first.id().clone(), true)];
    expect("what is taken over, in the order of opening", found, wanted)?;
    for intent in &recovered {
        expect("it is recorded as it was given", &stored(&*next, &intent.id)?, intent)?;
        expect("its fence", &intent.fence, next.incarnation())?;
    }
    let effect = stored(&*next, read.id())?.settlement.map(|settlement| settlement.side_effect);
    expect("a tool that is pinned as read-only had no effect", effect, Some(SideEffect::None))?;
    expect("reservations: taken, kept in doubt, given back", budget(&*next)?, (1, 12))?;
    let doubts = IntentFilter { in_doubt: true, ..ALL };
    let listed: Vec<_> = next.list(&doubts)?.into_iter().map(|intent| intent.id).collect();
    expect("every one in doubt is listed", listed, vec![first.id().clone(), second.id().clone()])?;
    expect("a second look takes over nothing", next.recover(NOW)?.len(), 0)?;
    expect("nor does another gate", hooks.another_gate()?.recover(NOW)?.len(), 0)?;
    let events = next.history(&EVENTS)?;
    let noted = events.iter().filter(|event| event.kind == EventKind::IntentRecovered).count();
    expect("lines of the history", noted, 3)
}

/// After all gates have ended everything reads back as it was.
fn restart(hooks: &Hooks<'_>) -> Result<(), Fault> {
    let gate = hooks.new_gate()?;
    let keyed = call(&*gate, 60)?.with_key("k").charging(5);
    keyed.go(&*gate)?;
    gate.settle(keyed.id(), &settlement(RESULT), Some((*b"{\"ok\":1.0}").into()))?;
    let asked = call(&*gate, 61)?.asking();
    asked.open(&*gate)?;
    gate.commit(decision(&asked, true, "operator"))?;
    let published = gate.publish(publication("p1", None, &[("pay", 1)])?)?;
    gate.publish(publication("p2", Some(1), &[("pay", 2)])?)?;
    let look = |records: &dyn crate::journal::Ledger| {
        let approval = records.approval_record(asked.id().as_str())?;
        let (listed, shown) = (records.list(&ALL)?, records.show(keyed.id().as_str())?);
        let (counters, pinned) = (records.counters()?, records.pinned(None)?);
        Ok::<_, Fault>((listed, shown, approval, counters, pinned, records.history(&EVENTS)?))
    };
    let before = look(&*gate)?;
    expect(
        "the approval has its arguments",
        before.2.as_ref().map(|record| &record.arguments),
        Some(&asked.record.arguments),
    )?;
    expect(
        "the changed definition is held",
        before.4.iter().filter(|record| record.pin.held.is_some()).count(),
        1,
    )?;
    drop(gate);
    let gate = hooks.another_gate()?;
    expect("what is recorded", look(&*gate)?, before)?;

    let again = call(&*gate, 60)?.with_key("k");
    let wanted = (stored(&*gate, keyed.id())?, Some((*b"{\"ok\":1.0}").into()));
    expect("the key's outcome", again.open(&*gate)?, Opened::Known(wanted.0, wanted.1))?;
    call(&*gate, 61)?.asking().go(&*gate)?;
    let receipt = gate.publish(publication("p1", None, &[("pay", 1)])?)?;
    expect("the receipt", receipt.head.revision, published.head.revision)?;
    let used = call(&*gate, 62)?.charging(96).open(&*gate)?;
    hold("the budget is not new", matches!(used, Opened::Held(Hold::BudgetExceeded { used: 5, .. })))
}

/// A publication for another revision than the last one changes nothing; of several at once for the same one, one comes
/// through.
fn stale_revision(hooks: &Hooks<'_>) -> Result<(), Fault> {
    let gate = hooks.new_gate()?;
    gate.publish(publication("p0", Some(0), &[("pay", 1)])?)?;
    let stale = gate.publish(publication("stale", Some(0), &[("pay", 2), ("more", 3)])?).err();
    expect("the stale publication", stale.map(|error| error.code()), Some(Code::CatalogConflict))?;
    let pins: Vec<_> = gate.pinned(Some("bank"))?.into_iter().map(|record| record.pin.held).collect();
    expect("what it pins or holds", pins, vec![None])?;
    let won = together(|number| {
        let request = publication(&format!("race {number}"), Some(1), &[("pay", 1)])?;
        match gate.publish(request) {
            Ok(published) => Ok(Some(published.head.revision)),
            Err(error) if error.code() == Code::CatalogConflict => Ok(None),
            Err(error) => Err(Fault::from(error)),
        }
    });
    let won = won.into_iter().collect::<Result<Vec<_>, _>>()?;
    expect("those that come through", won.into_iter().flatten().collect::<Vec<_>>(), vec![2])
}

/// What has ended stays as it ended, whatever comes later.
fn terminal(hooks: &Hooks<'_>) -> Result<(), Fault> {
    let gate = hooks.new_gate()?;
    let ends = [RESULT, Observation::RpcError, Observation::RejectedBeforeDispatch];
    let mut calls = Vec::new();
    for (number, observation) in (70..).zip(ends) {
        let call = call(&*gate, number)?.charging(1);
        call.go(&*gate)?;
        gate.settle(call.id(), &settlement(observation), None)?;
        let ended = stored(&*gate, call.id())?;
        calls.push((call, ended));
    }
    let (gate, first) = if hooks.durable { (hooks.another_gate()?, Some(gate)) } else { (gate, None) };
    if let (Some(first), true) = (first, hooks.lose.is_some()) {
        hooks.lose_gate(&*first)?;
    }
    expect("nothing that ended is taken over", gate.recover(NOW)?.len(), 0)?;
    for (call, ended) in &calls {
        let _ = gate.settle(call.id(), &settlement(Observation::Timeout), None);
        let reconciled = gate.commit(reconciliation(call.id(), Verdict::Abandon)).err();
        expect("a decision about it", reconciled.map(|error| error.code()), Some(Code::IntentNotInDoubt))?;
        expect("what ended", &stored(&*gate, call.id())?, ended)?;
    }
    expect("what it took", budget(&*gate)?, (2, 0))
}

/// While nobody knows of one, the same call does not leave again, through whichever gate; and where an operator permits
/// one more try, one leaves.
fn uncertain_effects(hooks: &Hooks<'_>) -> Result<(), Fault> {
    let gate = hooks.new_gate()?;
    let doubted = call(&*gate, 80)?.charging(3);
    doubted.go(&*gate)?;
    gate.settle(doubted.id(), &settlement(Observation::Timeout), None)?;
    let gate = if hooks.durable {
        drop(gate);
        hooks.another_gate()?
    } else {
        gate
    };
    let twin = || call(&*gate, 80).map(|call| call.charging(3));
    expect("the same call", twin()?.open(&*gate)?, Opened::Held(Hold::InDoubt(doubted.id().clone())))?;
    twin()?.of("bob").go(&*gate)?;
    call(&*gate, 81)?.go(&*gate)?;
    expect("the reservation is kept", budget(&*gate)?, (0, 6))?;
    gate.commit(reconciliation(doubted.id(), Verdict::Retry))?;
    let opened = together(|_| twin()?.open(&*gate));
    let opened = opened.into_iter().collect::<Result<Vec<_>, _>>()?;
    let tries: Vec<_> = opened
        .iter()
        .filter_map(|opened| match opened {
            Opened::Go(intent) if intent.id == *doubted.id() => Some(intent.attempt.0),
            _ => None,
        })
        .collect();
    expect("tries that leave under the permission", tries, vec![2])
}

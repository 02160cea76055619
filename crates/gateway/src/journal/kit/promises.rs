//! What keys, approvals, budgets, publications and lists promise, above all when several do the same thing at once.

use callgate_wire::{ApprovalId, ApprovalState, Code, SideEffect};

use super::stage::{
    ALL, LATER, NOW, RESULT, budget, call, charge, decision, expect, hold, publication, reconciliation,
    settlement, stored, together,
};
use super::{Check, Fault, Hooks, THREADS};
use crate::catalog::RECEIPTS_MAX;
use crate::intent::Observation;
use crate::journal::{
    AcceptRequest, Answer, ApprovalFilter, Command, EventFilter, Hold, IntentFilter, Opened, Verdict,
};

/// In the order of the stages.
pub(super) const CHECKS: &[(&str, Check)] = &[
    ("one call of a key leaves", keys),
    ("an approval is used once and decided once", approvals),
    ("a budget is never overspent", budgets),
    ("a reservation is kept in doubt, and then taken or given back", reservations),
    ("a window has a counter of its own", windows),
    ("a publication is answered as it was, as long as its receipt is kept", receipts),
    ("a changed definition is held until it is accepted", pins),
    ("lists come in pages, the last one first", pages),
    ("an operator sees and decides what gates do", operators),
    ("a part of an id finds one or says that there are several", parts_of_ids),
];

/// Of the same call with the same key, made by many at once, one leaves; later the outcome is known to all, and the key
/// is taken.
fn keys(hooks: &Hooks<'_>) -> Result<(), Fault> {
    let gate = hooks.new_gate()?;
    let opened = together(|_| call(&*gate, 1)?.with_key("k").charging(1).open(&*gate));
    let mut left = Vec::new();
    let mut waiting = Vec::new();
    for opened in opened {
        match opened? {
            Opened::Go(intent) => left.push(intent.id),
            Opened::Held(Hold::KeyInFlight(id)) => waiting.push(id),
            other => return Err(Fault::Found(format!("a call with a key: {other:?}"))),
        }
    }
    let [id] = left.as_slice() else { return Err(Fault::Found(format!("calls that leave: {left:?}"))) };
    expect("the others are told whose answer to wait for", waiting, vec![id.clone(); THREADS - 1])?;
    expect("the budget", budget(&*gate)?, (0, 1))?;
    gate.settle(id, &settlement(RESULT), Some((*b"[1.0]").into()))?;
    let gate = if hooks.durable { hooks.another_gate()? } else { gate };
    let known = stored(&*gate, id)?;
    let again = call(&*gate, 1)?.with_key("k").open(&*gate)?;
    expect("the outcome", again, Opened::Known(known, Some((*b"[1.0]").into())))?;
    let conflict = call(&*gate, 2)?.with_key("k").open(&*gate)?;
    expect("another call with the key", conflict, Opened::Held(Hold::KeyConflict(id.clone())))?;
    call(&*gate, 2)?.with_key("k").of("bob").go(&*gate)?;
    call(&*gate, 1)?.with_key("K").go(&*gate)?;
    Ok(())
}

/// Of many decisions about one request one counts, and of many calls that it is for one leaves.
fn approvals(hooks: &Hooks<'_>) -> Result<(), Fault> {
    let gate = hooks.new_gate()?;
    let asked = together(|_| {
        let call = call(&*gate, 1)?.asking();
        Ok::<_, Fault>((call.open(&*gate)?, call))
    });
    let mut requests = Vec::new();
    for outcome in asked {
        match outcome? {
            (Opened::Held(Hold::ApprovalPending { asked: true, .. }), call) => requests.push(call),
            (Opened::Held(Hold::ApprovalPending { asked: false, .. }), _) => {}
            (other, _) => return Err(Fault::Found(format!("a call without an approval: {other:?}"))),
        }
    }
    let [request] = requests.as_slice() else {
        return Err(Fault::Found(format!("requests for one call: {}", requests.len())));
    };
    let decided = together(|number| gate.commit(decision(request, true, &format!("operator {number}"))));
    let counted = decided.iter().filter(|decided| decided.is_ok()).count();
    expect("decisions that count", counted, 1)?;
    for error in decided.into_iter().filter_map(Result::err) {
        expect("the others", error.code(), Code::ApprovalNotPending)?;
    }
    let other = if hooks.durable { Some(hooks.another_gate()?) } else { None };
    let opened = together(|number| {
        let gate = other.as_ref().filter(|_| number % 2 == 0).unwrap_or(&gate);
        call(&**gate, 1)?.asking().open(&**gate)
    });
    let opened = opened.into_iter().collect::<Result<Vec<_>, _>>()?;
    let left = opened.iter().filter(|opened| matches!(opened, Opened::Go(_))).count();
    expect("calls that leave with one approval", left, 1)?;
    let all = gate.approvals(&ApprovalFilter { limit: 100, pending_at: None })?;
    let used = all.iter().filter(|approval| approval.state == ApprovalState::Used).count();
    expect("approvals that are used", used, 1)?;
    expect(
        "who the first one is for",
        all.last().map(|approval| approval.id.clone()),
        Some(ApprovalId::of(request.id())),
    )?;
    let names = all.first().map(|approval| approval.rules.clone());
    expect("the rules' names", names, Some(vec!["a \"rule\"".to_owned(), "another".to_owned()]))
}

/// Many that charge at once, through two gates, take what there is and no more.
fn budgets(hooks: &Hooks<'_>) -> Result<(), Fault> {
    let gate = hooks.new_gate()?;
    let other = if hooks.durable { Some(hooks.another_gate()?) } else { None };
    // 16 threads with 10 calls of 3 each want 480 of 100: 33 fit.
    let left = together(|number| {
        let gate = other.as_ref().filter(|_| number % 2 == 0).unwrap_or(&gate);
        let mut left = 0_u64;
        for n in 0..10 {
            let call = call(&**gate, number as u64 * 100 + n)?.charging(3);
            match call.open(&**gate)? {
                Opened::Go(_) if n % 2 == 0 => left += 1,
                Opened::Go(_) => {
                    left += 1;
                    gate.settle(call.id(), &settlement(RESULT), None)?;
                }
                Opened::Held(Hold::BudgetExceeded { used, .. }) => expect("what is used up", used, 99)?,
                Opened::Held(hold) => return Err(Fault::Found(format!("a call that charges: {hold:?}"))),
                Opened::Known(..) => return Err(Fault::Found("a call without a key is known".to_owned())),
            }
        }
        Ok(left)
    });
    let left: u64 = left.into_iter().collect::<Result<Vec<_>, _>>()?.iter().sum();
    expect("calls that fit", left, 33)?;
    let (committed, reserved) = budget(&*gate)?;
    expect("what they took and reserve", committed + reserved, 99)?;
    expect("intents", gate.list(&ALL)?.len(), 33)?;
    call(&*gate, 9_999)?.charging(1).go(&*gate)?;
    hold(
        "the last one",
        matches!(
            call(&*gate, 9_998)?.charging(1).open(&*gate)?,
            Opened::Held(Hold::BudgetExceeded { used: 100, .. })
        ),
    )
}

/// What becomes of a reservation follows what is known of the call.
fn reservations(hooks: &Hooks<'_>) -> Result<(), Fault> {
    let gate = hooks.new_gate()?;
    let open = |number| -> Result<_, Fault> {
        let call = call(&*gate, number)?.charging(10);
        call.go(&*gate)?;
        Ok(call)
    };
    let [done, rejected, adopted, refuted, abandoned] = [open(1)?, open(2)?, open(3)?, open(4)?, open(5)?];
    expect("all are reserved", budget(&*gate)?, (0, 50))?;
    gate.settle(done.id(), &settlement(RESULT), None)?;
    expect("one that is done is taken", budget(&*gate)?, (10, 40))?;
    gate.settle(rejected.id(), &settlement(Observation::RejectedBeforeDispatch), None)?;
    expect("one that did not leave is given back", budget(&*gate)?, (10, 30))?;
    for doubted in [&adopted, &refuted, &abandoned] {
        gate.settle(doubted.id(), &settlement(Observation::Timeout), None)?;
    }
    expect("those in doubt are kept", budget(&*gate)?, (10, 30))?;
    gate.commit(reconciliation(adopted.id(), Verdict::Adopt(SideEffect::Done)))?;
    expect("one that took effect is taken", budget(&*gate)?, (20, 20))?;
    gate.commit(reconciliation(refuted.id(), Verdict::Adopt(SideEffect::None)))?;
    expect("one that had no effect is given back", budget(&*gate)?, (20, 10))?;
    gate.commit(reconciliation(abandoned.id(), Verdict::Abandon))?;
    expect("one that nobody will find out about is taken", budget(&*gate)?, (30, 0))?;
    let _ = gate.settle(done.id(), &settlement(RESULT), None);
    expect("saying it again takes nothing", budget(&*gate)?, (30, 0))
}

/// Counters are apart by budget, scope and window, the one without a window too; and the last charged comes first.
fn windows(hooks: &Hooks<'_>) -> Result<(), Fault> {
    let gate = hooks.new_gate()?;
    let mut charges = Vec::new();
    for (scope, window) in
        [("", None), ("", Some(NOW)), ("", Some(LATER)), ("principal=local:ada", Some(LATER))]
    {
        let resets_at = window.map(|_| LATER);
        charges.push(callgate_wire::Charge { scope: scope.to_owned(), window, resets_at, ..charge(70) });
    }
    for (number, charge) in (1..).zip(&charges) {
        let mut call = call(&*gate, number)?;
        call.charges.push(charge.clone());
        call.go(&*gate)?;
        let mut call = self::call(&*gate, number + 100)?;
        call.charges.push(charge.clone());
        hold(
            "a second charge of the same counter",
            matches!(call.open(&*gate)?, Opened::Held(Hold::BudgetExceeded { used: 70, .. })),
        )?;
    }
    let listed: Vec<_> = gate.counters()?.into_iter().map(|counter| counter.charge).collect();
    charges.reverse();
    expect("the counters", listed, charges)
}

/// The same publication again changes nothing and is answered as it was; the seventeenth forgets the first.
fn receipts(hooks: &Hooks<'_>) -> Result<(), Fault> {
    let gate = hooks.new_gate()?;
    let publish = |id: &str, number| -> Result<_, Fault> {
        let request = publication(id, None, &[("pay", number)])?;
        Ok(gate.publish(request).map(|published| published.head.revision).map_err(|error| error.code()))
    };
    expect("the first", publish("p1", 1)?, Ok(1))?;
    expect("the first again", publish("p1", 1)?, Ok(1))?;
    expect("the first with other tools", publish("p1", 2)?, Err(Code::CatalogConflict))?;
    for number in 2..=u64::from(RECEIPTS_MAX) {
        expect("the next", publish(&format!("p{number}"), 1)?, Ok(number))?;
    }
    expect("the first is still kept", publish("p1", 1)?, Ok(1))?;
    let next = u64::from(RECEIPTS_MAX) + 1;
    expect("one more", publish("more", 1)?, Ok(next))?;
    expect("the first is a new one", publish("p1", 1)?, Ok(next + 1))?;
    expect("the last but so many is kept", publish("p4", 1)?, Ok(4))
}

/// First sight pins; a changed definition waits, whole, and only the one that was looked at is accepted.
fn pins(hooks: &Hooks<'_>) -> Result<(), Fault> {
    let gate = hooks.new_gate()?;
    let first = gate.publish(publication("p1", None, &[("pay", 1), ("ask", 1)])?)?;
    expect("first sight", first.first_seen, vec!["pay".to_owned(), "ask".to_owned()])?;
    let changed = gate.publish(publication("p2", None, &[("pay", 2)])?)?;
    let held: Vec<_> = changed.held.iter().map(|change| change.tool.as_str()).collect();
    expect(
        "what is held and what is missing",
        (held, changed.missing),
        (vec!["pay"], vec!["ask".to_owned()]),
    )?;
    let now = changed.held.first().map(|change| change.now);
    let pins = gate.pinned(Some("bank"))?;
    let pin = pins.iter().map(|record| &record.pin).find(|pin| pin.tool == "pay");
    let definitions = pin.map(|pin| (&*pin.definition, pin.held.as_ref().map(|held| &*held.definition)));
    expect("both definitions", definitions, Some((&b"{\"n\": 1}"[..], Some(&b"{\"n\": 2}"[..]))))?;
    expect("pins of another upstream", gate.pinned(Some("other"))?.len(), 0)?;
    expect("pins of all", gate.pinned(None)?, pins)?;
    let accept = |digest, at| {
        let (upstream, tool, by) = ("bank".to_owned(), "pay".to_owned(), "operator".to_owned());
        gate.commit(Command::Accept(AcceptRequest { upstream, tool, digest, by, at }))
    };
    let digest = now.ok_or_else(|| Fault::Found("no change is held".to_owned()))?;
    let unseen = accept(super::stage::digest(3)?, NOW).err().map(|error| error.code());
    expect("another one than is held", unseen, Some(Code::ContractNotHeld))?;
    expect("the one that is held", accept(digest, NOW)?, Answer::Accepted)?;
    expect("later", accept(digest, LATER).err().map(|error| error.code()), Some(Code::ContractNotHeld))?;
    let pins = gate.pinned(Some("bank"))?;
    let pin = pins.iter().map(|record| &record.pin).find(|pin| pin.tool == "pay");
    let found = pin.map(|pin| (pin.digest, pin.pinned_at, pin.accepted_by.as_deref(), pin.held.is_none()));
    expect("the pin", found, Some((digest, NOW, Some("operator"), true)))
}

/// A list is read to its end by `before`, with the filter kept, and shows nothing twice.
fn pages(hooks: &Hooks<'_>) -> Result<(), Fault> {
    let gate = hooks.new_gate()?;
    let (mut opened, mut doubted) = (Vec::new(), Vec::new());
    for number in 0..23 {
        let mut call = call(&*gate, number)?;
        // The order is that of opening, whatever the clock says.
        call.record.intent.opened_at.0 -= i64::try_from(number).unwrap_or_default();
        call.go(&*gate)?;
        if number % 3 == 0 {
            gate.settle(call.id(), &settlement(Observation::Timeout), None)?;
            doubted.insert(0, call.id().clone());
        }
        opened.insert(0, call.id().clone());
    }
    for (in_doubt, wanted) in [(false, opened), (true, doubted)] {
        let (mut found, mut before) = (Vec::new(), None);
        loop {
            let page = gate.list(&IntentFilter { limit: 5, in_doubt, before })?;
            hold("a page has at most its limit", page.len() <= 5)?;
            before = page.last().map(|intent| intent.id.clone());
            found.extend(page.into_iter().map(|intent| intent.id));
            if before.is_none() {
                break;
            }
        }
        expect("the pages together", found, wanted)?;
    }
    expect("a page of none", gate.list(&IntentFilter::last(0))?.len(), 0)?;
    let mut asked = Vec::new();
    for number in 100..107 {
        let call = call(&*gate, number)?.asking();
        call.open(&*gate)?;
        asked.insert(0, ApprovalId::of(call.id()));
    }
    let first = call(&*gate, 100)?;
    let ids = |limit, pending_at| -> Result<Vec<_>, Fault> {
        let listed = gate.approvals(&ApprovalFilter { limit, pending_at })?;
        Ok(listed.into_iter().map(|approval| approval.id).collect())
    };
    expect("the last three", ids(3, Some(NOW))?, asked.iter().take(3).cloned().collect())?;
    let after = callgate_wire::Timestamp(LATER.0 + 1);
    expect("at their last moment they wait", ids(100, Some(LATER))?.len(), 7)?;
    expect("after it none does", ids(100, Some(after))?.len(), 0)?;
    expect("but all are there", ids(100, None)?, asked)?;
    hold(
        "a request waits",
        matches!(first.asking().open(&*gate)?, Opened::Held(Hold::ApprovalPending { asked: false, .. })),
    )?;
    expect("the last lines of the history", gate.history(&EventFilter { limit: 3, intent: None })?.len(), 3)
}

/// An operator beside a gate sees what it does, and what they decide holds for it at once.
fn operators(hooks: &Hooks<'_>) -> Result<(), Fault> {
    let operator = hooks.new_operator()?;
    let gate = hooks.new_gate()?;
    let asked = call(&*gate, 1)?.asking();
    asked.open(&*gate)?;
    let waiting = operator.approvals(&ApprovalFilter { limit: 9, pending_at: Some(NOW) })?;
    expect("who waits", waiting.len(), 1)?;
    operator.commit(decision(&asked, true, "operator"))?;
    call(&*gate, 1)?.asking().go(&*gate)?;
    let principal = &asked.record.intent.principal;
    let last = operator.last_approved(principal, "bank", "pay")?;
    expect(
        "the last approved call",
        last.map(|record| record.arguments),
        Some(asked.record.arguments.clone()),
    )?;
    expect("of another tool", operator.last_approved(principal, "bank", "ask")?, None)?;

    // A gate is gone and no other has taken over: who looks sees the doubt, and can decide.
    hooks.lose_gate(&*gate)?;
    let lost = operator.list(&IntentFilter { in_doubt: true, ..ALL })?;
    let [intent] = lost.as_slice() else { return Err(Fault::Found(format!("in doubt: {lost:?}"))) };
    hold("the doubt is shown", intent.in_doubt())?;
    operator.commit(reconciliation(&intent.id, Verdict::Adopt(SideEffect::Done)))?;
    let next = hooks.another_gate()?;
    expect("nothing is left to take over", next.recover(NOW)?.len(), 0)?;
    hold("it is decided", !stored(&*next, &intent.id)?.in_doubt())
}

/// An id is found by its beginning or its end, if no other has it.
fn parts_of_ids(hooks: &Hooks<'_>) -> Result<(), Fault> {
    let gate = hooks.new_gate()?;
    let (first, second) = (call(&*gate, 1)?.asking(), call(&*gate, 2)?.asking());
    for call in [&first, &second] {
        call.open(&*gate)?;
        gate.commit(decision(call, true, "operator"))?;
        let mut leaving = call.clone();
        leaving.record.intent.opened_at = LATER;
        leaving.go(&*gate)?;
    }
    let whole = first.id().as_str();
    let (begin, end) = (whole.get(..8).unwrap_or_default(), whole.get(28..).unwrap_or_default());
    expect("the end of an id", gate.show(end)?.map(|record| record.intent.id), Some(first.id().clone()))?;
    expect(
        "the same of an approval",
        gate.approval_record(end)?.map(|record| record.arguments),
        Some(first.record.arguments.clone()),
    )?;
    expect("what two share", gate.show(begin).err().map(|error| error.code()), Some(Code::IntentAmbiguous))?;
    let ambiguous = gate.approval_record(begin).err().map(|error| error.code());
    expect("the same of approvals", ambiguous, Some(Code::ApprovalAmbiguous))?;
    for none in ["zz", "%", "_", "4b4b4b4b-4b4b-4b4b-ffff", "00000000-0000-0000-0000-000000000000"] {
        expect("what none has", (gate.show(none)?, gate.approval_record(none)?), (None, None))?;
    }
    Ok(())
}

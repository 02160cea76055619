//! What is to be written, by kind: each kind becomes one statement, however many commands wanted it.

use std::collections::BTreeSet;

use callgate_gateway::journal::{AdmissionRow, Effect, Pin, PublicationHead, ReceiptRow};
use callgate_wire::{
    Approval, ApprovalId, ApprovalRecord, Attempt, Charge, Code, Event, INTENT_FORMAT, Incarnation, IntentId,
    IntentRecord, Settlement, Timestamp,
};
use tokio_postgres::types::ToSql;

use super::batch::{CounterKey, Known};
use super::line::Write;
use super::rows::{NO_WINDOW, clamped};
use super::sql::Query;
use super::text::{stored, stored_if};

/// What is to be written.
#[derive(Debug, Default)]
pub(super) struct Pending {
    pub(super) intents: Vec<IntentRecord>,
    pub(super) retries: Vec<Retry>,
    pub(super) permits: Vec<IntentId>,
    pub(super) settled: Vec<Settled>,
    pub(super) ended: Vec<(Incarnation, Timestamp)>,
    pub(super) approvals: Vec<ApprovalRecord>,
    pub(super) approval_states: Vec<Approval>,
    /// Counters whose rows are not as the batch knows them.
    pub(super) counters: BTreeSet<CounterKey>,
    /// Those of them that were charged.
    pub(super) charged: BTreeSet<CounterKey>,
    pub(super) reservations: Vec<(IntentId, Charge)>,
    pub(super) committed: BTreeSet<IntentId>,
    pub(super) released: BTreeSet<IntentId>,
    /// Effects on the catalog, which are rare, in their order.
    pub(super) catalog: Vec<Effect>,
    pub(super) events: Vec<Event>,
}

/// One more try that is to be written.
#[derive(Debug)]
pub(super) struct Retry {
    pub(super) id: IntentId,
    pub(super) attempt: Attempt,
    pub(super) fence: Incarnation,
    pub(super) request: IntentId,
}

/// A settlement that is to be written.
#[derive(Debug)]
pub(super) struct Settled {
    pub(super) id: IntentId,
    pub(super) fence: Incarnation,
    pub(super) settlement: Settlement,
    pub(super) result: Option<Box<[u8]>>,
}

macro_rules! parameters {
    ($($parameter:expr),* $(,)?) => { vec![$(Box::new($parameter) as Box<dyn ToSql + Sync>),*] };
}

impl Pending {
    pub(super) fn is_empty(&self) -> bool {
        let Pending { intents, retries, permits, settled, ended, approvals, approval_states, .. } = self;
        let Pending { counters, charged: _, reservations, committed, released, catalog, events, .. } = self;
        intents.is_empty()
            && retries.is_empty()
            && permits.is_empty()
            && settled.is_empty()
            && ended.is_empty()
            && approvals.is_empty()
            && approval_states.is_empty()
            && counters.is_empty()
            && reservations.is_empty()
            && committed.is_empty()
            && released.is_empty()
            && catalog.is_empty()
            && events.is_empty()
    }

    /// Whether a change of this intent waits already.
    pub(super) fn touches(&self, id: &IntentId) -> bool {
        self.settled.iter().any(|settled| settled.id == *id)
            || self.retries.iter().any(|retry| retry.id == *id)
            || self.permits.contains(id)
    }

    /// The statements, in an order in which what is changed is there.
    pub(super) fn statements<'a>(&'a self, known: &'a Known) -> Vec<Write<'a>> {
        let mut writes = Vec::new();
        if !self.intents.is_empty() {
            writes.push(add_intents(&self.intents));
        }
        for Retry { id, attempt, fence, request } in &self.retries {
            let params = parameters![id.as_str(), i64::from(attempt.0), fence.as_str(), request.as_str()];
            writes.push(Write { query: Query::Retry, params });
        }
        for id in &self.permits {
            writes.push(Write { query: Query::PermitRetry, params: parameters![id.as_str()] });
        }
        if !self.settled.is_empty() {
            writes.push(settle(&self.settled));
        }
        for (incarnation, at) in &self.ended {
            writes.push(Write {
                query: Query::EndIncarnation,
                params: parameters![incarnation.as_str(), at.0],
            });
        }
        writes.extend(self.approvals.iter().map(add_approval));
        writes.extend(self.approval_states.iter().map(set_approval));
        if !self.counters.is_empty() {
            writes.push(set_counters(&self.counters, &self.charged, known));
        }
        if !self.reservations.is_empty() {
            writes.push(add_reservations(&self.reservations));
        }
        for (query, ended) in
            [(Query::CommitReservations, &self.committed), (Query::ReleaseReservations, &self.released)]
        {
            if !ended.is_empty() {
                let ids: Vec<&str> = ended.iter().map(IntentId::as_str).collect();
                writes.push(Write { query, params: parameters![ids] });
            }
        }
        for effect in &self.catalog {
            catalog(effect, &mut writes);
        }
        if !self.events.is_empty() {
            writes.push(note(&self.events));
        }
        writes
    }
}

/// One column of many rows.
fn column<'a, R, T>(rows: &'a [R], value: impl Fn(&'a R) -> T) -> Box<dyn ToSql + Sync + 'a>
where
    T: ToSql + Sync + 'a,
{
    Box::new(rows.iter().map(value).collect::<Vec<T>>())
}

fn add_intents(records: &[IntentRecord]) -> Write<'_> {
    let params: Vec<Box<dyn ToSql + Sync + '_>> = vec![
        column(records, |record| record.intent.id.as_str()),
        Box::new(i32::try_from(INTENT_FORMAT).unwrap_or(i32::MAX)),
        column(records, |record| record.intent.opened_at.0),
        column(records, |record| stored(record.intent.principal.as_str())),
        column(records, |record| stored_if(record.intent.run.as_deref())),
        column(records, |record| stored(&record.intent.upstream)),
        column(records, |record| stored(&record.intent.tool)),
        column(records, |record| record.intent.contract_digest.to_string()),
        column(records, |record| record.intent.arguments_digest.to_string()),
        column(records, |record| record.intent.call_digest.to_string()),
        column(records, |record| stored_if(record.intent.key.as_deref())),
        column(records, |record| record.intent.approval.as_ref().map(ApprovalId::as_str)),
        column(records, |record| record.intent.pinned.read_only),
        column(records, |record| record.intent.pinned.idempotent),
        column(records, |record| i64::from(record.intent.attempt.0)),
        column(records, |record| record.intent.fence.as_str()),
        column(records, |record| &record.arguments[..]),
    ];
    Write { query: Query::AddIntents, params }
}

fn settle(rows: &[Settled]) -> Write<'_> {
    let params: Vec<Box<dyn ToSql + Sync + '_>> = vec![
        column(rows, |row| row.id.as_str()),
        column(rows, |row| row.fence.as_str()),
        column(rows, |row| row.settlement.state.as_str()),
        column(rows, |row| row.settlement.side_effect.as_str()),
        column(rows, |row| row.settlement.in_doubt),
        column(rows, |row| row.settlement.code.map(Code::as_str)),
        column(rows, |row| row.settlement.result_bytes.map(clamped)),
        column(rows, |row| row.settlement.is_error),
        column(rows, |row| row.settlement.at.0),
        column(rows, |row| row.result.as_deref()),
    ];
    Write { query: Query::Settle, params }
}

fn add_approval(record: &ApprovalRecord) -> Write<'_> {
    let approval = &record.approval;
    let rules: Vec<_> = approval.rules.iter().map(|rule| stored(rule)).collect();
    let params = parameters![
        approval.id.as_str(),
        approval.asked_at.0,
        approval.expires_at.0,
        stored(approval.principal.as_str()),
        stored_if(approval.run.as_deref()),
        stored(&approval.upstream),
        stored(&approval.tool),
        approval.contract_digest.to_string(),
        approval.arguments_digest.to_string(),
        approval.call_digest.to_string(),
        approval.rules_digest.to_string(),
        rules,
        approval.state.as_str(),
        &record.arguments[..],
    ];
    Write { query: Query::AddApproval, params }
}

fn set_approval(approval: &Approval) -> Write<'_> {
    let decision = approval.decision.as_ref();
    let params = parameters![
        approval.id.as_str(),
        approval.expires_at.0,
        approval.state.as_str(),
        decision.map(|decision| decision.at.0),
        decision.map(|decision| stored(&decision.by)),
        decision.and_then(|decision| stored_if(decision.reason.as_deref())),
        approval.used_by.as_ref().map(IntentId::as_str),
    ];
    Write { query: Query::SetApproval, params }
}

fn set_counters<'a>(
    keys: &BTreeSet<CounterKey>,
    charged: &BTreeSet<CounterKey>,
    known: &'a Known,
) -> Write<'a> {
    // In the order of the keys, so that two gates lock the rows in the same order.
    let counters: Vec<_> = keys.iter().filter_map(|key| known.counters.get(key)?.as_ref()).collect();
    let charged: Vec<bool> = keys.iter().map(|key| charged.contains(key)).collect();
    assert_eq!(counters.len(), charged.len(), "a counter that was changed is known");
    let charges: Vec<&'a Charge> = counters.iter().map(|counter| &counter.charge).collect();
    let params = parameters![
        charges.iter().map(|charge| stored(&charge.budget)).collect::<Vec<_>>(),
        charges.iter().map(|charge| stored(&charge.scope)).collect::<Vec<_>>(),
        charges.iter().map(|charge| window(charge)).collect::<Vec<_>>(),
        charges.iter().map(|charge| charge.resets_at.map(|at| at.0)).collect::<Vec<_>>(),
        charges.iter().map(|charge| clamped(charge.amount)).collect::<Vec<_>>(),
        charges.iter().map(|charge| clamped(charge.limit)).collect::<Vec<_>>(),
        counters.iter().map(|counter| clamped(counter.committed)).collect::<Vec<_>>(),
        counters.iter().map(|counter| clamped(counter.reserved)).collect::<Vec<_>>(),
        charged,
    ];
    Write { query: Query::SetCounters, params }
}

fn window(charge: &Charge) -> i64 {
    charge.window.map_or(NO_WINDOW, |at| at.0)
}

fn add_reservations(rows: &[(IntentId, Charge)]) -> Write<'_> {
    let params: Vec<Box<dyn ToSql + Sync + '_>> = vec![
        column(rows, |(intent, _)| intent.as_str()),
        column(rows, |(_, charge)| stored(&charge.budget)),
        column(rows, |(_, charge)| stored(&charge.scope)),
        column(rows, |(_, charge)| window(charge)),
        column(rows, |(_, charge)| clamped(charge.amount)),
    ];
    Write { query: Query::AddReservations, params }
}

fn note(events: &[Event]) -> Write<'_> {
    let params: Vec<Box<dyn ToSql + Sync + '_>> = vec![
        column(events, |event| event.at.0),
        column(events, |event| event.kind.as_str()),
        column(events, |event| event.intent.as_ref().map(IntentId::as_str)),
        column(events, |event| event.approval.as_ref().map(ApprovalId::as_str)),
        column(events, |event| stored(&event.by)),
        column(events, |event| stored_if(event.detail.as_deref())),
    ];
    Write { query: Query::Note, params }
}

fn catalog<'a>(effect: &'a Effect, writes: &mut Vec<Write<'a>>) {
    match effect {
        Effect::SetPublication { upstream, head, receipt, rows } => {
            publish(upstream, head, receipt, rows, writes);
        }
        Effect::ForgetReceipts { upstream, kept } => {
            let params = parameters![stored(upstream), i64::from(*kept)];
            writes.push(Write { query: Query::ForgetReceipts, params });
        }
        Effect::SetPin { upstream, pin } => writes.push(set_pin(upstream, pin)),
        _ => {}
    }
}

fn publish<'a>(
    upstream: &'a str,
    head: &'a PublicationHead,
    receipt: &'a ReceiptRow,
    rows: &'a [AdmissionRow],
    writes: &mut Vec<Write<'a>>,
) {
    let params = parameters![stored(upstream), clamped(head.revision), stored(&head.publication), head.at.0];
    writes.push(Write { query: Query::SetPublication, params });
    let ReceiptRow { publication, content, revision } = receipt;
    let params = parameters![stored(upstream), stored(publication), content.to_string(), clamped(*revision)];
    writes.push(Write { query: Query::AddReceipt, params });
    writes.push(Write { query: Query::ForgetAdmissions, params: parameters![stored(upstream)] });
    let params = vec![
        Box::new(stored(upstream)),
        column(rows, |row| stored(&row.tool)),
        column(rows, |row| row.contract_digest.map(|digest| digest.to_string())),
        column(rows, |row| row.code.map(Code::as_str)),
        column(rows, |row| stored_if(row.detail.as_deref())),
    ];
    writes.push(Write { query: Query::AddAdmissions, params });
}

fn set_pin<'a>(upstream: &'a str, pin: &'a Pin) -> Write<'a> {
    let held = pin.held.as_ref();
    let params = parameters![
        stored(upstream),
        stored(&pin.tool),
        pin.digest.to_string(),
        &pin.definition[..],
        pin.pinned_at.0,
        stored_if(pin.accepted_by.as_deref()),
        held.map(|held| held.digest.to_string()),
        held.map(|held| &held.definition[..]),
        held.map(|held| held.at.0),
    ];
    Write { query: Query::SetPin, params }
}

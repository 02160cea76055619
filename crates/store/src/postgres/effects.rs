//! What effects do to the records as the batch knows them, and what they leave to be written.

use callgate_gateway::JournalError;
use callgate_gateway::journal::{Counter, Effect};
use callgate_wire::{Approval, Charge, Intent, IntentId, IntentRecord};

use super::batch::{Batch, Known, counter_key};
use super::error::Failure;
use super::pending::{Retry, Settled};

impl Batch<'_> {
    /// Applies one effect.
    pub(super) fn take(&mut self, effect: &Effect) -> Result<(), JournalError> {
        match effect {
            Effect::AddIntent(record) => self.add_intent(record),
            Effect::Retry { id, attempt, fence, request } => {
                self.touch(id)?;
                self.known.patch(id, |intent| {
                    intent.attempt = *attempt;
                    intent.fence = fence.clone();
                    intent.retry_permitted = false;
                    intent.settlement = None;
                });
                let retry = Retry {
                    id: id.clone(),
                    attempt: *attempt,
                    fence: fence.clone(),
                    request: request.clone(),
                };
                self.pending.retries.push(retry);
            }
            Effect::PermitRetry(id) => {
                self.touch(id)?;
                self.known.patch(id, |intent| intent.retry_permitted = true);
                self.pending.permits.push(id.clone());
            }
            Effect::SetSettlement { id, fence, settlement, result } => {
                self.touch(id)?;
                self.known.patch(id, |intent| {
                    intent.fence = fence.clone();
                    intent.settlement = Some(settlement.clone());
                    intent.retry_permitted &= settlement.in_doubt;
                });
                let (id, fence, settlement) = (id.clone(), fence.clone(), settlement.clone());
                self.pending.settled.push(Settled { id, fence, settlement, result: result.clone() });
            }
            Effect::EndIncarnation { incarnation, at } => {
                self.known.lasts.insert(incarnation.clone(), false);
                if let Some(gone) = &mut self.known.gone {
                    gone.retain(|one| one != incarnation);
                }
                self.pending.ended.push((incarnation.clone(), *at));
            }
            Effect::AddApproval(record) => {
                let approval = &record.approval;
                let of = (approval.principal.clone(), approval.call_digest);
                if let Some(ids) = self.known.approvals_for.get_mut(&of) {
                    ids.push(approval.id.clone());
                }
                self.known.approvals.insert(approval.id.clone(), Some(approval.clone()));
                self.pending.approvals.push((**record).clone());
            }
            Effect::SetApproval(approval) => self.set_approval(approval),
            Effect::Reserve { intent, charge } => self.reserve(intent, charge)?,
            Effect::CommitReservations(id) => self.end_reservations(id, true)?,
            Effect::ReleaseReservations(id) => self.end_reservations(id, false)?,
            // Whoever reads of these reads from the server.
            Effect::SetPublication { .. } | Effect::ForgetReceipts { .. } | Effect::SetPin { .. } => {
                self.pending.catalog.push(effect.clone());
            }
            Effect::Note(event) => self.pending.events.push(event.clone()),
        }
        Ok(())
    }

    fn add_intent(&mut self, record: &IntentRecord) {
        let intent = &record.intent;
        if let Some(key) = &intent.key {
            self.known.keys.insert((intent.principal.clone(), key.clone()), Some(intent.id.clone()));
        }
        self.known.intents.insert(intent.id.clone(), Some(intent.clone()));
        // A new intent has no reservations but those that follow.
        self.known.reservations.insert(intent.id.clone(), Vec::new());
        self.pending.intents.push(record.clone());
    }

    /// One statement must not change an intent twice: the server does not say which change would count.
    fn touch(&mut self, id: &IntentId) -> Result<(), JournalError> {
        if self.pending.touches(id) {
            self.write_pending()?;
        }
        Ok(())
    }

    fn set_approval(&mut self, approval: &Approval) {
        self.known.approvals.insert(approval.id.clone(), Some(approval.clone()));
        self.pending.approval_states.push(approval.clone());
    }

    fn reserve(&mut self, intent: &IntentId, charge: &Charge) -> Result<(), JournalError> {
        self.counter(charge)?;
        self.reservations(intent)?;
        let used = self.known.counters.get(&counter_key(charge)).and_then(Option::as_ref);
        let used = used.map_or(0, |counter| counter.committed.saturating_add(counter.reserved));
        if i64::try_from(used.saturating_add(charge.amount)).is_err() {
            return Err(self.fail(Failure::damaged("an amount below 2^63")));
        }
        if self.pending.committed.contains(intent) || self.pending.released.contains(intent) {
            self.write_pending()?;
        }
        self.known.change_counter(charge, |counter| {
            counter.charge = charge.clone();
            counter.reserved = counter.reserved.saturating_add(charge.amount);
        });
        self.known.reservations.entry(intent.clone()).or_default().push(charge.clone());
        self.pending.counters.insert(counter_key(charge));
        self.pending.charged.insert(counter_key(charge));
        self.pending.reservations.push((intent.clone(), charge.clone()));
        Ok(())
    }

    fn end_reservations(&mut self, id: &IntentId, taken: bool) -> Result<(), JournalError> {
        self.reservations(id)?;
        let ended = self.known.reservations.insert(id.clone(), Vec::new()).unwrap_or_default();
        for charge in &ended {
            self.known.change_counter(charge, |counter| {
                counter.reserved = counter.reserved.saturating_sub(charge.amount);
                if taken {
                    counter.committed = counter.committed.saturating_add(charge.amount);
                }
            });
            self.pending.counters.insert(counter_key(charge));
        }
        if !ended.is_empty() {
            let which = if taken { &mut self.pending.committed } else { &mut self.pending.released };
            which.insert(id.clone());
        }
        Ok(())
    }
}

impl Known {
    /// Changes an intent where it is known, and forgets what followed from how it was.
    fn patch(&mut self, id: &IntentId, change: impl FnOnce(&mut Intent)) {
        let Some(Some(intent)) = self.intents.get_mut(id) else {
            // Nothing is known of it, so that nothing can be known of whose twin it is.
            self.twins.clear();
            return;
        };
        let doubted = intent.in_doubt();
        change(intent);
        if doubted || intent.in_doubt() {
            let of = (intent.principal.clone(), intent.call_digest);
            self.twins.remove(&of);
        }
    }

    fn change_counter(&mut self, charge: &Charge, change: impl FnOnce(&mut Counter)) {
        let counter = self.counters.entry(counter_key(charge)).or_default();
        change(counter.get_or_insert_with(|| Counter { charge: charge.clone(), committed: 0, reserved: 0 }));
    }
}

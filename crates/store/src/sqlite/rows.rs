//! What a command sees of the records within a transaction, and does to them.

use std::path::Path;

use callgate_gateway::JournalError;
use callgate_gateway::intent::Observation;
use callgate_gateway::journal::{Answer, Command, Effect, Pin, PublicationHead, ReceiptRow, Rows};
use callgate_schema::json::Digest;
use callgate_wire::{Approval, ApprovalId, Charge, Incarnation, Intent, IntentId, Principal, Timestamp};
use rusqlite::Connection;

use super::{approvals, budgets, catalog, history, incarnation, intents};

/// The records of one file, within a transaction that no other writer can disturb.
pub(super) struct SqliteRows<'a> {
    connection: &'a Connection,
    path: &'a Path,
    /// The lives that were ended.
    ended: Vec<Incarnation>,
    /// Where an operator decides: the moment at which an intent of a gate that is gone is taken for one in doubt,
    /// although no gate has taken it over yet.
    doubts_at: Option<Timestamp>,
}

/// What became of a command, and whose lock files can go once that is on the disk.
pub(super) struct Done {
    pub(super) answer: Answer,
    pub(super) ended: Vec<Incarnation>,
}

/// Runs a gate's command.
pub(super) fn run(connection: &Connection, path: &Path, command: &Command) -> Result<Done, JournalError> {
    let mut rows = SqliteRows { connection, path, ended: Vec::new(), doubts_at: None };
    let answer = command.run(&mut rows)?;
    Ok(Done { answer, ended: rows.ended })
}

/// Runs an operator's command, for whom the intents of gates that are gone are in doubt.
pub(super) fn run_for_operator(
    connection: &Connection,
    path: &Path,
    command: &Command,
) -> Result<Done, JournalError> {
    let doubts_at = match command {
        Command::Reconcile(request) => Some(request.at),
        _ => None,
    };
    let mut rows = SqliteRows { connection, path, ended: Vec::new(), doubts_at };
    let answer = command.run(&mut rows)?;
    Ok(Done { answer, ended: rows.ended })
}

impl Rows for SqliteRows<'_> {
    fn lasts(&mut self, incarnation: &Incarnation) -> Result<bool, JournalError> {
        Ok(incarnation::lasts(self.connection, self.path, incarnation)?)
    }

    fn gone(&mut self, ours: &Incarnation) -> Result<Vec<Incarnation>, JournalError> {
        let mut lasting = incarnation::lasting(self.connection, self.path)?;
        lasting.retain(|other| other != ours && incarnation::is_gone(self.path, other));
        Ok(lasting)
    }

    fn intent(&mut self, id: &IntentId) -> Result<Option<Intent>, JournalError> {
        let mut found = intents::by_id(self.connection, self.path, id)?;
        if let (Some(intent), Some(at)) = (&mut found, self.doubts_at)
            && intent.settlement.is_none()
            && incarnation::is_gone(self.path, &intent.fence)
        {
            intent.settlement = Some(Observation::GateGone.settlement(intent.pinned, at));
        }
        Ok(found)
    }

    fn tried_as(&mut self, request: &IntentId) -> Result<Option<Intent>, JournalError> {
        Ok(intents::tried_as(self.connection, self.path, request)?)
    }

    fn intent_of_key(&mut self, principal: &Principal, key: &str) -> Result<Option<Intent>, JournalError> {
        Ok(intents::of_key(self.connection, self.path, principal, key)?)
    }

    fn in_doubt_twin(
        &mut self,
        principal: &Principal,
        call_digest: Digest,
    ) -> Result<Option<Intent>, JournalError> {
        Ok(intents::twin(self.connection, self.path, principal, call_digest)?)
    }

    fn unsettled_twins(
        &mut self,
        principal: &Principal,
        call_digest: Digest,
        ours: &Incarnation,
    ) -> Result<Vec<Intent>, JournalError> {
        Ok(intents::unsettled_twins(self.connection, self.path, principal, call_digest, ours)?)
    }

    fn unsettled(&mut self, fence: &Incarnation) -> Result<Vec<Intent>, JournalError> {
        let found = intents::unsettled(self.connection, self.path, fence)?;
        Ok(found.into_iter().map(|(_, intent)| intent).collect())
    }

    fn result(&mut self, id: &IntentId) -> Result<Option<Box<[u8]>>, JournalError> {
        Ok(intents::result(self.connection, self.path, id)?)
    }

    fn approval(&mut self, id: &ApprovalId) -> Result<Option<Approval>, JournalError> {
        Ok(approvals::by_id(self.connection, self.path, id)?)
    }

    fn approvals_for(
        &mut self,
        principal: &Principal,
        call_digest: Digest,
        now: Timestamp,
    ) -> Result<Vec<Approval>, JournalError> {
        Ok(approvals::of_call(self.connection, self.path, principal, call_digest, now)?)
    }

    fn approvals_pending(&mut self, now: Timestamp) -> Result<u64, JournalError> {
        Ok(approvals::pending(self.connection, self.path, now)?)
    }

    fn used(&mut self, charge: &Charge) -> Result<u64, JournalError> {
        Ok(budgets::used(self.connection, self.path, charge)?)
    }

    fn publication(&mut self, upstream: &str) -> Result<Option<PublicationHead>, JournalError> {
        Ok(catalog::publication(self.connection, self.path, upstream)?)
    }

    fn receipt(&mut self, upstream: &str, publication: &str) -> Result<Option<ReceiptRow>, JournalError> {
        Ok(catalog::receipt(self.connection, self.path, upstream, publication)?)
    }

    fn pins(&mut self, upstream: &str) -> Result<Vec<Pin>, JournalError> {
        let found = catalog::pins(self.connection, self.path, Some(upstream))?;
        Ok(found.into_iter().map(|record| record.pin).collect())
    }

    fn apply(&mut self, effect: &Effect) -> Result<(), JournalError> {
        let (connection, path) = (self.connection, self.path);
        match effect {
            Effect::AddIntent(record) => intents::add(connection, path, record)?,
            Effect::Retry { id, attempt, fence, request } => {
                intents::retry(connection, path, id, *attempt, fence, request)?;
            }
            Effect::PermitRetry(id) => intents::permit_retry(connection, path, id)?,
            Effect::SetSettlement { id, fence, settlement, result } => {
                intents::settle(connection, path, id, fence, settlement, result.as_deref())?;
            }
            Effect::EndIncarnation { incarnation, at } => {
                incarnation::end(connection, path, incarnation, *at)?;
                self.ended.push(incarnation.clone());
            }
            Effect::AddApproval(record) => approvals::add(connection, path, record)?,
            Effect::SetApproval(approval) => approvals::set(connection, path, approval)?,
            Effect::Reserve { intent, charge } => budgets::reserve(connection, path, intent, charge)?,
            Effect::CommitReservations(id) => budgets::end(connection, path, id, budgets::End::Commit)?,
            Effect::ReleaseReservations(id) => budgets::end(connection, path, id, budgets::End::Release)?,
            Effect::SetPublication { upstream, head, receipt, rows } => {
                catalog::publish(connection, path, upstream, head, receipt, rows)?;
            }
            Effect::ForgetReceipts { upstream, kept } => {
                catalog::forget_receipts(connection, path, upstream, *kept)?;
            }
            Effect::SetPin { upstream, pin } => catalog::set_pin(connection, path, upstream, pin)?,
            Effect::Note(event) => history::note(connection, path, event)?,
        }
        Ok(())
    }
}

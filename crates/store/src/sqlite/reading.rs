//! What is read outside of any command, on a connection that does nothing else.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use callgate_gateway::IntentFilter;
use callgate_gateway::intent::Observation;
use callgate_gateway::journal::{ApprovalFilter, Counter, EventFilter, PinRecord};
use callgate_wire::{
    Approval, ApprovalRecord, Event, Incarnation, Intent, IntentRecord, Principal, Timestamp,
};
use rusqlite::Connection;

use super::{approvals, budgets, catalog, history, incarnation, intents};
use crate::StoreError;

/// A connection that only reads.
#[derive(Debug)]
pub(super) struct Reading {
    connection: Mutex<Connection>,
    path: PathBuf,
    /// For who looks beside gates: the moment at which an intent whose gate is gone is shown as what it will be
    /// recorded as, in doubt, although no gate has taken it over yet.
    doubts_at: Option<Timestamp>,
}

impl Reading {
    /// What is recorded.
    pub(super) fn of_gate(connection: Connection, path: &Path) -> Reading {
        Reading { connection: Mutex::new(connection), path: path.to_owned(), doubts_at: None }
    }

    /// What is recorded, and what will be of the intents of gates that are gone.
    pub(super) fn beside_gates(connection: Connection, path: &Path, now: Timestamp) -> Reading {
        Reading { connection: Mutex::new(connection), path: path.to_owned(), doubts_at: Some(now) }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn connection(&self) -> MutexGuard<'_, Connection> {
        // A reader that panicked has changed nothing.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn list(&self, filter: &IntentFilter) -> Result<Vec<Intent>, StoreError> {
        let connection = self.connection();
        // The ones of gates that are gone first: one that is settled after that is then read as it is.
        let unrecorded = match self.doubts_at {
            Some(at) if filter.in_doubt => self.unrecorded_doubts(&connection, filter, at)?,
            Some(_) | None => Vec::new(),
        };
        let mut page = intents::page(&connection, &self.path, filter)?;
        for (_, intent) in &mut page {
            self.doubt(&connection, intent)?;
        }
        for (seq, intent) in unrecorded {
            if !page.iter().any(|(known, _)| *known == seq) {
                page.push((seq, intent));
            }
        }
        page.sort_by_key(|(seq, _)| std::cmp::Reverse(*seq));
        page.truncate(filter.limit as usize);
        Ok(page.into_iter().map(|(_, intent)| intent).collect())
    }

    /// The intents that will be recorded as in doubt, of which there are no more than were under way when their gates
    /// ended.
    fn unrecorded_doubts(
        &self,
        connection: &Connection,
        filter: &IntentFilter,
        at: Timestamp,
    ) -> Result<Vec<(i64, Intent)>, StoreError> {
        let before = match &filter.before {
            Some(id) => intents::place(connection, &self.path, id)?.unwrap_or_default(),
            None => i64::MAX,
        };
        let mut doubts = Vec::new();
        for gone in self.gone(connection)? {
            for (seq, mut intent) in intents::unsettled(connection, &self.path, &gone)? {
                intent.settlement = Some(Observation::GateGone.settlement(intent.pinned, at));
                if seq < before && intent.in_doubt() {
                    doubts.push((seq, intent));
                }
            }
        }
        Ok(doubts)
    }

    fn gone(&self, connection: &Connection) -> Result<Vec<Incarnation>, StoreError> {
        let mut lasting = incarnation::lasting(connection, &self.path)?;
        lasting.retain(|one| incarnation::is_gone(&self.path, one));
        Ok(lasting)
    }

    fn doubt(&self, connection: &Connection, intent: &mut Intent) -> Result<(), StoreError> {
        let Some(at) = self.doubts_at else { return Ok(()) };
        if intent.settlement.is_some() || !incarnation::is_gone(&self.path, &intent.fence) {
            return Ok(());
        }
        // It may have settled the intent after that was read here and before it ended; now it can no longer.
        if let Some(now) = intents::by_id(connection, &self.path, &intent.id)? {
            *intent = now;
        }
        let pinned = intent.pinned;
        intent.settlement.get_or_insert_with(|| Observation::GateGone.settlement(pinned, at));
        Ok(())
    }

    pub(super) fn show(&self, part: &str) -> Result<Option<IntentRecord>, StoreError> {
        let connection = self.connection();
        let mut record = intents::show(&connection, &self.path, part)?;
        if let Some(record) = &mut record {
            self.doubt(&connection, &mut record.intent)?;
        }
        Ok(record)
    }

    pub(super) fn approvals(&self, filter: &ApprovalFilter) -> Result<Vec<Approval>, StoreError> {
        approvals::page(&self.connection(), &self.path, filter)
    }

    pub(super) fn approval_record(&self, part: &str) -> Result<Option<ApprovalRecord>, StoreError> {
        approvals::show(&self.connection(), &self.path, part)
    }

    pub(super) fn last_approved(
        &self,
        principal: &Principal,
        upstream: &str,
        tool: &str,
    ) -> Result<Option<ApprovalRecord>, StoreError> {
        approvals::last_used(&self.connection(), &self.path, principal, upstream, tool)
    }

    pub(super) fn counters(&self) -> Result<Vec<Counter>, StoreError> {
        budgets::list(&self.connection(), &self.path)
    }

    pub(super) fn pinned(&self, upstream: Option<&str>) -> Result<Vec<PinRecord>, StoreError> {
        catalog::pins(&self.connection(), &self.path, upstream)
    }

    pub(super) fn history(&self, filter: &EventFilter) -> Result<Vec<Event>, StoreError> {
        history::page(&self.connection(), &self.path, filter)
    }
}

/// Makes a type that holds a [`Reading`] give what is read by it.
macro_rules! records {
    ($name:ident, $reading:ident) => {
        impl callgate_gateway::journal::Records for $name {
            fn list(
                &self,
                filter: &callgate_gateway::IntentFilter,
            ) -> Result<Vec<callgate_wire::Intent>, callgate_gateway::JournalError> {
                Ok(self.$reading.list(filter)?)
            }

            fn show(
                &self,
                id_or_part: &str,
            ) -> Result<Option<callgate_wire::IntentRecord>, callgate_gateway::JournalError> {
                Ok(self.$reading.show(id_or_part)?)
            }

            fn approvals(
                &self,
                filter: &callgate_gateway::journal::ApprovalFilter,
            ) -> Result<Vec<callgate_wire::Approval>, callgate_gateway::JournalError> {
                Ok(self.$reading.approvals(filter)?)
            }

            fn approval_record(
                &self,
                id_or_part: &str,
            ) -> Result<Option<callgate_wire::ApprovalRecord>, callgate_gateway::JournalError> {
                Ok(self.$reading.approval_record(id_or_part)?)
            }

            fn last_approved(
                &self,
                principal: &callgate_wire::Principal,
                upstream: &str,
                tool: &str,
            ) -> Result<Option<callgate_wire::ApprovalRecord>, callgate_gateway::JournalError> {
                Ok(self.$reading.last_approved(principal, upstream, tool)?)
            }

            fn counters(
                &self,
            ) -> Result<Vec<callgate_gateway::journal::Counter>, callgate_gateway::JournalError> {
                Ok(self.$reading.counters()?)
            }

            fn pinned(
                &self,
                upstream: Option<&str>,
            ) -> Result<Vec<callgate_gateway::journal::PinRecord>, callgate_gateway::JournalError> {
                Ok(self.$reading.pinned(upstream)?)
            }

            fn history(
                &self,
                filter: &callgate_gateway::journal::EventFilter,
            ) -> Result<Vec<callgate_wire::Event>, callgate_gateway::JournalError> {
                Ok(self.$reading.history(filter)?)
            }
        }
    };
}

pub(super) use records;

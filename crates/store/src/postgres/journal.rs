//! START HERE. The journal that a gate opens, and the ledger that an operator opens.

use std::sync::Arc;

use callgate_gateway::Journal;
use callgate_gateway::journal::{
    Answer, ApprovalFilter, Command, Counter, EventFilter, IntentFilter, JournalError, Ledger, PinRecord,
    Records,
};
use callgate_wire::{
    Approval, ApprovalRecord, Event, Incarnation, Intent, IntentRecord, Principal, Timestamp,
};

use super::place::PostgresPlace;
use super::prefetch::Lease;
use super::reads::Reads;
use super::worker::Identity;
use super::writer::Writer;
use crate::Forgotten;

/// The journal on a database of PostgreSQL, which other gates, also on other machines, may have open too.
///
/// A command returns after its transaction is durable on the server; commands that wait at the same time share one.
/// While it is open it keeps a lease; a gate whose lease has passed can open nothing until it has it again, and nothing
/// ever once another gate has taken over. Methods may be called on any thread; they block it.
#[derive(Debug)]
pub struct PostgresJournal {
    writer: Writer,
    reads: Reads,
    place: Arc<PostgresPlace>,
    incarnation: Incarnation,
}

impl PostgresJournal {
    /// Opens the store for a gate, makes it if there is none, brings it up to date, and enters the incarnation, which
    /// must be new.
    ///
    /// # Errors
    ///
    /// `store-unavailable`, also of a server that confirms what is not on its disk; `store-newer`, `store-corrupt`.
    pub fn open_gate(
        place: PostgresPlace,
        incarnation: Incarnation,
        pid: u32,
        now: Timestamp,
    ) -> Result<PostgresJournal, JournalError> {
        let place = Arc::new(place);
        let length = place.lease().as_secs_f64();
        let due = length - place.renewal().as_secs_f64();
        let lease = Lease { incarnation: incarnation.clone(), length, due };
        let writer = Writer::start(&place, Identity::Gate { lease, pid, started_at: now.0 })?;
        let reads = Reads::new(Arc::clone(&place), None)?;
        Ok(PostgresJournal { writer, reads, place, incarnation })
    }

    /// Where the store is.
    pub fn place(&self) -> &PostgresPlace {
        &self.place
    }
}

/// The records of a store on PostgreSQL, for an operator: opens no calls and keeps no lease.
///
/// An intent whose gate is gone and that no other gate has taken over yet is in doubt for it, so that an operator can say
/// what became of it without starting a gate.
#[derive(Debug)]
pub struct PostgresLedger {
    writer: Writer,
    reads: Reads,
}

impl PostgresLedger {
    /// Opens a store that is there, to look at it and to change it, at the time `now`.
    ///
    /// # Errors
    ///
    /// As [`PostgresJournal::open_gate`], and `store-unavailable` if there is none.
    pub fn open_operator(place: PostgresPlace, now: Timestamp) -> Result<PostgresLedger, JournalError> {
        let place = Arc::new(place);
        let writer = Writer::start(&place, Identity::Operator)?;
        Ok(PostgresLedger { writer, reads: Reads::new(place, Some(now))? })
    }

    /// Deletes what ended before this moment: intents that have an outcome and are in no doubt, and what goes with them.
    /// In batches, so that gates wait for none of it.
    ///
    /// # Errors
    ///
    /// `store-unavailable`; what was deleted until then stays deleted.
    pub fn forget(&self, before: Timestamp) -> Result<Forgotten, JournalError> {
        self.reads.forget(before)
    }
}

macro_rules! records {
    ($name:ident) => {
        impl Records for $name {
            fn list(&self, filter: &IntentFilter) -> Result<Vec<Intent>, JournalError> {
                self.reads.list(filter)
            }

            fn show(&self, id_or_part: &str) -> Result<Option<IntentRecord>, JournalError> {
                self.reads.show(id_or_part)
            }

            fn approvals(&self, filter: &ApprovalFilter) -> Result<Vec<Approval>, JournalError> {
                self.reads.approvals(filter)
            }

            fn approval_record(&self, id_or_part: &str) -> Result<Option<ApprovalRecord>, JournalError> {
                self.reads.approval_record(id_or_part)
            }

            fn last_approved(
                &self,
                principal: &Principal,
                upstream: &str,
                tool: &str,
            ) -> Result<Option<ApprovalRecord>, JournalError> {
                self.reads.last_approved(principal, upstream, tool)
            }

            fn counters(&self) -> Result<Vec<Counter>, JournalError> {
                self.reads.counters()
            }

            fn pinned(&self, upstream: Option<&str>) -> Result<Vec<PinRecord>, JournalError> {
                self.reads.pinned(upstream)
            }

            fn history(&self, filter: &EventFilter) -> Result<Vec<Event>, JournalError> {
                self.reads.history(filter)
            }
        }

        impl Ledger for $name {
            fn commit(&self, command: Command) -> Result<Answer, JournalError> {
                self.writer.commit(command)
            }
        }
    };
}

records!(PostgresJournal);
records!(PostgresLedger);

impl Journal for PostgresJournal {
    fn incarnation(&self) -> &Incarnation {
        &self.incarnation
    }
}

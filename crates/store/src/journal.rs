//! START HERE. The journal that a gate opens: writes go to the one thread that writes, reads have a connection of
//! their own.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use callgate_gateway::{AdmissionRow, ContractChange, IntentFilter, Journal, JournalError};
use callgate_wire::{Incarnation, Intent, IntentId, IntentRecord, Settlement, Timestamp};
use rusqlite::Connection;

use crate::incarnation::Lock;
use crate::writer::Writer;
use crate::{StoreError, file, incarnation, migrate, query, write};

/// The journal on one SQLite file, which other processes may have open too.
///
/// A write returns after its transaction is on the disk; writes that wait at the same time share one. Waits up to ten
/// seconds for other processes that write.
// The fields are dropped in this order: the lock goes last, when nothing more can be written.
#[derive(Debug)]
pub struct SqliteJournal {
    writer: Writer,
    reading: Mutex<Connection>,
    path: PathBuf,
    incarnation: Incarnation,
    _lock: Lock,
}

impl SqliteJournal {
    /// Opens the store for a gate, makes it if there is none (the file for its owner alone, and so each folder that is
    /// missing), brings it up to date, and enters the incarnation, which must be new.
    ///
    /// # Errors
    ///
    /// `store-unavailable`, `store-newer`, `store-corrupt`.
    pub fn open_gate(
        path: &Path,
        incarnation: Incarnation,
        pid: u32,
        now: Timestamp,
    ) -> Result<SqliteJournal, StoreError> {
        let path = file::make(path)?;
        let mut writing = file::open_writing(&path)?;
        migrate::state(&writing, &path)?;
        file::guard(&path)?;
        migrate::mark(&mut writing, &path)?;
        file::turn_on_log(&writing, &path)?;
        migrate::migrate(&mut writing, &path)?;
        let lock = incarnation::enter(&mut writing, &path, &incarnation, pid, now)?;
        let reading = Mutex::new(file::open_reading(&path)?);
        let writer = Writer::start(writing, &path)?;
        Ok(SqliteJournal { writer, reading, path, incarnation, _lock: lock })
    }

    /// The store's file, without links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn reading(&self) -> MutexGuard<'_, Connection> {
        // A reader that panicked has changed nothing.
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Journal for SqliteJournal {
    fn append(&self, record: &IntentRecord) -> Result<(), JournalError> {
        assert_eq!(record.intent.fence, self.incarnation, "a gate opens intents under its own incarnation");
        let (path, record) = (self.path.clone(), record.clone());
        Ok(self.writer.write(move |connection| write::append::append(connection, &path, &record))?)
    }

    fn settle(&self, id: &IntentId, settlement: &Settlement) -> Result<(), JournalError> {
        let (path, id, fence) = (self.path.clone(), id.clone(), self.incarnation.clone());
        let settlement = settlement.clone();
        Ok(self
            .writer
            .write(move |connection| write::settle::settle(connection, &path, &id, &fence, &settlement))?)
    }

    fn record_admissions(
        &self,
        upstream: &str,
        rows: &[AdmissionRow],
        at: Timestamp,
    ) -> Result<Vec<ContractChange>, JournalError> {
        let (path, upstream, rows) = (self.path.clone(), upstream.to_owned(), rows.to_vec());
        Ok(self
            .writer
            .write(move |connection| write::admissions::record(connection, &path, &upstream, &rows, at))?)
    }

    fn recover(&self, at: Timestamp) -> Result<Vec<Intent>, JournalError> {
        let (path, fence) = (self.path.clone(), self.incarnation.clone());
        Ok(self.writer.write(move |connection| write::recover::recover(connection, &path, &fence, at))?)
    }

    fn list(&self, filter: &IntentFilter) -> Result<Vec<Intent>, JournalError> {
        Ok(query::list(&self.reading(), &self.path, filter)?)
    }

    fn show(&self, id_or_part: &str) -> Result<Option<IntentRecord>, JournalError> {
        Ok(query::show(&self.reading(), &self.path, id_or_part)?)
    }

    fn incarnation(&self) -> &Incarnation {
        &self.incarnation
    }
}

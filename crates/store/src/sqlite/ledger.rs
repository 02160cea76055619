//! The way in for an operator: changes records beside gates that run, without being one.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use callgate_gateway::JournalError;
use callgate_gateway::journal::{Answer, Command, Ledger};
use callgate_wire::{Code, Timestamp};
use rusqlite::Connection;

use super::migrate::State;
use super::reading::{Reading, records};
use super::retention::Walk;
use super::{file, incarnation, migrate, rows, writer};
use crate::{Forgotten, StoreError};

/// A store that an operator changes: by the command line or the console, beside gates that run or after them.
///
/// It opens no calls. An intent whose gate is gone and that no other gate has taken over yet is in doubt for it, so that
/// an operator can say what became of it without starting a gate.
#[derive(Debug)]
pub struct SqliteLedger {
    writing: Mutex<Connection>,
    reading: Reading,
}

impl SqliteLedger {
    /// Opens a store to look at it and to change it, at the time `now`. Makes none, and brings none up to date.
    ///
    /// # Errors
    ///
    /// `store-unavailable` (see [`StoreError::is_missing`]), `store-newer`, `store-corrupt`.
    pub fn open_operator(path: &Path, now: Timestamp) -> Result<SqliteLedger, StoreError> {
        let path = file::find(path)?;
        let writing = file::open_writing(&path)?;
        match migrate::state(&writing, &path)? {
            State::Current => {}
            State::Empty => {
                let message =
                    "expected a store, found a file in which nothing is yet; start a gate on it once";
                return Err(StoreError::new(Code::StoreUnavailable, &path, message));
            }
            State::Older => return Err(migrate::older(&path)),
        }
        file::turn_on_log(&writing, &path)?;
        let reading = Reading::beside_gates(file::open_reading(&path)?, &path, now);
        Ok(SqliteLedger { writing: Mutex::new(writing), reading })
    }

    /// Deletes what ended before this moment: see [`SqliteJournal::forget`](crate::SqliteJournal::forget).
    ///
    /// # Errors
    ///
    /// As there.
    pub fn forget(&self, before: Timestamp) -> Result<Forgotten, JournalError> {
        let (mut walk, mut forgotten) = (Walk::new(before), Forgotten::default());
        loop {
            let more = self.write(|connection| {
                let (gone, more) = walk.step(connection, self.path())?;
                forgotten.add(gone);
                Ok(more)
            })?;
            if !more {
                return Ok(forgotten);
            }
        }
    }

    fn write<T>(&self, work: impl FnOnce(&Connection) -> Result<T, JournalError>) -> Result<T, JournalError> {
        // One that panicked has left its transaction, which was taken back then.
        let writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        writer::write_one(&writing, self.path(), work)
    }

    /// The store's file, without links.
    pub fn path(&self) -> &Path {
        self.reading.path()
    }
}

records!(SqliteLedger, reading);

impl Ledger for SqliteLedger {
    fn commit(&self, command: Command) -> Result<Answer, JournalError> {
        let done = self.write(|connection| rows::run_for_operator(connection, self.path(), &command))?;
        for gone in &done.ended {
            incarnation::forget(self.path(), gone);
        }
        Ok(done.answer)
    }
}

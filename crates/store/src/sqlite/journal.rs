//! START HERE. The journal that a gate opens: commands go to the one thread that writes, reads have a connection of
//! their own.

use std::path::Path;

use callgate_gateway::JournalError;
use callgate_gateway::journal::{Answer, Command, Journal, Ledger};
use callgate_wire::{Incarnation, Timestamp};

use super::file::STORE_BYTES_MAX;
use super::incarnation::{self, Lock};
use super::reading::{Reading, records};
use super::retention::Walk;
use super::writer::Writer;
use super::{file, migrate, rows};
use crate::{Forgotten, StoreError};

/// The journal on one SQLite file, which other processes may have open too.
///
/// A command returns after its transaction is on the disk; commands that wait at the same time share one. Waits up to
/// ten seconds for other processes that write.
// The fields are dropped in this order: the lock goes last, when nothing more can be written.
#[derive(Debug)]
pub struct SqliteJournal {
    writer: Writer,
    reading: Reading,
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
        SqliteJournal::open_gate_bounded(path, incarnation, pid, now, STORE_BYTES_MAX)
    }

    /// As [`SqliteJournal::open_gate`], with a bound of its own on the file: see [`STORE_BYTES_MAX`].
    ///
    /// # Errors
    ///
    /// As there.
    pub fn open_gate_bounded(
        path: &Path,
        incarnation: Incarnation,
        pid: u32,
        now: Timestamp,
        bytes_max: u64,
    ) -> Result<SqliteJournal, StoreError> {
        let path = file::make(path)?;
        let mut writing = file::open_writing(&path)?;
        migrate::state(&writing, &path)?;
        file::guard(&path)?;
        migrate::mark(&mut writing, &path)?;
        file::turn_on_log(&writing, &path)?;
        migrate::migrate(&mut writing, &path)?;
        file::bound(&writing, &path, bytes_max)?;
        let lock = incarnation::enter(&mut writing, &path, &incarnation, pid, now)?;
        let reading = Reading::of_gate(file::open_reading(&path)?, &path);
        let writer = Writer::start(writing, &path)?;
        Ok(SqliteJournal { writer, reading, incarnation, _lock: lock })
    }

    /// The store's file, without links.
    pub fn path(&self) -> &Path {
        self.reading.path()
    }

    /// Deletes what ended before this moment: intents with their keys, results and reservations, but for those in doubt;
    /// approvals that were used by such a call or are over; counters of windows that are over; and the lines of the history
    /// about all that. In batches of 500 rows, each a transaction that calls can share.
    ///
    /// # Errors
    ///
    /// `store-unavailable`, `store-corrupt`. What was deleted by then stays deleted.
    pub fn forget(&self, before: Timestamp) -> Result<Forgotten, JournalError> {
        let (mut walk, mut forgotten) = (Walk::new(before), Forgotten::default());
        loop {
            let path = self.path().to_owned();
            let (next, gone, more) = self.writer.write(move |connection| {
                let (gone, more) = walk.step(connection, &path)?;
                Ok((walk, gone, more))
            })?;
            walk = next;
            forgotten.add(gone);
            if !more {
                return Ok(forgotten);
            }
        }
    }
}

records!(SqliteJournal, reading);

impl Ledger for SqliteJournal {
    fn commit(&self, command: Command) -> Result<Answer, JournalError> {
        if let Command::Open(request) = &command {
            let fence = &request.record.intent.fence;
            assert_eq!(*fence, self.incarnation, "a gate opens intents under its own incarnation");
        }
        let path = self.path().to_owned();
        let done = self.writer.write(move |connection| rows::run(connection, &path, &command))?;
        for gone in &done.ended {
            incarnation::forget(self.path(), gone);
        }
        Ok(done.answer)
    }
}

impl Journal for SqliteJournal {
    fn incarnation(&self) -> &Incarnation {
        &self.incarnation
    }
}

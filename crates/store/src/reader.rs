//! What only looks: for the command line, beside gates that run or after them.

use std::path::{Path, PathBuf};

use callgate_gateway::IntentFilter;
use callgate_gateway::intent::Observation;
use callgate_wire::{Code, Intent, IntentRecord, Timestamp};
use rusqlite::Connection;

use crate::migrate::State;
use crate::{StoreError, file, incarnation, migrate, query};

/// A store that is only read: nothing in it is changed, and none is made.
///
/// An intent whose gate is gone and that no other gate has taken over yet is shown as what it will be recorded as: in
/// doubt, since its gate ended without a word.
#[derive(Debug)]
pub struct StoreReader {
    connection: Connection,
    path: PathBuf,
    now: Timestamp,
    is_empty: bool,
}

impl StoreReader {
    /// Opens a store to look at it, at the time `now`.
    ///
    /// # Errors
    ///
    /// `store-unavailable` (see [`StoreError::is_missing`]), `store-newer`, `store-corrupt`.
    pub fn open(path: &Path, now: Timestamp) -> Result<StoreReader, StoreError> {
        let path = file::find(path)?;
        let connection = file::open_reading(&path)?;
        let is_empty = match migrate::state(&connection, &path)? {
            // A gate that starts at this moment has made the file and is about to fill it.
            State::Empty => true,
            State::Current => false,
            State::Older => {
                let message =
                    "expected a store of this program's version, found an older one; start a gate on it once";
                return Err(StoreError::new(Code::StoreUnavailable, &path, message));
            }
        };
        Ok(StoreReader { connection, path, now, is_empty })
    }

    /// The intents, the last one opened first.
    ///
    /// # Errors
    ///
    /// `store-unavailable`, `store-corrupt`.
    pub fn list(&self, filter: &IntentFilter) -> Result<Vec<Intent>, StoreError> {
        if self.is_empty {
            return Ok(Vec::new());
        }
        let mut intents = query::list(&self.connection, &self.path, filter)?;
        for intent in &mut intents {
            self.doubt(intent)?;
        }
        Ok(intents)
    }

    /// The intent with this id, or the only one whose id begins or ends so.
    ///
    /// # Errors
    ///
    /// `intent-ambiguous`, `store-unavailable`, `store-corrupt`.
    pub fn show(&self, id_or_part: &str) -> Result<Option<IntentRecord>, StoreError> {
        if self.is_empty {
            return Ok(None);
        }
        let mut record = query::show(&self.connection, &self.path, id_or_part)?;
        if let Some(record) = &mut record {
            self.doubt(&mut record.intent)?;
        }
        Ok(record)
    }

    fn doubt(&self, intent: &mut Intent) -> Result<(), StoreError> {
        if intent.settlement.is_some() || !incarnation::is_gone(&self.path, &intent.fence) {
            return Ok(());
        }
        // It may have settled the intent after that was read here and before it ended; now it can no longer.
        if let Some(now) = query::by_id(&self.connection, &self.path, &intent.id)? {
            *intent = now;
        }
        intent.settlement.get_or_insert_with(|| Observation::GateGone.settlement(self.now));
        Ok(())
    }
}

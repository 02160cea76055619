//! What only looks: for the command line, beside gates that run or after them.

use std::path::Path;

use callgate_wire::Timestamp;

use super::migrate::State;
use super::reading::{Reading, records};
use super::{file, migrate};
use crate::StoreError;

/// A store that is only read: nothing in it is changed, and none is made.
///
/// An intent whose gate is gone and that no other gate has taken over yet is shown as what it will be recorded as: in
/// doubt, since its gate ended without a word.
#[derive(Debug)]
pub struct StoreReader {
    reading: Reading,
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
        let connection = match migrate::state(&connection, &path)? {
            // A gate that starts at this moment has made the file and is about to fill it: it reads as an empty store.
            State::Empty => migrate::empty(&path)?,
            State::Current => connection,
            State::Older => return Err(migrate::older(&path)),
        };
        Ok(StoreReader { reading: Reading::beside_gates(connection, &path, now) })
    }
}

records!(StoreReader, reading);

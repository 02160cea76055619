//! A copy of a store that is in use.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use callgate_wire::Code;
use rusqlite::backup::{Backup, StepResult};

use super::migrate::State;
use super::{file, migrate};
use crate::StoreError;
use crate::error::At as _;

/// Copies a store to a new file, for its owner alone, as the store is at one moment; gates that run go on meanwhile.
/// Gives the bytes of the copy, which is on the disk when this returns.
///
/// The copy is a store like any other. Calls that were under way at that moment are in doubt in it, since no gate has their
/// locks there; and it knows nothing of what came later, so that a gate that starts on it may let an approval be used once
/// more that was used after the copy was made.
///
/// # Errors
///
/// `store-unavailable` (see [`StoreError::is_missing`]; also if there is a file of the copy's name), `store-newer`,
/// `store-corrupt`. A copy that was begun is taken away.
pub fn backup_store(store: &Path, copy: &Path) -> Result<u64, StoreError> {
    let store = file::find(store)?;
    let from = file::open_reading(&store)?;
    if migrate::state(&from, &store)? == State::Empty {
        return Err(StoreError::new(Code::StoreUnavailable, &store, "nothing is in it yet"));
    }
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(file::FILE_MODE)
        .open(copy)
        .map_err(|error| StoreError::io(copy, "make the copy", error))?;
    let copied = pages(&from, &store, copy).and_then(|()| finish(copy));
    if copied.is_err() {
        // What is half done is no copy. Where it cannot be taken away, its first page still says that it is none.
        let _ = fs::remove_file(copy);
    }
    copied
}

fn pages(from: &rusqlite::Connection, store: &Path, copy: &Path) -> Result<(), StoreError> {
    let mut to = file::open_writing(copy)?;
    // In one step, so that nothing that gates write meanwhile makes it begin again.
    let step = Backup::new(from, &mut to).and_then(|backup| backup.step(-1)).at(copy)?;
    if step != StepResult::Done {
        return Err(StoreError::new(
            Code::StoreUnavailable,
            store,
            "another process held the file for too long",
        ));
    }
    // The copy has no log of its own: it is one file.
    to.pragma_update(None, "journal_mode", "DELETE").at(copy)?;
    to.close().map_err(|(_, error)| StoreError::sqlite(copy, error))
}

fn finish(copy: &Path) -> Result<u64, StoreError> {
    let durable = || {
        let file = fs::File::open(copy)?;
        file.sync_all()?;
        let folder = copy.parent().filter(|folder| !folder.as_os_str().is_empty());
        fs::File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
        file.metadata().map(|metadata| metadata.len())
    };
    durable().map_err(|error| StoreError::io(copy, "make the copy durable", error))
}

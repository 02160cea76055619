//! The store's file and its folder: made for their owner alone, and opened with the settings that the promises rest on.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use callgate_wire::Code;
use rusqlite::{Connection, MAIN_DB, OpenFlags};

use crate::StoreError;
use crate::error::At as _;

/// Only the owner reads and writes: arguments can be secrets. SQLite gives the log and its index the same mode.
const FILE_MODE: u32 = 0o600;
/// Only the owner looks in.
const FOLDER_MODE: u32 = 0o700;

/// How long a write waits while other processes write. Far above any transaction of ours, so that what runs into it
/// is a process that is frozen or a disk that does not answer.
const BUSY_MS_MAX: u64 = 10_000;
/// How long between two tries. Short and even: with SQLite's own handler, whose steps grow to 100 ms, a process that
/// writes all the time starves the others.
const BUSY_STEP_MS: u64 = 2;

/// The log is cut back to this after a burst, so that the disk gets its space back.
const LOG_BYTES_KEPT_MAX: i64 = 16 << 20;

/// Makes the file if there is none, and its folders; gives the path by which every process names it, whatever links
/// led there.
pub(crate) fn make(path: &Path) -> Result<PathBuf, StoreError> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    DirBuilder::new()
        .recursive(true)
        .mode(FOLDER_MODE)
        .create(folder)
        .map_err(|error| StoreError::io(path, "make the folder of the store", error))?;
    match OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(path) {
        Ok(_) => File::open(folder)
            .and_then(|folder| folder.sync_all())
            .map_err(|error| StoreError::io(path, "make the name of the file durable", error))?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => guard(path)?,
        Err(error) => return Err(StoreError::io(path, "make the file", error)),
    }
    real(path)
}

/// The path without links.
pub(crate) fn real(path: &Path) -> Result<PathBuf, StoreError> {
    fs::canonicalize(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => StoreError::missing(path),
        _ => StoreError::io(path, "find the file", error),
    })
}

/// Takes from others what they may not have, also where the file was made by another program's rules.
fn guard(path: &Path) -> Result<(), StoreError> {
    let metadata = fs::metadata(path).map_err(|error| StoreError::io(path, "look at the file", error))?;
    if metadata.is_dir() {
        return Err(StoreError::new(Code::StoreUnavailable, path, "expected a file, found a folder"));
    }
    if metadata.permissions().mode() & 0o077 != 0 {
        fs::set_permissions(path, Permissions::from_mode(FILE_MODE))
            .map_err(|error| StoreError::io(path, "keep the file from other users", error))?;
    }
    Ok(())
}

/// Makes the folder of a store's lock files.
pub(crate) fn make_folder(store: &Path, folder: &Path) -> Result<(), StoreError> {
    match DirBuilder::new().mode(FOLDER_MODE).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(StoreError::io(store, "make the folder of the lock files", error))
        }
        _ => Ok(()),
    }
}

/// Opens for writing, with the settings that durability rests on.
pub(crate) fn open_writing(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = open(path, flags)?;
    if connection.is_readonly(MAIN_DB).at(path)? {
        return Err(StoreError::new(Code::StoreUnavailable, path, "the file is read-only"));
    }
    Ok(connection)
}

/// Turns on the log. Apart from opening, since a file that is not ours or is newer must not be touched.
pub(crate) fn turn_on_log(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let mode = retry_busy(|| {
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0))
    })
    .at(path)?;
    if mode != "wal" {
        let message = format!("expected the file system to allow a write-ahead log, found mode `{mode}`");
        return Err(StoreError::new(Code::StoreUnavailable, path, message));
    }
    // FULL makes every commit wait until its part of the log is on the disk; NORMAL would not.
    connection.pragma_update(None, "synchronous", "FULL").at(path)?;
    connection.pragma_update(None, "journal_size_limit", LOG_BYTES_KEPT_MAX).at(path)
}

/// Opens for reading alone: makes no file.
pub(crate) fn open_reading(path: &Path) -> Result<Connection, StoreError> {
    open(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)
}

fn open(path: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    let mut connection = Connection::open_with_flags(path, flags).at(path)?;
    connection.busy_handler(Some(wait_for_others)).at(path)?;
    connection.pragma_update(None, "foreign_keys", true).at(path)?;
    // Nothing in a damaged or foreign file is run.
    connection.pragma_update(None, "trusted_schema", false).at(path)?;
    Ok(connection)
}

fn wait_for_others(tries: i32) -> bool {
    let waited_ms = u64::from(tries.unsigned_abs()) * BUSY_STEP_MS;
    if waited_ms < BUSY_MS_MAX {
        std::thread::sleep(Duration::from_millis(BUSY_STEP_MS));
        true
    } else {
        false
    }
}

/// SQLite does not ask the busy handler where waiting could be a deadlock, as in the change to the log.
fn retry_busy<T>(mut act: impl FnMut() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    let mut tries = 0;
    loop {
        match act() {
            Err(error)
                if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy)
                    && wait_for_others(tries) =>
            {
                tries += 1;
            }
            outcome => return outcome,
        }
    }
}

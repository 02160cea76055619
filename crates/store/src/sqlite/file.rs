//! The store's file and its folder: made for their owner alone, and opened with the settings that the promises rest on.
//! A file that is not ours is not touched, and none is made beside it.

use std::fs::{self, DirBuilder, File, FileType, OpenOptions, Permissions};
use std::io::{self, Read as _};
use std::os::unix::fs::{
    DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};
use std::time::Duration;

use callgate_wire::Code;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, MAIN_DB, OpenFlags};

use super::migrate;
use crate::StoreError;
use crate::error::At as _;

/// Only the owner reads and writes: arguments can be secrets. SQLite gives the log and its index the same mode.
pub(super) const FILE_MODE: u32 = 0o600;
/// Only the owner looks in.
const FOLDER_MODE: u32 = 0o700;

/// How long a write waits while other processes write. Far above any transaction of ours, so that what runs into it
/// is a process that is frozen or a disk that does not answer.
const BUSY_MS_MAX: u64 = 10_000;
/// How long between two tries. Short and even: with SQLite's own handler, whose steps grow to 100 ms, a process that
/// writes all the time starves the others.
const BUSY_STEP_MS: u64 = 2;

/// Statements that a connection keeps ready: above the number of those that this crate has.
const STATEMENTS_KEPT_MAX: usize = 128;

/// Bytes of a store's file: beyond that it takes no more records, as if the disk were full, before the disk is and takes
/// everything else on the machine with it. Some 60 million calls with small arguments.
pub const STORE_BYTES_MAX: u64 = 64 << 30;

/// The log is cut back to this after a burst, so that the disk gets its space back.
const LOG_BYTES_KEPT_MAX: i64 = 16 << 20;

/// Makes the file if there is none, and its folders; what is there already must be a store. Gives the path by which
/// every process names it, whatever links led there.
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
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(StoreError::io(path, "make the file", error)),
    }
    find(path)
}

/// The path without links of a file that is a store, or an empty file, which may become one.
pub(crate) fn find(path: &Path) -> Result<PathBuf, StoreError> {
    let path = fs::canonicalize(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => StoreError::missing(path),
        _ => StoreError::io(path, "find the file", error),
    })?;
    let metadata = look(&path)?;
    if !metadata.is_file() {
        let message = format!("expected a file, found {}", kind(metadata.file_type()));
        return Err(StoreError::new(Code::StoreUnavailable, &path, message));
    }
    if metadata.len() > 0 {
        recognise(&path)?;
    }
    Ok(path)
}

fn kind(found: FileType) -> &'static str {
    if found.is_dir() {
        "a folder"
    } else if found.is_char_device() || found.is_block_device() {
        "a device"
    } else if found.is_fifo() {
        "a pipe"
    } else {
        "neither a file nor a folder"
    }
}

fn look(path: &Path) -> Result<fs::Metadata, StoreError> {
    fs::metadata(path).map_err(|error| StoreError::io(path, "look at the file", error))
}

/// Looks for our mark in the file's head. Not through SQLite: it makes files beside a database that has a log, and a
/// file of another program's must not get any.
fn recognise(path: &Path) -> Result<(), StoreError> {
    let fail = |error| StoreError::io(path, "read the head of the file", error);
    let file = File::open(path).map_err(fail)?;
    let mut head = Vec::new();
    (&file).take(migrate::HEAD_BYTES as u64).read_to_end(&mut head).map_err(fail)?;
    migrate::expect_mark(&head, path)?;
    // To close a file takes away all locks that this process has on it, also those that SQLite took if it has the store
    // open already. So this one stays open until the process ends.
    std::mem::forget(file);
    Ok(())
}

/// Takes from others what they may not have, also where the file was made by another program's rules. For a store
/// alone: the modes of other files are not ours to change.
pub(crate) fn guard(path: &Path) -> Result<(), StoreError> {
    if look(path)?.permissions().mode() & 0o077 != 0 {
        fs::set_permissions(path, Permissions::from_mode(FILE_MODE))
            .map_err(|error| StoreError::io(path, "keep the file from other users", error))?;
    }
    Ok(())
}

/// Which files a store's records are in: device and number of the file itself, its log and the log's index.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Identity([Option<(u64, u64)>; 3]);

impl Identity {
    /// Of the files that have the store's names now.
    pub(crate) fn of(path: &Path) -> Identity {
        Identity(["", "-wal", "-shm"].map(|suffix| {
            let mut name = path.as_os_str().to_owned();
            name.push(suffix);
            fs::metadata(name).ok().map(|metadata| (metadata.dev(), metadata.ino()))
        }))
    }

    /// # Errors
    ///
    /// `store-unavailable` if another file has one of the store's names now, or none has: what is written would be in
    /// a file that nobody finds again.
    pub(crate) fn expect(&self, path: &Path) -> Result<(), StoreError> {
        if Identity::of(path) == *self {
            return Ok(());
        }
        let message =
            "the file was removed or replaced while the gate has it open; the gate has to be started again";
        Err(StoreError::new(Code::StoreUnavailable, path, message))
    }
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

/// Bounds the file. SQLite counts in pages, and a file that is larger already only grows no more.
pub(super) fn bound(connection: &Connection, path: &Path, bytes_max: u64) -> Result<(), StoreError> {
    let page: i64 = connection.query_row("PRAGMA page_size", [], |row| row.get(0)).at(path)?;
    let pages = i64::try_from(bytes_max).unwrap_or(i64::MAX) / page.max(1);
    let set = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
    connection.pragma_update_and_check(None, "max_page_count", pages.max(1), set).at(path)?;
    Ok(())
}

/// Opens for reading alone: makes no file.
pub(crate) fn open_reading(path: &Path) -> Result<Connection, StoreError> {
    open(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)
}

fn open(path: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    let mut connection = Connection::open_with_flags(path, flags).at(path)?;
    connection.busy_handler(Some(wait_for_others)).at(path)?;
    connection.pragma_update(None, "foreign_keys", true).at(path)?;
    keep_statements(&connection, path)?;
    // Nothing in a damaged or foreign file is run.
    connection.pragma_update(None, "trusted_schema", false).at(path)?;
    Ok(connection)
}

/// Statements are planned once, whatever is bound to them: they are quicker by half then, and their plans are those that
/// the tests have read.
pub(super) fn keep_statements(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT_MAX);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).at(path)?;
    Ok(())
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

//! The lock by which others see that a gate lives.
//!
//! The operating system drops the lock when the process ends, however it ends, and keeps it while the process is
//! frozen. A process number would tell less: it is given again.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use callgate_wire::{Incarnation, Timestamp};
use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::columns::{Columns, all, change, one};
use super::file;
use crate::StoreError;
use crate::error::At as _;

/// The lock of this process's incarnation, held as long as this value lives.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing would do, but for a child process that is being started at this moment and still shares the file.
        let _ = self.file.unlock();
    }
}

/// The folder of the lock files of a store.
pub(crate) fn folder(store: &Path) -> PathBuf {
    let mut name = store.as_os_str().to_owned();
    name.push(".gates");
    PathBuf::from(name)
}

fn lock_path(store: &Path, incarnation: &Incarnation) -> PathBuf {
    folder(store).join(format!("{incarnation}.lock"))
}

/// Enters an incarnation. The lock is held before the row can be seen, so that nobody takes a new gate for a dead one.
pub(crate) fn enter(
    connection: &mut Connection,
    store: &Path,
    incarnation: &Incarnation,
    pid: u32,
    now: Timestamp,
) -> Result<Lock, StoreError> {
    file::make_folder(store, &folder(store))?;
    let lock = hold(store, incarnation, pid)?;
    let transaction = Transaction::new(connection, TransactionBehavior::Immediate).at(store)?;
    transaction
        .execute(
            "INSERT INTO incarnations (id, pid, started_at) VALUES (?1, ?2, ?3)",
            (incarnation.as_str(), pid, now.0),
        )
        .at(store)?;
    transaction.commit().at(store)?;
    Ok(lock)
}

fn hold(store: &Path, incarnation: &Incarnation, pid: u32) -> Result<Lock, StoreError> {
    let fail = |error| StoreError::io(store, "take the lock of this gate", error);
    let path = lock_path(store, incarnation);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(fail)?;
    file.try_lock().map_err(|error| fail(error.into()))?;
    // For a person who looks into the folder; nothing reads it.
    writeln!(file, "{pid}").map_err(fail)?;
    Ok(Lock { file })
}

/// Whether the process of this incarnation is gone. Whatever cannot be told counts as living: a living gate's intents
/// must not be taken from it.
///
/// The probe shares its lock with other probes and so hides a dead gate from none of them.
pub(crate) fn is_gone(store: &Path, incarnation: &Incarnation) -> bool {
    match File::open(lock_path(store, incarnation)) {
        Ok(file) => match file.try_lock_shared() {
            Ok(()) => true,
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => false,
        },
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// Whether this life was entered and nobody has ended it.
pub(super) fn lasts(
    connection: &Connection,
    store: &Path,
    incarnation: &Incarnation,
) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM incarnations WHERE id = ?1 AND ended_at IS NULL";
    Ok(one(connection, store, sql, (incarnation.as_str(),), |_| Ok(()))?.is_some())
}

/// The lives that nobody has ended.
pub(super) fn lasting(connection: &Connection, store: &Path) -> Result<Vec<Incarnation>, StoreError> {
    let sql = "SELECT id FROM incarnations WHERE ended_at IS NULL ORDER BY id";
    all(connection, store, sql, (), |row| {
        let columns = Columns { row, path: store, what: "an incarnation", names: "id" };
        columns.parsed(0, |text| Incarnation::parse(text).ok())
    })
}

/// Ends a life.
pub(super) fn end(
    connection: &Connection,
    store: &Path,
    incarnation: &Incarnation,
    at: Timestamp,
) -> Result<(), StoreError> {
    let sql = "UPDATE incarnations SET ended_at = ?2 WHERE id = ?1 AND ended_at IS NULL";
    change(connection, store, sql, (incarnation.as_str(), at.0))?;
    Ok(())
}

/// Removes the lock file of an incarnation that is gone. One that stays behind does no harm.
pub(crate) fn forget(store: &Path, incarnation: &Incarnation) {
    let _ = fs::remove_file(lock_path(store, incarnation));
}

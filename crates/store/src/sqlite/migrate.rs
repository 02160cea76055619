//! The versions of the store's schema: forward only, and a newer file is refused.

use std::path::Path;

use callgate_wire::Code;
use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::file;
use crate::StoreError;
use crate::error::At as _;

/// Marks a file as a store of this program: "Cgat".
const APPLICATION_ID: i32 = 0x4367_6174;
/// What a database without the mark is.
const ANOTHER_DATABASE: &str = "the database of another program";

/// The steps; the version of a file is how many of them it has seen. A step is never changed once it was released.
const STEPS: &[&str] = &[include_str!("sql/001-intents.sql"), include_str!("sql/002-gate.sql")];

/// The version that this program writes.
#[expect(clippy::cast_possible_truncation, reason = "there are a few steps")]
const VERSION: u32 = STEPS.len() as u32;

/// What a file is to this program.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// A file in which nothing is yet.
    Empty,
    /// A store with some steps still to do.
    Older,
    /// A store as this program writes it.
    Current,
}

/// Looks at a file and changes nothing.
pub(crate) fn state(connection: &Connection, path: &Path) -> Result<State, StoreError> {
    let integer = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).at(path);
    let version = integer("PRAGMA user_version")?;
    let application = integer("PRAGMA application_id")?;
    if application == 0 && version == 0 && integer("SELECT count(*) FROM sqlite_schema")? == 0 {
        return Ok(State::Empty);
    }
    if integer("PRAGMA application_id")? != i64::from(APPLICATION_ID) {
        let message = format!("expected a store, found {ANOTHER_DATABASE}");
        return Err(StoreError::new(Code::StoreCorrupt, path, message));
    }
    let current = i64::from(VERSION);
    match version {
        // A gate has marked the file and is about to fill it.
        0 => Ok(State::Empty),
        _ if version == current => Ok(State::Current),
        _ if version > current => {
            let message =
                format!("expected version {current} or older, found version {version} of a newer program");
            Err(StoreError::new(Code::StoreNewer, path, message))
        }
        _ => Ok(State::Older),
    }
}

/// What an older store is to who may not bring it up to date.
#[cold]
pub(super) fn older(path: &Path) -> StoreError {
    let message = "expected a store of this program's version, found an older one; start a gate on it once";
    StoreError::new(Code::StoreUnavailable, path, message)
}

/// A store in memory in which nothing is.
pub(super) fn empty(path: &Path) -> Result<Connection, StoreError> {
    let connection = Connection::open_in_memory().at(path)?;
    file::keep_statements(&connection, path)?;
    STEPS.iter().try_for_each(|step| connection.execute_batch(step)).at(path)?;
    Ok(connection)
}

/// Bytes of a database's head. SPEC: sqlite.org/fileformat2, 1.3.
pub(crate) const HEAD_BYTES: usize = 100;

/// # Errors
///
/// `store-corrupt` if this is not the head of a file of this program.
pub(crate) fn expect_mark(head: &[u8], path: &Path) -> Result<(), StoreError> {
    let not = |found: &str| {
        Err(StoreError::new(Code::StoreCorrupt, path, format!("expected a store, found {found}")))
    };
    if head.len() < HEAD_BYTES || !head.starts_with(b"SQLite format 3\0") {
        return not("another kind of file");
    }
    if head.get(68..72) != Some(&APPLICATION_ID.to_be_bytes()) {
        return not(ANOTHER_DATABASE);
    }
    Ok(())
}

/// Marks an empty file as a store, in a transaction of its own: before the log is turned on, so that the mark stands in
/// the file itself from the beginning and a look at its head is enough to know it.
pub(crate) fn mark(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    if state(connection, path)? != State::Empty {
        return Ok(());
    }
    let transaction = Transaction::new(connection, TransactionBehavior::Immediate).at(path)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID).at(path)?;
    transaction.commit().at(path)
}

/// Brings a file up to date, in one transaction. Several processes may try at once: one does it.
pub(crate) fn migrate(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    if state(connection, path)? == State::Current {
        return Ok(());
    }
    let transaction = Transaction::new(connection, TransactionBehavior::Immediate).at(path)?;
    if state(&transaction, path)? != State::Current {
        let done: u32 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0)).at(path)?;
        for step in STEPS.iter().skip(done as usize) {
            transaction.execute_batch(step).at(path)?;
        }
        transaction.pragma_update(None, "user_version", VERSION).at(path)?;
    }
    transaction.commit().at(path)
}

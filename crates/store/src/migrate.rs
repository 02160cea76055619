//! The versions of the store's schema: forward only, and a newer file is refused.

use std::path::Path;

use callgate_wire::Code;
use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::StoreError;
use crate::error::At as _;

/// Marks a file as a store of this program: "Cgat".
const APPLICATION_ID: i32 = 0x4367_6174;

/// The steps; the version of a file is how many of them it has seen. A step is never changed once it was released.
const STEPS: &[&str] = &[include_str!("sql/001-intents.sql")];

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
    if application != i64::from(APPLICATION_ID) {
        let empty = application == 0 && version == 0 && integer("SELECT count(*) FROM sqlite_schema")? == 0;
        return if empty {
            Ok(State::Empty)
        } else {
            let message = "expected a store, found the database of another program";
            Err(StoreError::new(Code::StoreCorrupt, path, message))
        };
    }
    let current = i64::from(VERSION);
    match version {
        _ if version == current => Ok(State::Current),
        _ if version > current => {
            let message =
                format!("expected version {current} or older, found version {version} of a newer program");
            Err(StoreError::new(Code::StoreNewer, path, message))
        }
        _ => Ok(State::Older),
    }
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
        transaction.pragma_update(None, "application_id", APPLICATION_ID).at(path)?;
        transaction.pragma_update(None, "user_version", VERSION).at(path)?;
    }
    transaction.commit().at(path)
}

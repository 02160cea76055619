//! The rows of counters and reservations.

use std::path::Path;

use callgate_gateway::journal::Counter;
use callgate_wire::{Charge, Code, IntentId, Timestamp};
use rusqlite::{Connection, Row};

use super::columns::{Columns, all, change, one};
use crate::StoreError;

/// Counters in a list; those that were charged longest ago are left out.
pub const COUNTERS_LISTED_MAX: u32 = 10_000;

macro_rules! columns {
    () => {
        "budget, scope, window_at, resets_at, amount, amount_max, committed, reserved"
    };
}

const LIST: &str = concat!("SELECT ", columns!(), " FROM counters ORDER BY charged DESC LIMIT ?1");
const BY_NAME: &str =
    "SELECT id, committed, reserved FROM counters WHERE budget = ?1 AND scope = ?2 AND window_at IS ?3";
const CHARGED: &str = "SELECT coalesce(max(charged), 0) + 1 FROM counters";
const ADD: &str = "INSERT INTO counters (budget, scope, window_at, resets_at, amount, amount_max, committed, reserved, \
     charged) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0, ?5, ?7)";
const CHARGE: &str = "UPDATE counters SET resets_at = ?2, amount = ?3, amount_max = ?4, reserved = reserved + ?3, \
     charged = ?5 WHERE id = ?1";
const RESERVE: &str = "INSERT INTO reservations (intent, part, counter, amount, state) VALUES (?1, \
     (SELECT coalesce(max(part), 0) + 1 FROM reservations WHERE intent = ?1), ?2, ?3, 'held')";
const HELD: &str =
    "SELECT counter, amount FROM reservations WHERE intent = ?1 AND state = 'held' ORDER BY part";

/// What a counter stands at.
pub(super) fn used(connection: &Connection, path: &Path, charge: &Charge) -> Result<u64, StoreError> {
    let counter = by_name(connection, path, charge)?;
    Ok(counter.map_or(0, |(_, committed, reserved)| committed.saturating_add(reserved)))
}

fn by_name(
    connection: &Connection,
    path: &Path,
    charge: &Charge,
) -> Result<Option<(i64, u64, u64)>, StoreError> {
    let params = (&charge.budget, &charge.scope, charge.window.map(|at| at.0));
    one(connection, path, BY_NAME, params, |row| {
        let columns = Columns { row, path, what: "a counter", names: "id, committed, reserved" };
        Ok((columns.get(0)?, columns.amount(1)?, columns.amount(2)?))
    })
}

/// Charges a counter, so far as a reservation of this intent.
pub(super) fn reserve(
    connection: &Connection,
    path: &Path,
    intent: &IntentId,
    charge: &Charge,
) -> Result<(), StoreError> {
    let amount = stored(path, charge.amount)?;
    // A limit beyond what a counter can reach is none.
    let amount_max = i64::try_from(charge.limit).unwrap_or(i64::MAX);
    let resets_at = charge.resets_at.map(|at| at.0);
    let read = |row: &Row<'_>| Columns { row, path, what: "a counter", names: "charged" }.get(0);
    let charged: i64 = one(connection, path, CHARGED, (), read)?.unwrap_or(1);
    let counter = if let Some((id, committed, reserved)) = by_name(connection, path, charge)? {
        stored(path, committed.saturating_add(reserved).saturating_add(charge.amount))?;
        change(connection, path, CHARGE, (id, resets_at, amount, amount_max, charged))?;
        id
    } else {
        let window = charge.window.map(|at| at.0);
        let params = (&charge.budget, &charge.scope, window, resets_at, amount, amount_max, charged);
        change(connection, path, ADD, params)?;
        connection.last_insert_rowid()
    };
    change(connection, path, RESERVE, (intent.as_str(), counter, amount))?;
    Ok(())
}

fn stored(path: &Path, amount: u64) -> Result<i64, StoreError> {
    i64::try_from(amount).map_err(|_| {
        let message = format!("expected a counter of at most {}, found {amount}", i64::MAX);
        StoreError::new(Code::StoreUnavailable, path, message)
    })
}

/// What becomes of an intent's reservations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// They are taken for good.
    Commit,
    /// They are given back.
    Release,
}

/// Ends all held reservations of an intent. One that is ended stays so.
pub(super) fn end(
    connection: &Connection,
    path: &Path,
    intent: &IntentId,
    end: End,
) -> Result<(), StoreError> {
    let held = all(connection, path, HELD, (intent.as_str(),), |row| {
        let columns = Columns { row, path, what: "a reservation", names: "counter, amount" };
        Ok((columns.get::<i64>(0)?, columns.get::<i64>(1)?))
    })?;
    if held.is_empty() {
        return Ok(());
    }
    let (counters, reservations) = match end {
        End::Commit => (
            "UPDATE counters SET reserved = reserved - ?2, committed = committed + ?2 WHERE id = ?1",
            "UPDATE reservations SET state = 'committed' WHERE intent = ?1 AND state = 'held'",
        ),
        End::Release => (
            "UPDATE counters SET reserved = reserved - ?2 WHERE id = ?1",
            "DELETE FROM reservations WHERE intent = ?1 AND state = 'held'",
        ),
    };
    for (counter, amount) in held {
        change(connection, path, counters, (counter, amount))?;
    }
    change(connection, path, reservations, (intent.as_str(),))?;
    Ok(())
}

/// The counters, those that were charged last first.
pub(super) fn list(connection: &Connection, path: &Path) -> Result<Vec<Counter>, StoreError> {
    all(connection, path, LIST, (COUNTERS_LISTED_MAX,), |row| {
        let columns = Columns { row, path, what: "a counter", names: columns!() };
        let time = |column| Ok(columns.get::<Option<i64>>(column)?.map(Timestamp));
        let charge = Charge {
            budget: columns.get(0)?,
            scope: columns.get(1)?,
            window: time(2)?,
            resets_at: time(3)?,
            amount: columns.amount(4)?,
            limit: columns.amount(5)?,
        };
        Ok(Counter { charge, committed: columns.amount(6)?, reserved: columns.amount(7)? })
    })
}

/// What is listed, for the test of how.
#[cfg(test)]
pub(super) const LISTS: &[&str] = &[LIST];
/// What is looked up, likewise.
#[cfg(test)]
pub(super) const LOOKUPS: &[&str] = &[BY_NAME, CHARGED, CHARGE, RESERVE, HELD];

//! What is older than it has to be kept is deleted, a bounded batch a transaction, so that calls wait for none of it.
//!
//! Rows are walked in the order in which they were made, from the first one up to the first one that is young enough. So
//! no index over times has to be kept for this, which every call would pay for.

use std::path::Path;

use callgate_wire::Timestamp;
use rusqlite::Connection;

use super::columns::{all, change};
use crate::{Forgotten, StoreError};

/// Rows of each kind that one batch looks at. A batch of this size takes a few milliseconds.
pub(super) const BATCH_ROWS: u32 = 500;

/// How far the walk has come, by the order in which the rows were made.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Walk {
    intents: i64,
    approvals: i64,
    events: i64,
    /// The moment before which a row is old.
    before: i64,
}

/// One table's step: where the walk stands after it, whether anything is left, and how much went.
struct Step {
    place: i64,
    more: bool,
    gone: u64,
}

impl Walk {
    pub(super) fn new(before: Timestamp) -> Walk {
        Walk { before: before.0, ..Walk::default() }
    }

    /// Deletes one batch; says whether there may be more.
    pub(super) fn step(
        &mut self,
        connection: &Connection,
        path: &Path,
    ) -> Result<(Forgotten, bool), StoreError> {
        let intents = self.delete(connection, path, self.intents, &INTENTS)?;
        self.intents = intents.place;
        if intents.more {
            // What goes with intents comes when they have gone.
            return Ok((Forgotten { intents: intents.gone, ..Forgotten::default() }, true));
        }
        let approvals = self.delete(connection, path, self.approvals, &APPROVALS)?;
        let events = self.delete(connection, path, self.events, &EVENTS)?;
        (self.approvals, self.events) = (approvals.place, events.place);
        let more = approvals.more || events.more;
        // A window's counter goes when the last intent that took from it has gone.
        let counters = if more { 0 } else { change(connection, path, COUNTERS, (self.before,))? as u64 };
        let forgotten =
            Forgotten { intents: intents.gone, approvals: approvals.gone, events: events.gone, counters };
        Ok((forgotten, more))
    }

    fn delete(
        &self,
        connection: &Connection,
        path: &Path,
        place: i64,
        table: &Table,
    ) -> Result<Step, StoreError> {
        use crate::error::At as _;
        let rows = all(connection, path, table.walk, (place, BATCH_ROWS), |row| {
            Ok((row.get::<_, i64>(0).at(path)?, row.get::<_, i64>(1).at(path)?))
        })?;
        let old = rows.iter().take_while(|(_, at)| *at < self.before);
        let Some((last, _)) = old.clone().last() else {
            return Ok(Step { place, more: false, gone: 0 });
        };
        let more = rows.len() == BATCH_ROWS as usize && old.count() == rows.len();
        let range = (place, *last, self.before);
        for sql in table.with_it {
            change(connection, path, sql, range)?;
        }
        let gone = change(connection, path, table.delete, range)? as u64;
        Ok(Step { place: *last, more, gone })
    }
}

/// How a table's old rows are found and deleted.
struct Table {
    /// The rows after a place, in order, with the time at which they were made.
    walk: &'static str,
    /// What goes with them, before them.
    with_it: &'static [&'static str],
    delete: &'static str,
}

macro_rules! old_intents {
    () => {
        "seq > ?1 AND seq <= ?2 AND settled_at < ?3 AND in_doubt = 0"
    };
}

const INTENTS: Table = Table {
    walk: "SELECT seq, opened_at FROM intents WHERE seq > ?1 ORDER BY seq LIMIT ?2",
    with_it: &[concat!(
        "DELETE FROM reservations WHERE intent IN (SELECT id FROM intents WHERE ",
        old_intents!(),
        ")"
    )],
    delete: concat!("DELETE FROM intents WHERE ", old_intents!()),
};

// A used one goes with its call; one that waits, was denied or was never used goes when it is over.
const APPROVALS: Table = Table {
    walk: "SELECT seq, asked_at FROM approvals WHERE seq > ?1 ORDER BY seq LIMIT ?2",
    with_it: &[],
    delete: "DELETE FROM approvals WHERE seq > ?1 AND seq <= ?2 AND expires_at < ?3 AND \
         (used_by IS NULL OR NOT EXISTS (SELECT 1 FROM intents WHERE id = approvals.used_by))",
};

// What is said of a call that is kept is kept.
const EVENTS: Table = Table {
    walk: "SELECT seq, at FROM events WHERE seq > ?1 ORDER BY seq LIMIT ?2",
    with_it: &[],
    delete: "DELETE FROM events WHERE seq > ?1 AND seq <= ?2 AND at < ?3 AND \
         (intent IS NULL OR NOT EXISTS (SELECT 1 FROM intents WHERE id = events.intent))",
};

const COUNTERS: &str = "DELETE FROM counters WHERE resets_at < ?1 AND reserved = 0 AND NOT EXISTS \
     (SELECT 1 FROM reservations WHERE counter = counters.id)";

//! What is older than it has to be kept is deleted, a bounded batch a statement, so that gates wait for none of it.
//!
//! Rows are walked in the order in which they were made, as in the file, so that no index over times has to be kept. Each
//! statement is a transaction of its own: a gate that changes one of its rows at the same moment tries again.

use callgate_gateway::journal::JournalError;
use callgate_wire::Timestamp;

use super::error::Failure;
use super::reads::Reads;
use super::rows::column;
use crate::Forgotten;

/// Rows of each kind that one statement looks at.
const BATCH_ROWS: i64 = 500;

/// How a table's old rows are found and deleted: `$1` is the place after which they are looked for, `$2` the last of them,
/// `$3` the moment before which a row is old.
struct Table {
    walk: &'static str,
    delete: &'static str,
}

const INTENTS: Table = Table {
    walk: "SELECT seq, opened_at FROM @intents WHERE seq > $1 ORDER BY seq LIMIT $2",
    delete: "WITH gone AS (DELETE FROM @intents WHERE seq > $1 AND seq <= $2 AND settled_at < $3 AND NOT in_doubt \
             RETURNING id) SELECT count(*) FROM gone",
};

// A used one goes with its call; one that waits, was denied or was never used goes when it is over.
const APPROVALS: Table = Table {
    walk: "SELECT seq, asked_at FROM @approvals WHERE seq > $1 ORDER BY seq LIMIT $2",
    delete: "WITH gone AS (DELETE FROM @approvals a WHERE seq > $1 AND seq <= $2 AND expires_at < $3 AND \
             (used_by IS NULL OR NOT EXISTS (SELECT 1 FROM @intents WHERE id = a.used_by)) RETURNING 1) \
             SELECT count(*) FROM gone",
};

// What is said of a call that is kept is kept.
const EVENTS: Table = Table {
    walk: "SELECT seq, at FROM @events WHERE seq > $1 ORDER BY seq LIMIT $2",
    delete: "WITH gone AS (DELETE FROM @events e WHERE seq > $1 AND seq <= $2 AND at < $3 AND \
             (intent IS NULL OR NOT EXISTS (SELECT 1 FROM @intents WHERE id = e.intent)) RETURNING 1) \
             SELECT count(*) FROM gone",
};

/// What calls took that are gone. None of it is held: those calls have an outcome.
const RESERVATIONS: &str = "WITH gone AS (DELETE FROM @reservations r WHERE state <> 'held' AND NOT EXISTS \
     (SELECT 1 FROM @intents WHERE id = r.intent) RETURNING 1) SELECT count(*) FROM gone";

// A window's counter goes when the last intent that took from it has gone.
const COUNTERS: &str = "WITH gone AS (DELETE FROM @counters c WHERE resets_at < $1 AND reserved = 0 AND NOT EXISTS \
     (SELECT 1 FROM @reservations r WHERE r.budget = c.budget AND r.scope = c.scope AND r.window_at = c.window_at) \
     RETURNING 1) SELECT count(*) FROM gone";

impl Reads {
    /// Deletes what ended before this moment.
    pub(super) fn forget(&self, before: Timestamp) -> Result<Forgotten, JournalError> {
        let intents = self.sweep(&INTENTS, before)?;
        if intents > 0 {
            self.count(RESERVATIONS, &[])?;
        }
        Ok(Forgotten {
            intents,
            approvals: self.sweep(&APPROVALS, before)?,
            events: self.sweep(&EVENTS, before)?,
            counters: self.count(COUNTERS, &[before.0])?,
        })
    }

    fn sweep(&self, table: &Table, before: Timestamp) -> Result<u64, JournalError> {
        let (mut place, mut gone) = (0_i64, 0);
        loop {
            let rows = self.numbers(table.walk, &[place, BATCH_ROWS])?;
            let old = rows.iter().take_while(|(_, at)| *at < before.0);
            let (count, last) = (old.clone().count(), old.last().map(|(seq, _)| *seq));
            let Some(last) = last else { return Ok(gone) };
            gone += self.count(table.delete, &[place, last, before.0])?;
            place = last;
            if count < rows.len() || rows.len() < usize::try_from(BATCH_ROWS).unwrap_or(usize::MAX) {
                return Ok(gone);
            }
        }
    }

    fn numbers(&self, sql: &str, params: &[i64]) -> Result<Vec<(i64, i64)>, JournalError> {
        self.decoded(sql, || owned(params), |row| Ok((column(row, 0, "a place")?, column(row, 1, "a time")?)))
    }

    fn count(&self, sql: &str, params: &[i64]) -> Result<u64, JournalError> {
        let counts = self.decoded(sql, || owned(params), |row| column::<i64>(row, 0, "a count"))?;
        let count = counts.first().copied().and_then(|count| u64::try_from(count).ok());
        count.ok_or_else(|| Failure::damaged("a count").into_error())
    }
}

fn owned(params: &[i64]) -> super::reads::Owned {
    params.iter().map(|param| Box::new(*param) as Box<_>).collect()
}

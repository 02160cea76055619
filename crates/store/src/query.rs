//! What is read: rows become records, and a row that is none says so.

use std::path::Path;
use std::str::FromStr as _;

use callgate_gateway::IntentFilter;
use callgate_schema::json::Digest;
use callgate_wire::{
    Attempt, Code, INTENT_FORMAT, Incarnation, Intent, IntentId, IntentRecord, IntentState, Principal,
    Settlement, SideEffect, Timestamp,
};
use rusqlite::{Connection, Params, Row};

use crate::StoreError;
use crate::error::At as _;

/// The columns of [`Intent`], in the order in which [`intent`] reads them.
const COLUMNS: &str = "id, format, opened_at, principal, run, upstream, tool, contract_digest, arguments_digest, \
     call_digest, attempt, fence, state, side_effect, in_doubt, code, result_bytes, is_error, settled_at";

/// The last ones opened, the last first.
pub(crate) fn list(
    connection: &Connection,
    path: &Path,
    filter: &IntentFilter,
) -> Result<Vec<Intent>, StoreError> {
    intents(connection, path, "ORDER BY seq DESC LIMIT ?1", (filter.limit,))
}

/// The intents of an incarnation of which no outcome is known.
pub(crate) fn unsettled(
    connection: &Connection,
    path: &Path,
    fence: &Incarnation,
) -> Result<Vec<Intent>, StoreError> {
    intents(connection, path, "WHERE fence = ?1 AND settled_at IS NULL ORDER BY seq", (fence.as_str(),))
}

/// One by its whole id.
pub(crate) fn by_id(
    connection: &Connection,
    path: &Path,
    id: &IntentId,
) -> Result<Option<Intent>, StoreError> {
    Ok(intents(connection, path, "WHERE id = ?1", (id.as_str(),))?.pop())
}

/// The one whose id begins so, or, if none does, ends so.
pub(crate) fn show(
    connection: &Connection,
    path: &Path,
    part: &str,
) -> Result<Option<IntentRecord>, StoreError> {
    // All characters of an id are below `g`, so that a range over the index finds what begins so.
    let range = "WHERE id >= ?1 AND id < ?1 || 'g' ORDER BY id LIMIT 2";
    let mut found = intents(connection, path, range, (part,))?;
    if found.is_empty() {
        // Ids of the same moment begin alike; it is their ends that differ. This reads the index of ids from end to
        // end, a few milliseconds for a hundred thousand.
        found = intents(connection, path, "WHERE substr(id, -length(?1)) = ?1 ORDER BY id LIMIT 2", (part,))?;
    }
    if found.len() > 1 {
        let message = format!("expected a part of one intent's id, found several with `{part}`");
        return Err(StoreError::new(Code::IntentAmbiguous, path, message));
    }
    let Some(intent) = found.pop() else { return Ok(None) };
    let arguments: Vec<u8> = connection
        .query_row("SELECT arguments FROM intents WHERE id = ?1", [intent.id.as_str()], |row| row.get(0))
        .at(path)?;
    Ok(Some(IntentRecord { intent, arguments: arguments.into() }))
}

fn intents(
    connection: &Connection,
    path: &Path,
    rest: &str,
    params: impl Params,
) -> Result<Vec<Intent>, StoreError> {
    let mut statement =
        connection.prepare_cached(&format!("SELECT {COLUMNS} FROM intents {rest}")).at(path)?;
    let mut rows = statement.query(params).at(path)?;
    let mut intents = Vec::new();
    while let Some(row) = rows.next().at(path)? {
        intents.push(Fields { row, path }.intent()?);
    }
    Ok(intents)
}

struct Fields<'a, 'r> {
    row: &'a Row<'r>,
    path: &'a Path,
}

impl Fields<'_, '_> {
    fn intent(&self) -> Result<Intent, StoreError> {
        let format: u32 = self.get(1)?;
        if format != INTENT_FORMAT {
            let message = format!("expected intents of format {INTENT_FORMAT}, found {format}");
            return Err(StoreError::new(Code::StoreNewer, self.path, message));
        }
        Ok(Intent {
            id: self.parsed(0, |text| IntentId::parse(text).ok())?,
            opened_at: Timestamp(self.get(2)?),
            principal: Principal::from_stored(self.get::<String>(3)?),
            run: self.get(4)?,
            upstream: self.get(5)?,
            tool: self.get(6)?,
            contract_digest: self.digest(7)?,
            arguments_digest: self.digest(8)?,
            call_digest: self.digest(9)?,
            attempt: Attempt(self.get(10)?),
            fence: self.parsed(11, |text| Incarnation::parse(text).ok())?,
            settlement: self.settlement()?,
        })
    }

    fn settlement(&self) -> Result<Option<Settlement>, StoreError> {
        let Some(at) = self.get::<Option<i64>>(18)? else { return Ok(None) };
        let code = match self.get::<Option<String>>(15)? {
            Some(text) => Some(Code::parse(&text).ok_or_else(|| self.damaged(15))?),
            None => None,
        };
        let result_bytes = match self.get::<Option<i64>>(16)? {
            Some(bytes) => Some(u64::try_from(bytes).map_err(|_| self.damaged(16))?),
            None => None,
        };
        Ok(Some(Settlement {
            state: self.parsed(12, IntentState::parse)?,
            side_effect: self.parsed(13, SideEffect::parse)?,
            in_doubt: self.get(14)?,
            code,
            result_bytes,
            is_error: self.get(17)?,
            at: Timestamp(at),
        }))
    }

    fn digest(&self, column: usize) -> Result<Digest, StoreError> {
        self.parsed(column, |text| Digest::from_str(text).ok())
    }

    fn parsed<T>(&self, column: usize, parse: impl FnOnce(&str) -> Option<T>) -> Result<T, StoreError> {
        let text: String = self.get(column)?;
        parse(&text).ok_or_else(|| self.damaged(column))
    }

    fn get<T: rusqlite::types::FromSql>(&self, column: usize) -> Result<T, StoreError> {
        self.row.get(column).map_err(|_| self.damaged(column))
    }

    #[cold]
    fn damaged(&self, column: usize) -> StoreError {
        let name = COLUMNS.split(", ").nth(column).unwrap_or_default();
        let message = format!("expected an intent's `{name}`, found what is none");
        StoreError::new(Code::StoreCorrupt, self.path, message)
    }
}

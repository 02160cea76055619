//! What became of an upstream's tools is recorded, and compared with what became of them last.

use std::path::Path;
use std::str::FromStr as _;

use callgate_gateway::{AdmissionRow, ContractChange};
use callgate_schema::json::Digest;
use callgate_wire::{Code, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, named_params};

use crate::StoreError;
use crate::error::At as _;

const LAST: &str = "SELECT contract_digest FROM admissions WHERE upstream = ?1 AND tool = ?2 AND contract_digest <> '' \
     AND code <> ?3 ORDER BY listing DESC LIMIT 1";

const SQL: &str = "INSERT INTO admissions (upstream, tool, contract_digest, code, detail, first_seen_at, last_seen_at, \
     listing) VALUES (:upstream, :tool, :contract_digest, :code, :detail, :at, :at, :listing) \
     ON CONFLICT DO UPDATE SET detail = :detail, last_seen_at = :at, listing = :listing";

pub(crate) fn record(
    connection: &Connection,
    path: &Path,
    upstream: &str,
    rows: &[AdmissionRow],
    at: Timestamp,
) -> Result<Vec<ContractChange>, StoreError> {
    let mut changes = Vec::new();
    for row in rows {
        changes.extend(change(connection, path, upstream, row)?);
    }
    let listing: i64 = connection
        .query_row("SELECT coalesce(max(listing), 0) + 1 FROM admissions", [], |row| row.get(0))
        .at(path)?;
    let mut statement = connection.prepare_cached(SQL).at(path)?;
    for row in rows {
        statement
            .execute(named_params! {
                ":upstream": upstream,
                ":tool": row.tool,
                ":contract_digest": row.contract_digest.map(|digest| digest.to_string()).unwrap_or_default(),
                ":code": row.code.map_or("", Code::as_str),
                ":detail": row.detail,
                ":at": at.0,
                ":listing": listing,
            })
            .at(path)?;
    }
    Ok(changes)
}

/// Whether the definition differs from the last one. Of a name that several tools bear nobody can say.
fn change(
    connection: &Connection,
    path: &Path,
    upstream: &str,
    row: &AdmissionRow,
) -> Result<Option<ContractChange>, StoreError> {
    let Some(now) = row.contract_digest.filter(|_| row.code != Some(Code::ToolNameRepeated)) else {
        return Ok(None);
    };
    let last: Option<String> = connection
        .prepare_cached(LAST)
        .and_then(|mut statement| {
            let repeated = Code::ToolNameRepeated.as_str();
            statement.query_row((upstream, &row.tool, repeated), |row| row.get(0)).optional()
        })
        .at(path)?;
    let Some(last) = last else { return Ok(None) };
    let before = Digest::from_str(&last).map_err(|_| {
        StoreError::new(Code::StoreCorrupt, path, "expected a contract's digest, found what is none")
    })?;
    Ok((before != now).then(|| ContractChange { tool: row.tool.clone(), before, now }))
}

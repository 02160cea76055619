//! A row's columns as what they stand for. What stands for nothing is named, and not guessed at.

use std::path::Path;
use std::str::FromStr as _;

use callgate_schema::json::Digest;
use callgate_wire::{Code, Timestamp};
use rusqlite::types::FromSql;
use rusqlite::{Connection, Params, Row};

use crate::StoreError;
use crate::error::At as _;

/// One row of a statement.
pub(super) struct Columns<'a> {
    pub(super) row: &'a Row<'a>,
    pub(super) path: &'a Path,
    /// What the row is: such as `an intent`.
    pub(super) what: &'static str,
    /// The columns' names, for messages: as they stand after `SELECT`.
    pub(super) names: &'static str,
}

impl Columns<'_> {
    pub(super) fn get<T: FromSql>(&self, column: usize) -> Result<T, StoreError> {
        self.row.get(column).map_err(|_| self.damaged(column))
    }

    pub(super) fn time(&self, column: usize) -> Result<Timestamp, StoreError> {
        Ok(Timestamp(self.get(column)?))
    }

    pub(super) fn digest(&self, column: usize) -> Result<Digest, StoreError> {
        self.parsed(column, |text| Digest::from_str(text).ok())
    }

    /// A whole number from 0.
    pub(super) fn amount(&self, column: usize) -> Result<u64, StoreError> {
        u64::try_from(self.get::<i64>(column)?).map_err(|_| self.damaged(column))
    }

    pub(super) fn bytes(&self, column: usize) -> Result<Box<[u8]>, StoreError> {
        Ok(self.get::<Vec<u8>>(column)?.into())
    }

    pub(super) fn parsed<T>(
        &self,
        column: usize,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, StoreError> {
        self.parsed_if(column, parse)?.ok_or_else(|| self.damaged(column))
    }

    /// As `parsed`, where the column may hold nothing.
    pub(super) fn parsed_if<T>(
        &self,
        column: usize,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, StoreError> {
        let text = self.row.get_ref(column).ok().and_then(|value| value.as_str_or_null().ok());
        match text.ok_or_else(|| self.damaged(column))? {
            Some(text) => parse(text).map(Some).ok_or_else(|| self.damaged(column)),
            None => Ok(None),
        }
    }

    #[cold]
    pub(super) fn damaged(&self, column: usize) -> StoreError {
        let name = self.names.split(", ").nth(column).unwrap_or_default();
        let message = format!("expected {}'s `{name}`, found what is none", self.what);
        StoreError::new(Code::StoreCorrupt, self.path, message)
    }
}

/// The rows of a statement that is kept for the next time, each read by `read`.
pub(super) fn all<T>(
    connection: &Connection,
    path: &Path,
    sql: &str,
    params: impl Params,
    read: impl Fn(&Row<'_>) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let mut statement = connection.prepare_cached(sql).at(path)?;
    let mut rows = statement.query(params).at(path)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().at(path)? {
        found.push(read(row)?);
    }
    Ok(found)
}

/// The first of these rows.
pub(super) fn one<T>(
    connection: &Connection,
    path: &Path,
    sql: &str,
    params: impl Params,
    read: impl Fn(&Row<'_>) -> Result<T, StoreError>,
) -> Result<Option<T>, StoreError> {
    let mut statement = connection.prepare_cached(sql).at(path)?;
    let mut rows = statement.query(params).at(path)?;
    rows.next().at(path)?.map(read).transpose()
}

/// Runs a statement that changes rows, and says how many.
pub(super) fn change(
    connection: &Connection,
    path: &Path,
    sql: &str,
    params: impl Params,
) -> Result<usize, StoreError> {
    connection.prepare_cached(sql).and_then(|mut statement| statement.execute(params)).at(path)
}

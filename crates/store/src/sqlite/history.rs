//! The rows of the history.

use std::path::Path;

use callgate_gateway::journal::EventFilter;
use callgate_wire::{ApprovalId, Event, EventKind, IntentId};
use rusqlite::{Connection, Row};

use super::columns::{Columns, all, change};
use crate::StoreError;

macro_rules! columns {
    () => {
        "at, kind, intent, approval, by_whom, detail"
    };
}

const PAGE: &str = concat!("SELECT ", columns!(), " FROM events ORDER BY seq DESC LIMIT ?1");
const OF_INTENT: &str =
    concat!("SELECT ", columns!(), " FROM events WHERE intent = ?2 ORDER BY seq DESC LIMIT ?1");
const ADD: &str = concat!("INSERT INTO events (", columns!(), ") VALUES (?1, ?2, ?3, ?4, ?5, ?6)");

/// A page of it, the last line first.
pub(super) fn page(
    connection: &Connection,
    path: &Path,
    filter: &EventFilter,
) -> Result<Vec<Event>, StoreError> {
    let read = |row: &Row<'_>| event(row, path);
    match &filter.intent {
        None => all(connection, path, PAGE, (filter.limit,), read),
        Some(intent) => all(connection, path, OF_INTENT, (filter.limit, intent.as_str()), read),
    }
}

/// One more line.
pub(super) fn note(connection: &Connection, path: &Path, event: &Event) -> Result<(), StoreError> {
    let (intent, approval) = (event.intent.as_ref(), event.approval.as_ref());
    let params = (
        event.at.0,
        event.kind.as_str(),
        intent.map(IntentId::as_str),
        approval.map(ApprovalId::as_str),
        &event.by,
        &event.detail,
    );
    change(connection, path, ADD, params)?;
    Ok(())
}

fn event(row: &Row<'_>, path: &Path) -> Result<Event, StoreError> {
    let columns = Columns { row, path, what: "a line of the history", names: columns!() };
    Ok(Event {
        at: columns.time(0)?,
        kind: columns.parsed(1, EventKind::parse)?,
        intent: columns.parsed_if(2, |text| IntentId::parse(text).ok())?,
        approval: columns.parsed_if(3, |text| ApprovalId::parse(text).ok())?,
        by: columns.get(4)?,
        detail: columns.get(5)?,
    })
}

/// What is listed, for the test of how.
#[cfg(test)]
pub(super) const LISTS: &[&str] = &[PAGE, OF_INTENT];

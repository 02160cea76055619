//! Whether a store is whole: what SQLite can say, and what must hold between our own rows.

use std::path::Path;

use callgate_gateway::IntentFilter;
use callgate_gateway::journal::{ApprovalFilter, EventFilter};
use rusqlite::{Connection, Row};

use super::columns::{Columns, all, one};
use super::migrate::State;
use super::{approvals, budgets, catalog, file, history, incarnation, intents, migrate};
use crate::error::At as _;
use crate::{CheckReport, StoreError};

/// Rows that are read at once.
const PAGE_ROWS: u32 = 1_000;

/// What must hold between rows: a sentence for one that breaks it, and a statement that gives the broken ones.
const RULES: &[(&str, &str)] = &[
    (
        "the counter is not the sum of its reservations",
        "SELECT budget || ' ' || scope FROM counters AS c WHERE reserved <> (SELECT coalesce(sum(amount), 0) FROM \
         reservations WHERE counter = c.id AND state = 'held')",
    ),
    (
        "the counter has taken less than its reservations say",
        "SELECT budget || ' ' || scope FROM counters AS c WHERE committed < (SELECT coalesce(sum(amount), 0) FROM \
         reservations WHERE counter = c.id AND state = 'committed')",
    ),
    (
        "the counter stands twice",
        "SELECT budget || ' ' || scope FROM counters GROUP BY budget, scope, window_at HAVING count(*) > 1",
    ),
    (
        "the reservation is of no intent",
        "SELECT intent FROM reservations WHERE NOT EXISTS (SELECT 1 FROM intents WHERE id = reservations.intent)",
    ),
    (
        "the reservation is held although the intent has ended",
        "SELECT intent FROM reservations JOIN intents ON intents.id = reservations.intent WHERE \
         reservations.state = 'held' AND intents.settled_at IS NOT NULL AND intents.in_doubt = 0",
    ),
    (
        "the reservation is taken although nobody knows how the intent ended",
        "SELECT intent FROM reservations JOIN intents ON intents.id = reservations.intent WHERE \
         reservations.state = 'committed' AND (intents.settled_at IS NULL OR intents.in_doubt = 1)",
    ),
    (
        "the intent has an end and has none",
        "SELECT id FROM intents WHERE settled_at IS NULL AND (state <> 'open' OR in_doubt <> 0 OR side_effect NOT NULL)",
    ),
    (
        "the intent is in doubt and has ended",
        "SELECT id FROM intents WHERE in_doubt = 1 AND (state <> 'open' OR side_effect <> 'unknown')",
    ),
    (
        "the open intent's gate is not known or was ended",
        "SELECT id FROM intents WHERE settled_at IS NULL AND NOT EXISTS (SELECT 1 FROM incarnations WHERE \
         incarnations.id = intents.fence AND ended_at IS NULL)",
    ),
    (
        "the approval is used and does not say by which call, or the other way round",
        "SELECT id FROM approvals WHERE (state = 'used') <> (used_by NOT NULL)",
    ),
    (
        "the approval was used by a call that says nothing of it",
        "SELECT approvals.id FROM approvals JOIN intents ON intents.id = approvals.used_by WHERE \
         intents.approval IS NOT approvals.id",
    ),
    (
        "the approval was used twice",
        "SELECT approval FROM intents WHERE approval NOT NULL GROUP BY approval HAVING count(*) > 1",
    ),
    (
        "the receipt is of a publication that is not known",
        "SELECT upstream || ' ' || publication FROM receipts WHERE revision > coalesce((SELECT revision FROM \
         publications WHERE publications.upstream = receipts.upstream), 0)",
    ),
];

/// Looks whether a store is whole, while gates run or after them, and changes nothing. Reads all of it.
///
/// # Errors
///
/// Where it cannot be opened or read at all: `store-unavailable` (see [`StoreError::is_missing`]), `store-newer`,
/// `store-corrupt`.
pub fn check_store(store: &Path) -> Result<CheckReport, StoreError> {
    let path = file::find(store)?;
    let connection = file::open_reading(&path)?;
    let mut report = CheckReport::default();
    match migrate::state(&connection, &path)? {
        State::Current => {}
        State::Empty => return Ok(report),
        State::Older => return Err(migrate::older(&path)),
    }
    // One moment of the store, whatever gates write meanwhile.
    connection.execute_batch("BEGIN").at(&path)?;
    pages(&connection, &path, &mut report)?;
    if report.is_sound() {
        // What follows means little in a file that SQLite itself does not find whole.
        references(&connection, &path, &mut report)?;
        rows(&connection, &path, &mut report)?;
        rules(&connection, &path, &mut report)?;
        lives(&connection, &path, &mut report)?;
    }
    connection.execute_batch("COMMIT").at(&path)?;
    Ok(report)
}

fn texts(connection: &Connection, path: &Path, sql: &str) -> Result<Vec<String>, StoreError> {
    all(connection, path, sql, (), |row| row.get(0).at(path))
}

fn pages(connection: &Connection, path: &Path, report: &mut CheckReport) -> Result<(), StoreError> {
    match texts(connection, path, "PRAGMA integrity_check(100)") {
        Ok(said) => said.into_iter().filter(|line| line != "ok").for_each(|line| report.broken(line)),
        // A page that is worse than it can describe.
        Err(error) if error.code() == callgate_wire::Code::StoreCorrupt => report.broken(error.to_string()),
        Err(error) => return Err(error),
    }
    Ok(())
}

fn references(connection: &Connection, path: &Path, report: &mut CheckReport) -> Result<(), StoreError> {
    let sql = "SELECT \"table\" || ' ' || coalesce(rowid, '') || ' refers to nothing in ' || parent FROM \
         pragma_foreign_key_check LIMIT 100";
    texts(connection, path, sql)?.into_iter().for_each(|line| report.broken(line));
    Ok(())
}

/// Reads every row as what it stands for.
fn rows(connection: &Connection, path: &Path, report: &mut CheckReport) -> Result<(), StoreError> {
    let mut filter = IntentFilter { limit: PAGE_ROWS, in_doubt: false, before: None };
    loop {
        let page = match intents::page(connection, path, &filter) {
            Ok(page) => page,
            Err(error) => return report.damage(error),
        };
        report.intents += page.len() as u64;
        report.in_doubt += page.iter().filter(|(_, intent)| intent.in_doubt()).count() as u64;
        report.open += page.iter().filter(|(_, intent)| intent.settlement.is_none()).count() as u64;
        let Some((_, last)) = page.into_iter().last() else { break };
        filter.before = Some(last.id);
    }
    let others = [
        approvals::page(connection, path, &ApprovalFilter { limit: u32::MAX, pending_at: None }).map(drop),
        budgets::list(connection, path).map(drop),
        catalog::pins(connection, path, None).map(drop),
        history::page(connection, path, &EventFilter { limit: u32::MAX, intent: None }).map(drop),
    ];
    for other in others {
        if let Err(error) = other {
            report.damage(error)?;
        }
    }
    Ok(())
}

fn rules(connection: &Connection, path: &Path, report: &mut CheckReport) -> Result<(), StoreError> {
    for (sentence, sql) in RULES {
        for row in texts(connection, path, &format!("{sql} LIMIT 100"))? {
            report.broken(format!("{sentence}: {row}"));
        }
    }
    Ok(())
}

fn lives(connection: &Connection, path: &Path, report: &mut CheckReport) -> Result<(), StoreError> {
    let lasting = match incarnation::lasting(connection, path) {
        Ok(lasting) => lasting,
        Err(error) => return report.damage(error),
    };
    let open = "SELECT count(*) FROM intents WHERE fence = ?1 AND settled_at IS NULL";
    for life in lasting {
        if incarnation::is_gone(path, &life) {
            report.gates_gone += 1;
            let read = |row: &Row<'_>| Columns { row, path, what: "a count", names: "count" }.amount(0);
            report.open_of_gone += one(connection, path, open, (life.as_str(),), read)?.unwrap_or_default();
        } else {
            report.gates += 1;
        }
    }
    Ok(())
}

//! The intents of gates that are gone are taken over and settled as in doubt.

use std::path::Path;

use callgate_gateway::intent::Observation;
use callgate_wire::{Code, Incarnation, Intent, Timestamp};
use rusqlite::Connection;

use super::settle;
use crate::error::At as _;
use crate::{StoreError, incarnation, query};

/// Takes over for the incarnation `fence`. Runs in a transaction that excludes every other one that writes, so that of
/// several gates that start at once each intent is taken over by one.
pub(crate) fn recover(
    connection: &Connection,
    path: &Path,
    fence: &Incarnation,
    at: Timestamp,
) -> Result<Vec<Intent>, StoreError> {
    let mut recovered = Vec::new();
    for gone in lasting(connection, path, fence)? {
        if !incarnation::is_gone(path, &gone) {
            continue;
        }
        for mut intent in query::unsettled(connection, path, &gone)? {
            let settlement = Observation::GateGone.settlement(at);
            settle::write(connection, path, &intent.id, fence, &settlement)?;
            intent.fence = fence.clone();
            intent.settlement = Some(settlement);
            recovered.push(intent);
        }
        connection
            .execute("UPDATE incarnations SET ended_at = ?2 WHERE id = ?1", (gone.as_str(), at.0))
            .at(path)?;
        incarnation::forget(path, &gone);
    }
    Ok(recovered)
}

/// The incarnations, but for our own, that have not been seen to end.
fn lasting(connection: &Connection, path: &Path, ours: &Incarnation) -> Result<Vec<Incarnation>, StoreError> {
    let mut statement = connection
        .prepare("SELECT id FROM incarnations WHERE ended_at IS NULL AND id <> ?1 ORDER BY id")
        .at(path)?;
    let rows = statement.query_map([ours.as_str()], |row| row.get::<_, String>(0)).at(path)?;
    let mut lasting = Vec::new();
    for id in rows {
        let damaged =
            |_| StoreError::new(Code::StoreCorrupt, path, "expected an incarnation's id, found none");
        lasting.push(Incarnation::parse(&id.at(path)?).map_err(damaged)?);
    }
    Ok(lasting)
}

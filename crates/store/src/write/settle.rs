//! How an intent ended is recorded, by the table of `callgate_gateway::intent::settle`.

use std::path::Path;

use callgate_gateway::intent::{Transition, settle as transition};
use callgate_wire::{Code, Incarnation, IntentId, Settlement};
use rusqlite::{Connection, named_params};

use crate::error::At as _;
use crate::{StoreError, query};

const SQL: &str = "UPDATE intents SET fence = :fence, state = :state, side_effect = :side_effect, \
     in_doubt = :in_doubt, code = :code, result_bytes = :result_bytes, is_error = :is_error, settled_at = :settled_at \
     WHERE id = :id";

/// Settles an intent of the incarnation `fence`.
pub(crate) fn settle(
    connection: &Connection,
    path: &Path,
    id: &IntentId,
    fence: &Incarnation,
    settlement: &Settlement,
) -> Result<(), StoreError> {
    let Some(intent) = query::by_id(connection, path, id)? else {
        return Err(StoreError::new(Code::IntentNotFound, path, format!("there is no intent `{id}`")));
    };
    if intent.fence != *fence {
        let message = format!("the gate `{}` has taken over the intent `{id}`", intent.fence);
        return Err(StoreError::new(Code::IntentFenced, path, message));
    }
    match transition(intent.settlement.as_ref(), settlement) {
        Transition::Record => write(connection, path, id, fence, settlement),
        Transition::Keep => Ok(()),
    }
}

/// Writes a settlement and the fence under which it was made.
pub(crate) fn write(
    connection: &Connection,
    path: &Path,
    id: &IntentId,
    fence: &Incarnation,
    settlement: &Settlement,
) -> Result<(), StoreError> {
    let rows = connection
        .prepare_cached(SQL)
        .and_then(|mut statement| {
            statement.execute(named_params! {
                ":id": id.as_str(),
                ":fence": fence.as_str(),
                ":state": settlement.state.as_str(),
                ":side_effect": settlement.side_effect.as_str(),
                ":in_doubt": settlement.in_doubt,
                ":code": settlement.code.map(Code::as_str),
                ":result_bytes": settlement.result_bytes.map(|bytes| i64::try_from(bytes).unwrap_or(i64::MAX)),
                ":is_error": settlement.is_error,
                ":settled_at": settlement.at.0,
            })
        })
        .at(path)?;
    assert_eq!(rows, 1, "one intent has this id");
    Ok(())
}

//! An intent is recorded.

use std::path::Path;

use callgate_wire::{INTENT_FORMAT, IntentRecord};
use rusqlite::{Connection, named_params};

use crate::StoreError;
use crate::error::At as _;

const SQL: &str = "INSERT INTO intents (id, format, opened_at, principal, run, upstream, tool, contract_digest, \
     arguments_digest, call_digest, attempt, fence, state, arguments) VALUES (:id, :format, :opened_at, :principal, \
     :run, :upstream, :tool, :contract_digest, :arguments_digest, :call_digest, :attempt, :fence, :state, :arguments)";

pub(crate) fn append(connection: &Connection, path: &Path, record: &IntentRecord) -> Result<(), StoreError> {
    let IntentRecord { intent, arguments } = record;
    assert!(intent.settlement.is_none(), "what is opened has no outcome yet");
    connection
        .prepare_cached(SQL)
        .and_then(|mut statement| {
            statement.execute(named_params! {
                ":id": intent.id.as_str(),
                ":format": INTENT_FORMAT,
                ":opened_at": intent.opened_at.0,
                ":principal": intent.principal.as_str(),
                ":run": intent.run,
                ":upstream": intent.upstream,
                ":tool": intent.tool,
                ":contract_digest": intent.contract_digest.to_string(),
                ":arguments_digest": intent.arguments_digest.to_string(),
                ":call_digest": intent.call_digest.to_string(),
                ":attempt": intent.attempt.0,
                ":fence": intent.fence.as_str(),
                ":state": intent.state().as_str(),
                ":arguments": &arguments[..],
            })
        })
        .at(path)?;
    Ok(())
}

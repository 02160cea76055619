//! The rows of intents: read, added, changed.

use std::path::Path;

use callgate_gateway::IntentFilter;
use callgate_schema::json::Digest;
use callgate_wire::{
    ApprovalId, Attempt, Code, INTENT_FORMAT, Incarnation, Intent, IntentId, IntentRecord, IntentState,
    Pinned, Principal, Settlement, SideEffect, Timestamp,
};
use rusqlite::{Connection, Row, named_params};

use super::columns::{Columns, all, change, one};
use crate::StoreError;
use crate::error::At as _;

/// The columns of [`Intent`], in the order in which [`intent`] reads them.
macro_rules! columns {
    () => {
        "id, format, opened_at, principal, run, upstream, tool, contract_digest, arguments_digest, call_digest, \
         idempotency_key, approval, read_only, idempotent, attempt, fence, retry_permitted, state, side_effect, \
         in_doubt, code, result_bytes, is_error, settled_at, seq"
    };
}

/// A statement that reads intents.
macro_rules! select {
    ($rest:literal) => {
        concat!("SELECT ", columns!(), " FROM intents ", $rest)
    };
}

/// The number of the column `seq`, the order of opening.
const SEQ: usize = 24;

/// One page of the intents, the last one opened first.
const PAGE: &str = select!("ORDER BY seq DESC LIMIT ?1");
const PAGE_BEFORE: &str =
    select!("WHERE seq < (SELECT seq FROM intents WHERE id = ?2) ORDER BY seq DESC LIMIT ?1");
const DOUBTS: &str =
    select!("INDEXED BY intents_in_doubt_listed WHERE in_doubt = 1 ORDER BY seq DESC LIMIT ?1");
const DOUBTS_BEFORE: &str = select!(
    "INDEXED BY intents_in_doubt_listed WHERE in_doubt = 1 AND seq < (SELECT seq FROM intents WHERE id = ?2) \
     ORDER BY seq DESC LIMIT ?1"
);
const UNSETTLED: &str = select!("WHERE fence = ?1 AND settled_at IS NULL ORDER BY seq");
const UNSETTLED_TWINS: &str =
    select!("WHERE call_digest = ?1 AND principal = ?2 AND fence <> ?3 AND settled_at IS NULL ORDER BY seq");
const BY_ID: &str = select!("WHERE id = ?1");
const OF_KEY: &str = select!("WHERE principal = ?1 AND idempotency_key = ?2 ORDER BY seq DESC LIMIT 1");
const TRIED_AS: &str = select!("WHERE tried_as = ?1");
const TWIN: &str = select!("WHERE principal = ?1 AND call_digest = ?2 AND in_doubt = 1 ORDER BY seq LIMIT 1");
// All characters of an id are below `g`, so that a range over the index finds what begins so.
const BEGINS: &str = select!("WHERE id >= ?1 AND id < ?1 || 'g' ORDER BY id LIMIT 2");
// Ids of the same moment begin alike; it is their ends that differ. This reads the index of ids from end to end, a few
// milliseconds for a hundred thousand.
const ENDS: &str = select!("WHERE substr(id, -length(?1)) = ?1 ORDER BY id LIMIT 2");

/// One page of the intents as they are recorded, each with its place in the order of opening.
pub(super) fn page(
    connection: &Connection,
    path: &Path,
    filter: &IntentFilter,
) -> Result<Vec<(i64, Intent)>, StoreError> {
    let read = |row: &Row<'_>| Ok((columns(row, path).get(SEQ)?, intent(row, path)?));
    let limit = filter.limit;
    match (&filter.before, filter.in_doubt) {
        (None, false) => all(connection, path, PAGE, (limit,), read),
        (None, true) => all(connection, path, DOUBTS, (limit,), read),
        (Some(before), false) => all(connection, path, PAGE_BEFORE, (limit, before.as_str()), read),
        (Some(before), true) => all(connection, path, DOUBTS_BEFORE, (limit, before.as_str()), read),
    }
}

/// The intents of an incarnation of which no outcome is known, each with its place in the order of opening.
pub(super) fn unsettled(
    connection: &Connection,
    path: &Path,
    fence: &Incarnation,
) -> Result<Vec<(i64, Intent)>, StoreError> {
    let read = |row: &Row<'_>| Ok((columns(row, path).get(SEQ)?, intent(row, path)?));
    all(connection, path, UNSETTLED, (fence.as_str(),), read)
}

/// The identical calls of a principal, of other lives, of which no outcome is recorded.
pub(super) fn unsettled_twins(
    connection: &Connection,
    path: &Path,
    principal: &Principal,
    call_digest: Digest,
    ours: &Incarnation,
) -> Result<Vec<Intent>, StoreError> {
    let params = (call_digest.to_string(), principal.as_str(), ours.as_str());
    all(connection, path, UNSETTLED_TWINS, params, |row| intent(row, path))
}

/// The place of an intent in the order of opening.
pub(super) fn place(connection: &Connection, path: &Path, id: &IntentId) -> Result<Option<i64>, StoreError> {
    let read = |row: &Row<'_>| columns(row, path).get(SEQ);
    one(connection, path, BY_ID, (id.as_str(),), read)
}

/// One by its whole id.
pub(super) fn by_id(
    connection: &Connection,
    path: &Path,
    id: &IntentId,
) -> Result<Option<Intent>, StoreError> {
    one(connection, path, BY_ID, (id.as_str(),), |row| intent(row, path))
}

/// The last one that this principal opened with this key.
pub(super) fn of_key(
    connection: &Connection,
    path: &Path,
    principal: &Principal,
    key: &str,
) -> Result<Option<Intent>, StoreError> {
    one(connection, path, OF_KEY, (principal.as_str(), key), |row| intent(row, path))
}

/// The one whose last try the request with this id made.
pub(super) fn tried_as(
    connection: &Connection,
    path: &Path,
    request: &IntentId,
) -> Result<Option<Intent>, StoreError> {
    one(connection, path, TRIED_AS, (request.as_str(),), |row| intent(row, path))
}

/// The first one of this principal with this call digest that is in doubt.
pub(super) fn twin(
    connection: &Connection,
    path: &Path,
    principal: &Principal,
    call_digest: Digest,
) -> Result<Option<Intent>, StoreError> {
    let params = (principal.as_str(), call_digest.to_string());
    one(connection, path, TWIN, params, |row| intent(row, path))
}

/// The one whose id begins so, or, if none does, ends so.
pub(super) fn show(
    connection: &Connection,
    path: &Path,
    part: &str,
) -> Result<Option<IntentRecord>, StoreError> {
    let find = |sql| all(connection, path, sql, (part,), |row| intent(row, path));
    let mut found = find(BEGINS)?;
    if found.is_empty() {
        found = find(ENDS)?;
    }
    if found.len() > 1 {
        let message = format!("expected a part of one intent's id, found several with `{part}`");
        return Err(StoreError::new(Code::IntentAmbiguous, path, message));
    }
    let Some(intent) = found.pop() else { return Ok(None) };
    let arguments =
        one(connection, path, "SELECT arguments FROM intents WHERE id = ?1", (intent.id.as_str(),), |row| {
            Columns { row, path, what: "an intent", names: "arguments" }.bytes(0)
        })?;
    // Between the two statements retention may have deleted it.
    Ok(arguments.map(|arguments| IntentRecord { intent, arguments }))
}

/// The result that was kept with one.
pub(super) fn result(
    connection: &Connection,
    path: &Path,
    id: &IntentId,
) -> Result<Option<Box<[u8]>>, StoreError> {
    let read = |row: &Row<'_>| {
        let columns = Columns { row, path, what: "an intent", names: "result" };
        Ok(columns.get::<Option<Vec<u8>>>(0)?.map(Into::into))
    };
    let found = one(connection, path, "SELECT result FROM intents WHERE id = ?1", (id.as_str(),), read)?;
    Ok(found.flatten())
}

const ADD: &str = "INSERT INTO intents (id, format, opened_at, principal, run, upstream, tool, contract_digest, \
     arguments_digest, call_digest, idempotency_key, approval, read_only, idempotent, attempt, fence, retry_permitted, \
     state, arguments) VALUES (:id, :format, :opened_at, :principal, :run, :upstream, :tool, :contract_digest, \
     :arguments_digest, :call_digest, :idempotency_key, :approval, :read_only, :idempotent, :attempt, :fence, \
     :retry_permitted, :state, :arguments)";

/// The share of a store's largest size that new intents leave for the outcomes of those that are there, and its most in
/// pages.
const ROOM_SHARE: i64 = 8;
const ROOM_PAGES_MAX: i64 = 1_024;

/// Refuses a new intent where the file is so near its largest size that outcomes might find no room.
fn leave_room(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let number = |sql: &str| {
        connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_row([], |row| row.get::<_, i64>(0)))
            .at(path)
    };
    let most = number("PRAGMA max_page_count")?;
    let used = number("PRAGMA page_count")? - number("PRAGMA freelist_count")?;
    if used + (most / ROOM_SHARE).min(ROOM_PAGES_MAX) < most {
        return Ok(());
    }
    Err(StoreError::new(
        Code::StoreUnavailable,
        path,
        "the store is full: the rest of its largest size is for outcomes",
    ))
}

/// A new one.
pub(super) fn add(connection: &Connection, path: &Path, record: &IntentRecord) -> Result<(), StoreError> {
    let IntentRecord { intent, arguments } = record;
    assert!(intent.settlement.is_none(), "what is opened has no outcome yet");
    leave_room(connection, path)?;
    change(
        connection,
        path,
        ADD,
        named_params! {
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
            ":idempotency_key": intent.key,
            ":approval": intent.approval.as_ref().map(ApprovalId::as_str),
            ":read_only": intent.pinned.read_only,
            ":idempotent": intent.pinned.idempotent,
            ":attempt": intent.attempt.0,
            ":fence": intent.fence.as_str(),
            ":retry_permitted": intent.retry_permitted,
            ":state": intent.state().as_str(),
            ":arguments": &arguments[..],
        },
    )?;
    Ok(())
}

const RETRY: &str = "UPDATE intents SET attempt = :attempt, fence = :fence, tried_as = :tried_as, retry_permitted = 0, \
     state = :state, side_effect = NULL, in_doubt = 0, code = NULL, result_bytes = NULL, is_error = NULL, settled_at = NULL, \
     result = NULL WHERE id = :id";

/// Another try: what was known of its end is gone, and so is the permission.
pub(super) fn retry(
    connection: &Connection,
    path: &Path,
    id: &IntentId,
    attempt: Attempt,
    fence: &Incarnation,
    request: &IntentId,
) -> Result<(), StoreError> {
    let params = named_params! {
        ":id": id.as_str(),
        ":tried_as": request.as_str(),
        ":attempt": attempt.0,
        ":fence": fence.as_str(),
        ":state": IntentState::Open.as_str(),
    };
    expect_one(change(connection, path, RETRY, params)?, path, id)
}

/// One more try is permitted.
pub(super) fn permit_retry(connection: &Connection, path: &Path, id: &IntentId) -> Result<(), StoreError> {
    let sql = "UPDATE intents SET retry_permitted = 1 WHERE id = ?1";
    expect_one(change(connection, path, sql, (id.as_str(),))?, path, id)
}

const SETTLE: &str = "UPDATE intents SET fence = :fence, state = :state, side_effect = :side_effect, \
     in_doubt = :in_doubt, retry_permitted = retry_permitted AND :in_doubt, code = :code, result_bytes = :result_bytes, is_error = :is_error, settled_at = :settled_at, \
     result = :result WHERE id = :id";

/// What is known of its end.
pub(super) fn settle(
    connection: &Connection,
    path: &Path,
    id: &IntentId,
    fence: &Incarnation,
    settlement: &Settlement,
    result: Option<&[u8]>,
) -> Result<(), StoreError> {
    let params = named_params! {
        ":id": id.as_str(),
        ":fence": fence.as_str(),
        ":state": settlement.state.as_str(),
        ":side_effect": settlement.side_effect.as_str(),
        ":in_doubt": settlement.in_doubt,
        ":code": settlement.code.map(Code::as_str),
        ":result_bytes": settlement.result_bytes.map(|bytes| i64::try_from(bytes).unwrap_or(i64::MAX)),
        ":is_error": settlement.is_error,
        ":settled_at": settlement.at.0,
        ":result": result,
    };
    expect_one(change(connection, path, SETTLE, params)?, path, id)
}

fn expect_one(changed: usize, path: &Path, id: &IntentId) -> Result<(), StoreError> {
    assert!(changed <= 1, "one intent has this id");
    if changed == 0 {
        return Err(StoreError::new(Code::IntentNotFound, path, format!("there is no intent `{id}`")));
    }
    Ok(())
}

fn columns<'a>(row: &'a Row<'a>, path: &'a Path) -> Columns<'a> {
    Columns { row, path, what: "an intent", names: columns!() }
}

fn intent(row: &Row<'_>, path: &Path) -> Result<Intent, StoreError> {
    let columns = columns(row, path);
    let format: u32 = columns.get(1)?;
    if format > INTENT_FORMAT {
        let message = format!("expected intents of format {INTENT_FORMAT} or older, found {format}");
        return Err(StoreError::new(Code::StoreNewer, path, message));
    }
    Ok(Intent {
        id: columns.parsed(0, |text| IntentId::parse(text).ok())?,
        opened_at: columns.time(2)?,
        principal: Principal::from_stored(columns.get::<String>(3)?),
        run: columns.get(4)?,
        upstream: columns.get(5)?,
        tool: columns.get(6)?,
        contract_digest: columns.digest(7)?,
        arguments_digest: columns.digest(8)?,
        call_digest: columns.digest(9)?,
        key: columns.get(10)?,
        approval: columns.parsed_if(11, |text| ApprovalId::parse(text).ok())?,
        pinned: Pinned { read_only: columns.get(12)?, idempotent: columns.get(13)? },
        attempt: Attempt(columns.get(14)?),
        fence: columns.parsed(15, |text| Incarnation::parse(text).ok())?,
        retry_permitted: columns.get(16)?,
        settlement: settlement(&columns)?,
    })
}

fn settlement(columns: &Columns<'_>) -> Result<Option<Settlement>, StoreError> {
    let Some(at) = columns.get::<Option<i64>>(23)? else { return Ok(None) };
    let result_bytes = match columns.get::<Option<i64>>(21)? {
        Some(bytes) => Some(u64::try_from(bytes).map_err(|_| columns.damaged(21))?),
        None => None,
    };
    Ok(Some(Settlement {
        state: columns.parsed(17, IntentState::parse)?,
        side_effect: columns.parsed(18, SideEffect::parse)?,
        in_doubt: columns.get(19)?,
        code: columns.parsed_if(20, Code::parse)?,
        result_bytes,
        is_error: columns.get(22)?,
        at: Timestamp(at),
    }))
}

/// What is listed, for the test of how.
#[cfg(test)]
pub(super) const LISTS: &[&str] = &[PAGE, PAGE_BEFORE, DOUBTS, DOUBTS_BEFORE];
/// What is looked up, likewise.
#[cfg(test)]
pub(super) const LOOKUPS: &[&str] =
    &[UNSETTLED, UNSETTLED_TWINS, BY_ID, OF_KEY, TRIED_AS, TWIN, BEGINS, RETRY, SETTLE];

//! The rows of approvals.

use std::path::Path;

use callgate_gateway::journal::ApprovalFilter;
use callgate_schema::json::Digest;
use callgate_wire::{
    Approval, ApprovalId, ApprovalRecord, ApprovalState, Code, Decision, IntentId, Principal, Timestamp,
};
use rusqlite::{Connection, Row, named_params};

use super::columns::{Columns, all, change, one};
use crate::{StoreError, names};

/// The columns of [`Approval`], in the order in which [`approval`] reads them.
macro_rules! columns {
    () => {
        "id, asked_at, expires_at, principal, run, upstream, tool, contract_digest, arguments_digest, call_digest, \
         rules_digest, rules, state, decided_at, decided_by, reason, used_by"
    };
}

/// A statement that reads approvals.
macro_rules! select {
    ($rest:literal) => {
        concat!("SELECT ", columns!(), " FROM approvals ", $rest)
    };
}

const BY_ID: &str = select!("WHERE id = ?1");
const OF_CALL: &str = select!(
    "WHERE principal = ?1 AND call_digest = ?2 AND state <> 'used' AND expires_at >= ?3 ORDER BY seq"
);
const PAGE: &str = select!("ORDER BY seq DESC LIMIT ?1");
const PENDING: &str = select!(
    "INDEXED BY approvals_pending_listed WHERE state = 'pending' AND expires_at >= ?2 ORDER BY seq DESC LIMIT ?1"
);
const LAST_USED: &str = select!(
    "WHERE principal = ?1 AND upstream = ?2 AND tool = ?3 AND state = 'used' ORDER BY seq DESC LIMIT 1"
);
// As for intents: see there.
const BEGINS: &str = select!("WHERE id >= ?1 AND id < ?1 || 'g' ORDER BY id LIMIT 2");
const ENDS: &str = select!("WHERE substr(id, -length(?1)) = ?1 ORDER BY id LIMIT 2");
const PENDING_COUNT: &str = "SELECT count(*) FROM approvals INDEXED BY approvals_pending WHERE state = 'pending' AND \
     expires_at >= ?1";

/// One by its whole id.
pub(super) fn by_id(
    connection: &Connection,
    path: &Path,
    id: &ApprovalId,
) -> Result<Option<Approval>, StoreError> {
    one(connection, path, BY_ID, (id.as_str(),), |row| approval(row, path))
}

/// Those for this call that are not used and not expired, in the order of asking.
pub(super) fn of_call(
    connection: &Connection,
    path: &Path,
    principal: &Principal,
    call_digest: Digest,
    now: Timestamp,
) -> Result<Vec<Approval>, StoreError> {
    let params = (principal.as_str(), call_digest.to_string(), now.0);
    all(connection, path, OF_CALL, params, |row| approval(row, path))
}

/// How many wait for a decision.
pub(super) fn pending(connection: &Connection, path: &Path, now: Timestamp) -> Result<u64, StoreError> {
    let read = |row: &Row<'_>| Columns { row, path, what: "a count", names: "count" }.amount(0);
    Ok(one(connection, path, PENDING_COUNT, (now.0,), read)?.unwrap_or_default())
}

/// A page of them, the last one asked for first.
pub(super) fn page(
    connection: &Connection,
    path: &Path,
    filter: &ApprovalFilter,
) -> Result<Vec<Approval>, StoreError> {
    let read = |row: &Row<'_>| approval(row, path);
    match filter.pending_at {
        None => all(connection, path, PAGE, (filter.limit,), read),
        Some(now) => all(connection, path, PENDING, (filter.limit, now.0), read),
    }
}

/// The one whose id begins so, or, if none does, ends so.
pub(super) fn show(
    connection: &Connection,
    path: &Path,
    part: &str,
) -> Result<Option<ApprovalRecord>, StoreError> {
    let find = |sql| all(connection, path, sql, (part,), |row| approval(row, path));
    let mut found = find(BEGINS)?;
    if found.is_empty() {
        found = find(ENDS)?;
    }
    if found.len() > 1 {
        let message = format!("expected a part of one approval's id, found several with `{part}`");
        return Err(StoreError::new(Code::ApprovalAmbiguous, path, message));
    }
    found.pop().map_or(Ok(None), |approval| with_arguments(connection, path, approval))
}

/// The last one of this tool of this principal that was used.
pub(super) fn last_used(
    connection: &Connection,
    path: &Path,
    principal: &Principal,
    upstream: &str,
    tool: &str,
) -> Result<Option<ApprovalRecord>, StoreError> {
    let params = (principal.as_str(), upstream, tool);
    let found = one(connection, path, LAST_USED, params, |row| approval(row, path))?;
    found.map_or(Ok(None), |approval| with_arguments(connection, path, approval))
}

fn with_arguments(
    connection: &Connection,
    path: &Path,
    approval: Approval,
) -> Result<Option<ApprovalRecord>, StoreError> {
    let sql = "SELECT arguments FROM approvals WHERE id = ?1";
    let arguments = one(connection, path, sql, (approval.id.as_str(),), |row| {
        Columns { row, path, what: "an approval", names: "arguments" }.bytes(0)
    })?;
    Ok(arguments.map(|arguments| ApprovalRecord { approval, arguments }))
}

const ADD: &str = "INSERT INTO approvals (id, asked_at, expires_at, principal, run, upstream, tool, contract_digest, \
     arguments_digest, call_digest, rules_digest, rules, state, decided_at, decided_by, reason, used_by, arguments) \
     VALUES (:id, :asked_at, :expires_at, :principal, :run, :upstream, :tool, :contract_digest, :arguments_digest, \
     :call_digest, :rules_digest, :rules, :state, :decided_at, :decided_by, :reason, :used_by, :arguments)";

/// A new request.
pub(super) fn add(connection: &Connection, path: &Path, record: &ApprovalRecord) -> Result<(), StoreError> {
    let ApprovalRecord { approval, arguments } = record;
    let decision = approval.decision.as_ref();
    change(
        connection,
        path,
        ADD,
        named_params! {
            ":id": approval.id.as_str(),
            ":asked_at": approval.asked_at.0,
            ":expires_at": approval.expires_at.0,
            ":principal": approval.principal.as_str(),
            ":run": approval.run,
            ":upstream": approval.upstream,
            ":tool": approval.tool,
            ":contract_digest": approval.contract_digest.to_string(),
            ":arguments_digest": approval.arguments_digest.to_string(),
            ":call_digest": approval.call_digest.to_string(),
            ":rules_digest": approval.rules_digest.to_string(),
            ":rules": names::write(&approval.rules),
            ":state": approval.state.as_str(),
            ":decided_at": decision.map(|decision| decision.at.0),
            ":decided_by": decision.map(|decision| &decision.by),
            ":reason": decision.and_then(|decision| decision.reason.as_ref()),
            ":used_by": approval.used_by.as_ref().map(IntentId::as_str),
            ":arguments": &arguments[..],
        },
    )?;
    Ok(())
}

const SET: &str = "UPDATE approvals SET expires_at = :expires_at, state = :state, decided_at = :decided_at, \
     decided_by = :decided_by, reason = :reason, used_by = :used_by WHERE id = :id";

/// Its state, last moment, decision and use.
pub(super) fn set(connection: &Connection, path: &Path, approval: &Approval) -> Result<(), StoreError> {
    let decision = approval.decision.as_ref();
    let params = named_params! {
        ":id": approval.id.as_str(),
        ":expires_at": approval.expires_at.0,
        ":state": approval.state.as_str(),
        ":decided_at": decision.map(|decision| decision.at.0),
        ":decided_by": decision.map(|decision| &decision.by),
        ":reason": decision.and_then(|decision| decision.reason.as_ref()),
        ":used_by": approval.used_by.as_ref().map(IntentId::as_str),
    };
    if change(connection, path, SET, params)? == 0 {
        let message = format!("there is no approval `{}`", approval.id);
        return Err(StoreError::new(Code::ApprovalNotFound, path, message));
    }
    Ok(())
}

fn approval(row: &Row<'_>, path: &Path) -> Result<Approval, StoreError> {
    let columns = Columns { row, path, what: "an approval", names: columns!() };
    let decision = match columns.get::<Option<i64>>(13)? {
        Some(at) => Some(Decision { at: Timestamp(at), by: columns.get(14)?, reason: columns.get(15)? }),
        None => None,
    };
    Ok(Approval {
        id: columns.parsed(0, |text| ApprovalId::parse(text).ok())?,
        asked_at: columns.time(1)?,
        expires_at: columns.time(2)?,
        principal: Principal::from_stored(columns.get::<String>(3)?),
        run: columns.get(4)?,
        upstream: columns.get(5)?,
        tool: columns.get(6)?,
        contract_digest: columns.digest(7)?,
        arguments_digest: columns.digest(8)?,
        call_digest: columns.digest(9)?,
        rules_digest: columns.digest(10)?,
        rules: columns.parsed(11, names::read)?,
        state: columns.parsed(12, ApprovalState::parse)?,
        decision,
        used_by: columns.parsed_if(16, |text| IntentId::parse(text).ok())?,
    })
}

/// What is listed, for the test of how.
#[cfg(test)]
pub(super) const LISTS: &[&str] = &[PAGE, PENDING];
/// What is looked up, likewise.
#[cfg(test)]
pub(super) const LOOKUPS: &[&str] = &[BY_ID, OF_CALL, PENDING_COUNT, LAST_USED, BEGINS, SET];

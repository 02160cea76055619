//! Requests about approvals.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, Query, State, rejection::QueryRejection};
use axum::response::{IntoResponse as _, Response as HttpResponse};
use callgate_gateway::journal::{ApprovalFilter, DecideRequest};
use callgate_wire::{ApprovalRecord, Code, Timestamp};
use serde::Deserialize;

use super::body::Said;
use super::fault::Fault;
use super::{ITEMS, ITEMS_MAX, answer};
use crate::clock::now;
use crate::records::approvals as texts;
use crate::serve::gate::Gate;
use crate::serve::http::Front;

/// What is listed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Which {
    /// Those that are decided or have expired, too.
    all: bool,
    limit: u32,
}

impl Default for Which {
    fn default() -> Which {
        Which { all: false, limit: ITEMS }
    }
}

pub(super) async fn list(
    State(front): State<Arc<Front>>,
    which: Result<Query<Which>, QueryRejection>,
) -> HttpResponse {
    let Query(which) = match which {
        Ok(which) => which,
        Err(error) => return Fault::malformed(error.body_text()).into_response(),
    };
    answer(&front, move |gate| {
        let now = now();
        let limit = which.limit.clamp(1, ITEMS_MAX);
        let filter = ApprovalFilter { limit, pending_at: (!which.all).then_some(now) };
        Ok(texts::list(&gate.journal.approvals(&filter)?, now))
    })
    .await
}

pub(super) async fn show(State(front): State<Arc<Front>>, Path(id): Path<String>) -> HttpResponse {
    answer(&front, move |gate| Ok(texts::show(&found(gate, &id)?, now()))).await
}

pub(super) async fn approve(
    State(front): State<Arc<Front>>,
    Path(id): Path<String>,
    body: Body,
) -> HttpResponse {
    match Said::read(body, &["reason", "by", "valid_ms"]).await {
        Ok(said) => answer(&front, move |gate| decide(gate, &id, true, &said)).await,
        Err(fault) => fault.into_response(),
    }
}

pub(super) async fn deny(
    State(front): State<Arc<Front>>,
    Path(id): Path<String>,
    body: Body,
) -> HttpResponse {
    match Said::read(body, &["reason", "by"]).await {
        Ok(said) => answer(&front, move |gate| decide(gate, &id, false, &said)).await,
        Err(fault) => fault.into_response(),
    }
}

fn found(gate: &Gate, id: &str) -> Result<ApprovalRecord, Fault> {
    let record = gate.journal.approval_record(id)?;
    record.ok_or_else(|| Fault::not_found(Code::ApprovalNotFound, "an approval"))
}

fn decide(gate: &Gate, id: &str, approve: bool, said: &Said) -> Result<String, Fault> {
    let (by, reason, at) = (said.by()?, said.text("reason")?, now());
    let asked = found(gate, id)?.approval;
    let expires_at = match said.number("valid_ms", texts::VALID_MS_MAX)? {
        Some(ms) => Timestamp(at.0.saturating_add(i64::try_from(ms).unwrap_or(i64::MAX))),
        // As long as the request could wait.
        None if approve => {
            Timestamp(at.0.saturating_add((asked.expires_at.0.saturating_sub(asked.asked_at.0)).max(1)))
        }
        None => asked.expires_at,
    };
    let id = asked.id;
    let decided =
        gate.journal.decide(DecideRequest { id, approve, by: by.clone(), reason, at, expires_at })?;
    tracing::info!(approval = %decided.id, approve, by, "an operator has decided over HTTP");
    Ok(texts::one(&decided, at))
}

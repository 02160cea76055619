//! Requests about the records of calls.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, Query, State, rejection::QueryRejection};
use axum::response::{IntoResponse as _, Response as HttpResponse};
use callgate_gateway::journal::{EventFilter, IntentFilter, ReconcileRequest, Verdict};
use callgate_wire::{Code, IntentRecord, SideEffect};
use serde::Deserialize;

use super::body::Said;
use super::fault::Fault;
use super::{ITEMS, ITEMS_MAX, answer};
use crate::clock::now;
use crate::records::intents as texts;
use crate::serve::gate::Gate;
use crate::serve::http::Front;

/// Lines of a call's history that are shown.
const HISTORY_MAX: u32 = 100;

/// What is listed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Which {
    in_doubt: bool,
    limit: u32,
    /// Those opened before this one.
    before: Option<String>,
}

impl Default for Which {
    fn default() -> Which {
        Which { in_doubt: false, limit: ITEMS, before: None }
    }
}

/// What is shown of one.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct How {
    /// The exact text of the arguments, too, which can hold secrets.
    arguments: bool,
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
        let before = which.before.map(|id| found(gate, &id)).transpose()?.map(|record| record.intent.id);
        let limit = which.limit.clamp(1, ITEMS_MAX);
        let filter = IntentFilter { limit, in_doubt: which.in_doubt, before };
        Ok(texts::list(&gate.journal.list(&filter)?))
    })
    .await
}

pub(super) async fn show(
    State(front): State<Arc<Front>>,
    Path(id): Path<String>,
    how: Result<Query<How>, QueryRejection>,
) -> HttpResponse {
    let Query(how) = match how {
        Ok(how) => how,
        Err(error) => return Fault::malformed(error.body_text()).into_response(),
    };
    answer(&front, move |gate| {
        let IntentRecord { intent, arguments, .. } = found(gate, &id)?;
        let filter = EventFilter { limit: HISTORY_MAX, intent: Some(intent.id.clone()) };
        let history = gate.journal.history(&filter)?;
        let arguments = how.arguments.then(|| String::from_utf8_lossy(&arguments));
        Ok(texts::show(&intent, &history, arguments.as_deref()))
    })
    .await
}

pub(super) async fn adopt(
    State(front): State<Arc<Front>>,
    Path(id): Path<String>,
    body: Body,
) -> HttpResponse {
    let said = match Said::read(body, &["effect", "reason", "by"]).await {
        Ok(said) => said,
        Err(fault) => return fault.into_response(),
    };
    answer(&front, move |gate| {
        let effect = match said.needed("effect")?.as_str() {
            "done" => SideEffect::Done,
            "none" => SideEffect::None,
            _ => return Err(Fault::malformed("expected `effect` to be `done` or `none`")),
        };
        reconcile(gate, &id, Verdict::Adopt(effect), &said)
    })
    .await
}

pub(super) async fn retry(
    State(front): State<Arc<Front>>,
    Path(id): Path<String>,
    body: Body,
) -> HttpResponse {
    decide(&front, id, Verdict::Retry, body).await
}

pub(super) async fn abandon(
    State(front): State<Arc<Front>>,
    Path(id): Path<String>,
    body: Body,
) -> HttpResponse {
    decide(&front, id, Verdict::Abandon, body).await
}

async fn decide(front: &Arc<Front>, id: String, verdict: Verdict, body: Body) -> HttpResponse {
    match Said::read(body, &["reason", "by"]).await {
        Ok(said) => answer(front, move |gate| reconcile(gate, &id, verdict, &said)).await,
        Err(fault) => fault.into_response(),
    }
}

fn found(gate: &Gate, id: &str) -> Result<IntentRecord, Fault> {
    gate.journal.show(id)?.ok_or_else(|| Fault::not_found(Code::IntentNotFound, "an intent"))
}

fn reconcile(gate: &Gate, id: &str, verdict: Verdict, said: &Said) -> Result<String, Fault> {
    let (by, reason) = (said.by()?, said.needed("reason")?);
    let id = found(gate, id)?.intent.id;
    let request = ReconcileRequest { id, verdict, by: by.clone(), reason, at: now() };
    let intent = gate.journal.reconcile(request)?;
    tracing::info!(intent = %intent.id, ?verdict, by, "an operator has decided over HTTP");
    Ok(texts::line(&intent, None))
}

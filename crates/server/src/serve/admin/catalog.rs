//! Requests about what is pinned of the tools.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Query, State, rejection::QueryRejection};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response as HttpResponse};
use callgate_gateway::journal::AcceptRequest;
use callgate_wire::Code;
use serde::Deserialize;

use super::answer;
use super::body::Said;
use super::fault::Fault;
use crate::clock::now;
use crate::records::catalog as texts;
use crate::serve::gate::Gate;
use crate::serve::http::Front;

/// What is listed.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Which {
    upstream: Option<String>,
}

pub(super) async fn list(
    State(front): State<Arc<Front>>,
    which: Result<Query<Which>, QueryRejection>,
) -> HttpResponse {
    let Query(which) = match which {
        Ok(which) => which,
        Err(error) => return Fault::malformed(error.body_text()).into_response(),
    };
    answer(&front, move |gate| Ok(texts::list(&gate.journal.pinned(which.upstream.as_deref())?))).await
}

pub(super) async fn accept(State(front): State<Arc<Front>>, body: Body) -> HttpResponse {
    match Said::read(body, &["upstream", "tool", "digest", "by"]).await {
        Ok(said) => answer(&front, move |gate| accepted(gate, &said)).await,
        Err(fault) => fault.into_response(),
    }
}

/// Accepts the definition with exactly this digest: whoever accepts has seen one, and another one may wait by now.
fn accepted(gate: &Gate, said: &Said) -> Result<String, Fault> {
    let (upstream, tool, by) = (said.needed("upstream")?, said.needed("tool")?, said.by()?);
    let digest = said.needed("digest")?.parse().map_err(|_| {
        Fault::malformed(
            "expected `digest` to be the whole digest of the definition that waits (`held_digest`)",
        )
    })?;
    let request =
        AcceptRequest { upstream: upstream.clone(), tool: tool.clone(), digest, by: by.clone(), at: now() };
    gate.journal.accept(request)?;
    tracing::info!(upstream, tool, %digest, by, "an operator has accepted a changed tool over HTTP");
    let mut pins = gate.journal.pinned(Some(&upstream))?;
    pins.retain(|record| record.pin.tool == tool);
    if pins.is_empty() {
        return Err(Fault::new(
            StatusCode::NOT_FOUND,
            Code::ContractNotHeld,
            "nothing is pinned of this tool",
        ));
    }
    Ok(texts::list(&pins))
}

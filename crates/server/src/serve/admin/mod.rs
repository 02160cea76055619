//! The operator's address, `/admin/v1`: what the command line does with the records of a gate that runs, for whoever shows
//! the operator's token. Answers are what the command line prints with `--format json`.
//!
//! | file | holds |
//! |---|---|
//! | `token` | who is an operator |
//! | `fault` | what is answered to a request that is not done |
//! | `body` | what a request says |
//! | `approvals`, `intents`, `catalog` | the requests about each |

mod approvals;
mod body;
mod catalog;
mod fault;
mod intents;
mod token;

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse as _, Response as HttpResponse};
use axum::routing::{get, post};
use callgate_wire::Code;

use self::fault::Fault;
use super::gate::Gate;
use super::http::Front;
use crate::records;

/// Items of one answer, at most.
const ITEMS_MAX: u32 = 1_000;
/// Items of one answer, where a request says nothing else.
const ITEMS: u32 = 50;

/// The routes below `/admin/v1`.
pub(super) fn routes(front: &Arc<Front>) -> Router<Arc<Front>> {
    Router::new()
        .route("/approvals", get(approvals::list))
        .route("/approvals/{id}", get(approvals::show))
        .route("/approvals/{id}/approve", post(approvals::approve))
        .route("/approvals/{id}/deny", post(approvals::deny))
        .route("/intents", get(intents::list))
        .route("/intents/{id}", get(intents::show))
        .route("/intents/{id}/adopt", post(intents::adopt))
        .route("/intents/{id}/retry", post(intents::retry))
        .route("/intents/{id}/abandon", post(intents::abandon))
        .route("/budgets", get(budgets))
        .route("/catalog", get(catalog::list))
        .route("/catalog/accept", post(catalog::accept))
        .fallback(async || Fault::unclear(StatusCode::NOT_FOUND, "there is nothing at this path"))
        .method_not_allowed_fallback(async || {
            let expected = "expected another method at this path: GET to look, POST to change";
            Fault::unclear(StatusCode::METHOD_NOT_ALLOWED, expected)
        })
        .layer(from_fn_with_state(Arc::clone(front), token::required))
}

async fn budgets(State(front): State<Arc<Front>>) -> HttpResponse {
    answer(&front, |gate| Ok(records::budgets::list(&gate.journal.counters()?))).await
}

/// Does what may block, and answers with the text that it gives.
async fn answer(
    front: &Arc<Front>,
    work: impl FnOnce(&Gate) -> Result<String, Fault> + Send + 'static,
) -> HttpResponse {
    let gate = Arc::clone(&front.gate);
    match tokio::task::spawn_blocking(move || work(&gate)).await {
        Ok(Ok(text)) => ([(header::CONTENT_TYPE, "application/json")], text).into_response(),
        Ok(Err(fault)) => fault.into_response(),
        Err(_) => {
            let message = "a defect of the gate ended the request";
            Fault::new(StatusCode::INTERNAL_SERVER_ERROR, Code::StoreUnavailable, message).into_response()
        }
    }
}

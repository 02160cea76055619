//! What is answered to a request of an operator that is not done.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response as HttpResponse};
use callgate_gateway::JournalError;
use callgate_wire::Code;

use crate::records::json::{object, quoted};
use crate::session::chain;

/// The engine has the code of requests that are not written as they have to be.
const MALFORMED: &str = callgate_schema::Code::RequestMalformed.as_str();

/// A status, and an object with a code and a text.
#[derive(Debug)]
pub(super) struct Fault {
    status: StatusCode,
    code: &'static str,
    message: String,
}

impl Fault {
    pub(super) fn new(status: StatusCode, code: Code, message: impl Into<String>) -> Fault {
        Fault { status, code: code.as_str(), message: message.into() }
    }

    /// A request that is not written as it has to be.
    pub(super) fn malformed(message: impl Into<String>) -> Fault {
        Fault::unclear(StatusCode::BAD_REQUEST, message)
    }

    /// The same, with a status that says more.
    pub(super) fn unclear(status: StatusCode, message: impl Into<String>) -> Fault {
        Fault { status, code: MALFORMED, message: message.into() }
    }

    pub(super) fn not_found(code: Code, what: &str) -> Fault {
        let message = format!("expected the id of {what}, or its beginning or end, found another text");
        Fault::new(StatusCode::NOT_FOUND, code, message)
    }
}

impl From<JournalError> for Fault {
    fn from(error: JournalError) -> Fault {
        let code = error.code();
        let status = match code {
            Code::IntentNotInDoubt
            | Code::IntentFenced
            | Code::ApprovalNotPending
            | Code::ApprovalExpired
            | Code::ContractNotHeld
            | Code::CatalogConflict => StatusCode::CONFLICT,
            Code::IntentAmbiguous | Code::ApprovalAmbiguous => StatusCode::BAD_REQUEST,
            Code::IntentNotFound | Code::ApprovalNotFound => StatusCode::NOT_FOUND,
            _ => {
                tracing::error!(error = %chain(&error), %code, "the store does not do what an operator asks");
                StatusCode::SERVICE_UNAVAILABLE
            }
        };
        Fault::new(status, code, error.to_string())
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> HttpResponse {
        let error = object(&[("code", Some(quoted(self.code))), ("message", Some(quoted(&self.message)))]);
        let text = object(&[("error", Some(error))]) + "\n";
        (self.status, [(header::CONTENT_TYPE, "application/json")], text).into_response()
    }
}

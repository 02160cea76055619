//! Who is an operator: whoever shows the token that lies beside the store. No token of a caller counts here, and who is
//! let through without one elsewhere is not here.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response as HttpResponse};
use callgate_wire::Code;

use super::fault::Fault;
use crate::operator::OperatorToken;
use crate::serve::http::Front;

/// Lets a request through that is an operator's.
pub(super) async fn required(
    State(front): State<Arc<Front>>,
    mut request: Request,
    next: Next,
) -> HttpResponse {
    if let Err(refused) = front.admit(request.headers()) {
        return *refused;
    }
    let (given, beside) = (taken(request.headers_mut()), front.beside.clone());
    // It is read each time, so that a new one counts at once.
    let check = move || match (given, OperatorToken::of_store(&beside)) {
        (Some(given), Ok(token)) => token.verify(&given).map_err(|error| (error.code(), error.to_string())),
        (_, Err(error)) => Err((error.code(), error.to_string())),
        (None, Ok(_)) => Err((Code::OperatorTokenWrong, String::new())),
    };
    match tokio::task::spawn_blocking(check).await {
        Ok(Ok(())) => next.run(request).await,
        Ok(Err((Code::OperatorTokenUnsafe, message))) => {
            tracing::error!(message, "no operator is let in, since the token cannot be trusted");
            let message = "the operator's token of this gate cannot be trusted or read; its log says why";
            Fault::new(StatusCode::SERVICE_UNAVAILABLE, Code::OperatorTokenUnsafe, message).into_response()
        }
        Ok(Err((code, _))) => {
            tracing::warn!(
                path = request.uri().path(),
                "a request for the operator's address has no token of theirs"
            );
            let expected =
                "expected the operator's token (`Authorization: Bearer TOKEN`), found none or another one";
            let mut response = Fault::new(StatusCode::UNAUTHORIZED, code, expected).into_response();
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, header::HeaderValue::from_static("Bearer"));
            response
        }
        Err(_) => {
            Fault::new(StatusCode::INTERNAL_SERVER_ERROR, Code::OperatorTokenUnsafe, "a defect of the gate")
                .into_response()
        }
    }
}

/// The token that a request shows, taken out of its headers.
fn taken(headers: &mut HeaderMap) -> Option<OperatorToken> {
    let mut shown = headers.get_all(header::AUTHORIZATION).iter();
    let only = match (shown.next(), shown.next()) {
        (Some(only), None) => only.to_str().ok(),
        _ => None,
    };
    let (scheme, token) = only?.split_once(' ')?;
    let token = scheme.eq_ignore_ascii_case("bearer").then(|| OperatorToken::parse(token).ok()).flatten();
    headers.remove(header::AUTHORIZATION);
    token
}

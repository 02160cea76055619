//! What a request is answered that does not show enough.

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response as HttpResponse};

use super::metadata::Metadata;

/// Why a request is refused. Its texts are fixed: nothing of a token is in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It shows nothing.
    Absent,
    /// It shows several things.
    Malformed,
    /// What it shows is not good, for this reason.
    Invalid(&'static str),
    /// The token is good, and for other things than this gate.
    TooFewScopes,
    /// Nobody can say now whether it is good.
    Unavailable,
}

/// When to try again that nobody could judge, in seconds.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("10");

impl Refusal {
    pub(super) fn reason(self) -> &'static str {
        match self {
            Refusal::Absent => "expected the header `Authorization` with a bearer token, found none",
            Refusal::Malformed => "expected the header `Authorization` once, found it several times",
            Refusal::Invalid(reason) => reason,
            Refusal::TooFewScopes => "the token has not every scope that is asked for",
            Refusal::Unavailable => "the keys of the issuer cannot be had",
        }
    }

    /// SPEC: RFC 6750, section 3.1, for the codes, and RFC 9728, section 5.1, for `resource_metadata`.
    pub(super) fn response(self, metadata: Option<&Metadata>, headers: &HeaderMap) -> HttpResponse {
        let (status, error) = match self {
            Refusal::Absent => (StatusCode::UNAUTHORIZED, None),
            Refusal::Malformed => (StatusCode::BAD_REQUEST, Some("invalid_request")),
            Refusal::Invalid(_) => (StatusCode::UNAUTHORIZED, Some("invalid_token")),
            Refusal::TooFewScopes => (StatusCode::FORBIDDEN, Some("insufficient_scope")),
            Refusal::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, None),
        };
        let mut response = (status, format!("{}\n", self.reason())).into_response();
        if self == Refusal::Unavailable {
            response.headers_mut().insert(header::RETRY_AFTER, RETRY_AFTER);
            return response;
        }
        let mut parts = Vec::new();
        parts.extend(error.map(|error| format!("error=\"{error}\"")));
        parts.extend(
            metadata
                .and_then(|metadata| metadata.address(headers))
                .map(|url| format!("resource_metadata=\"{url}\"")),
        );
        let scope = metadata.map(Metadata::scope).filter(|scope| !scope.is_empty());
        parts.extend(scope.map(|scope| format!("scope=\"{scope}\"")));
        let challenge =
            if parts.is_empty() { "Bearer".to_owned() } else { format!("Bearer {}", parts.join(", ")) };
        // What goes into it was checked when the configuration was read; a challenge without parts is still one.
        let challenge =
            HeaderValue::try_from(challenge).unwrap_or_else(|_| HeaderValue::from_static("Bearer"));
        response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        response
    }
}

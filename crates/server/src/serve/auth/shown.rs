//! What a request shows of who makes it.

use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, HeaderValue};

use super::tokens::PREFIX;

/// What a request shows. It has no `Debug` form: it holds secrets.
pub(super) enum Shown {
    Nothing,
    /// Several headers, of which nobody can say which one counts.
    Several,
    /// Another scheme, or a bearer token that is none.
    Other,
    ApiToken(String),
    Jwt(String),
}

impl Shown {
    /// Takes it out of the headers.
    pub(super) fn take(headers: &mut HeaderMap) -> Shown {
        let mut values = headers.get_all(AUTHORIZATION).iter();
        let shown = match (values.next(), values.next()) {
            (None, _) => Shown::Nothing,
            (Some(_), Some(_)) => Shown::Several,
            (Some(only), None) => Shown::read(only),
        };
        headers.remove(AUTHORIZATION);
        shown
    }

    fn read(value: &HeaderValue) -> Shown {
        let Some((scheme, token)) = value.to_str().ok().and_then(|text| text.split_once(' ')) else {
            return Shown::Other;
        };
        let token = token.trim();
        // SPEC: RFC 6750, section 2.1: the characters of a bearer token.
        let is_token =
            |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'.' | b'_' | b'~' | b'+' | b'/' | b'=');
        if !scheme.eq_ignore_ascii_case("bearer") || token.is_empty() || !token.bytes().all(is_token) {
            Shown::Other
        } else if token.starts_with(PREFIX) {
            Shown::ApiToken(token.to_owned())
        } else {
            Shown::Jwt(token.to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(values: &[&str]) -> &'static str {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, value.parse().unwrap());
        }
        let shown = Shown::take(&mut headers);
        assert!(headers.is_empty(), "it stays in the headers");
        match shown {
            Shown::Nothing => "nothing",
            Shown::Several => "several",
            Shown::Other => "other",
            Shown::ApiToken(_) => "api token",
            Shown::Jwt(_) => "jwt",
        }
    }

    #[test]
    fn a_header_shows_one_thing_and_is_taken_out() {
        assert_eq!(name(&[]), "nothing");
        assert_eq!(name(&["Bearer cg_00"]), "api token");
        assert_eq!(name(&["bearer  a.b.c"]), "jwt");
        for other in ["", "Bearer", "Bearer ", "Basic YTpi", "Bearer a b", "Bearer a\u{e9}", "cg_00"] {
            assert_eq!(name(&[other]), "other", "{other}");
        }
        assert_eq!(name(&["Bearer cg_00", "Bearer a.b.c"]), "several");
    }
}

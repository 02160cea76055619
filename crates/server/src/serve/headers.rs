//! What the headers of a request say, and whether the body says the same. Servers and proxies may go by either.

use axum::http::{HeaderMap, StatusCode};
use callgate_mcp::relay::{ModernFault, Subject};
use callgate_mcp::revision;
use callgate_schema::json::{Kind, Node, Tape};

use super::http::param;

/// A header that is not there or says another thing than the body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mismatch {
    pub(super) header: &'static str,
    pub(super) message: String,
}

/// A header's text; `None` if it is not there, there twice, or no text.
pub(super) fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(only), None) => only.to_str().ok().map(str::to_owned),
        _ => None,
    }
}

/// Whether the body is JSON by its header.
pub(super) fn is_json(headers: &HeaderMap) -> Result<(), (StatusCode, &'static str)> {
    let kind = text(headers, "content-type").unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if kind == "application/json" {
        return Ok(());
    }
    Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, "expected `Content-Type: application/json`"))
}

/// Whether the headers of a request of the newer era say what its body says.
///
/// SPEC: 2026-07-28, basic/transports/streamable-http, "Server Validation".
pub(super) fn agree(headers: &HeaderMap, method: &str, params: Option<Node<'_>>) -> Result<(), Mismatch> {
    expect(headers, "MCP-Protocol-Version", revision::MODERN)?;
    expect(headers, "Mcp-Method", method)?;
    let name = match method {
        "tools/call" | "prompts/get" => param(params, "name"),
        "resources/read" => param(params, "uri"),
        _ => None,
    };
    name.map_or(Ok(()), |name| expect(headers, "Mcp-Name", &name))
}

/// Whether the header says the revision of the body, where that one is not spoken here.
pub(super) fn versions_agree(headers: &HeaderMap, fault: &ModernFault) -> Result<(), Mismatch> {
    match fault {
        ModernFault::Version(requested) => expect(headers, "MCP-Protocol-Version", requested),
        ModernFault::Malformed(_) => Ok(()),
    }
}

fn expect(headers: &HeaderMap, header: &'static str, expected: &str) -> Result<(), Mismatch> {
    let found = text(headers, header);
    if found.as_deref().and_then(Subject::header_text).as_deref() == Some(expected) {
        return Ok(());
    }
    let message = match found {
        Some(_) => format!("expected the header `{header}` to say what the body says, found another value"),
        None => format!("expected the header `{header}`, once, found none or several"),
    };
    Err(Mismatch { header, message })
}

/// What is wrong with the headers that repeat arguments: names of headers, and what each has to say. Whole numbers are
/// compared as numbers.
///
/// SPEC: 2026-07-28, basic/transports/streamable-http, "Custom Headers from Tool Parameters".
pub(super) fn mirror(headers: &HeaderMap, expected: &[(String, Option<String>)]) -> Option<String> {
    expected.iter().find_map(|(name, expected)| {
        let there = headers.contains_key(name.as_str());
        let found = text(headers, name).as_deref().and_then(Subject::header_text);
        match (expected, found) {
            (None, None) if !there => None,
            (Some(expected), Some(found)) if same(expected, &found) => None,
            _ => Some(format!(
                "expected the header `{name}` to say what the argument says, found another value or none"
            )),
        }
    })
}

fn same(expected: &str, found: &str) -> bool {
    if expected == found {
        return true;
    }
    let limits = callgate_mcp::FrameLimits::default().frame_text();
    let (mut one, mut other) = (Tape::new(), Tape::new());
    match (one.read(expected.as_bytes(), &limits), other.read(found.as_bytes(), &limits)) {
        (Ok(one), Ok(other)) => one.kind() == Kind::Number && one.equals(other),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_say_what_the_body_says() {
        let document = callgate_schema::json::Document::read(
            br#"{"name":"caf\u00e9"}"#.as_slice(),
            &callgate_mcp::FrameLimits::default().frame_text(),
        )
        .unwrap();
        let check = |entries: &[(&'static str, &str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in entries {
                headers.append(*name, value.parse().unwrap());
            }
            agree(&headers, "tools/call", Some(document.root())).map_err(|fault| fault.header)
        };
        let (version, method) = (("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"));
        let name = ("mcp-name", "=?base64?Y2Fmw6k=?=");
        assert_eq!(check(&[version, method, name]), Ok(()));
        assert_eq!(check(&[version, method]), Err("Mcp-Name"));
        assert_eq!(check(&[version, method, name, name]), Err("Mcp-Name"));
        assert_eq!(check(&[version, method, ("mcp-name", "cafe")]), Err("Mcp-Name"));
        assert_eq!(check(&[version, ("mcp-method", "tools/list"), name]), Err("Mcp-Method"));
        assert_eq!(check(&[method, name]), Err("MCP-Protocol-Version"));
    }
}

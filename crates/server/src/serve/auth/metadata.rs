//! Where a client learns who gives out tokens for this gate.
//!
//! SPEC: RFC 9728, section 3: the metadata of a protected resource, at the well-known path of its address.

use axum::http::HeaderMap;
use callgate_schema::json::write_string;

use crate::config::JwtAuth;
use crate::serve::headers::text;

/// The path of the metadata; the path of the resource follows it.
pub(in crate::serve) const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";
/// The path of the resource where the configuration does not say its address.
const PATH: &str = "/mcp";

/// What is said of the gate as a protected resource.
pub(super) struct Metadata {
    /// The address by which clients know it; `None` for the one that they use.
    resource: Option<String>,
    issuer: String,
    scopes: Vec<String>,
}

impl Metadata {
    pub(super) fn new(resource: Option<&str>, jwt: &JwtAuth) -> Metadata {
        let (issuer, scopes) = (jwt.issuer.clone(), jwt.scopes.clone());
        Metadata { resource: resource.map(str::to_owned), issuer, scopes }
    }

    /// The scopes that a token has to have, as a challenge says them.
    pub(super) fn scope(&self) -> String {
        self.scopes.join(" ")
    }

    /// The document; `None` where nobody can say by which address the gate was asked.
    pub(super) fn document(&self, headers: &HeaderMap) -> Option<Vec<u8>> {
        let resource = self.resource(headers)?;
        let mut out = b"{\"resource\":".to_vec();
        write_string(&mut out, &resource);
        out.extend_from_slice(b",\"authorization_servers\":[");
        write_string(&mut out, &self.issuer);
        out.extend_from_slice(b"],\"bearer_methods_supported\":[\"header\"]");
        if !self.scopes.is_empty() {
            out.extend_from_slice(b",\"scopes_supported\":[");
            for (index, scope) in self.scopes.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_string(&mut out, scope);
            }
            out.push(b']');
        }
        out.push(b'}');
        Some(out)
    }

    /// Where the document is.
    pub(super) fn address(&self, headers: &HeaderMap) -> Option<String> {
        let resource = self.resource(headers)?;
        let after = resource.find("://")? + "://".len();
        let path = resource.get(after..)?.find('/').map_or(resource.len(), |at| after + at);
        let (origin, path) = resource.split_at(path);
        Some(format!("{origin}{WELL_KNOWN}{}", path.trim_end_matches('/')))
    }

    /// A client compares it with the address that it has asked, so the one that it used is said where none is written.
    /// Only requests of this machine come without a proxy that adds TLS.
    fn resource(&self, headers: &HeaderMap) -> Option<String> {
        if let Some(resource) = &self.resource {
            return Some(resource.clone());
        }
        let host = text(headers, "host")?;
        // It goes into a header of the answer, and its port is what the client wrote.
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '[' | ']');
        if !host.chars().all(plain) {
            return None;
        }
        let is_local = ["localhost", "127.0.0.1", "[::1]"]
            .iter()
            .any(|name| host.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(':')));
        Some(format!("{}://{host}{PATH}", if is_local { "http" } else { "https" }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(resource: Option<&str>, host: &str) -> (Option<String>, Option<String>) {
        let metadata = Metadata {
            resource: resource.map(str::to_owned),
            issuer: "https://issuer.example".to_owned(),
            scopes: Vec::new(),
        };
        let mut headers = HeaderMap::new();
        headers.insert("host", host.parse().unwrap());
        (metadata.resource(&headers), metadata.address(&headers))
    }

    #[test]
    fn the_document_lies_between_the_host_and_the_path_of_the_resource() {
        let at = |resource: &str| of(Some(resource), "x").1.unwrap();
        assert_eq!(at("https://g.example/mcp"), "https://g.example/.well-known/oauth-protected-resource/mcp");
        assert_eq!(at("https://g.example"), "https://g.example/.well-known/oauth-protected-resource");
        assert_eq!(at("https://g.example/"), "https://g.example/.well-known/oauth-protected-resource");
    }

    #[test]
    fn an_address_that_is_not_written_is_the_one_that_was_asked() {
        assert_eq!(of(None, "127.0.0.1:7411").0.unwrap(), "http://127.0.0.1:7411/mcp");
        assert_eq!(of(None, "localhost.example").0.unwrap(), "https://localhost.example/mcp");
        assert_eq!(of(None, "g.example:8443").0.unwrap(), "https://g.example:8443/mcp");
        assert_eq!(of(None, "localhost:\"x"), (None, None), "it would go into a header");
    }
}

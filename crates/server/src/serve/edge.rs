//! Which requests are looked at: those that name the gate by a name that it has. A web page that was made to believe that
//! its own name leads here (DNS rebinding) names the gate by that name, and is refused.

use axum::http::{HeaderMap, StatusCode};

use super::headers::text;

/// The names that requests may use for the gate, and the pages that may send them.
#[derive(Debug, Clone)]
pub(crate) struct Edge {
    hosts: Vec<String>,
    origins: Vec<String>,
}

/// The names of the machine itself.
const LOOPBACK: &[&str] = &["localhost", "127.0.0.1", "[::1]"];

impl Edge {
    /// These names, besides those of the machine itself, and these origins, besides those of such names.
    pub(crate) fn new(hosts: Vec<String>, origins: Vec<String>) -> Edge {
        Edge { hosts, origins }
    }

    /// Whether a request is looked at.
    pub(crate) fn admit(&self, headers: &HeaderMap) -> Result<(), (StatusCode, &'static str)> {
        let host =
            text(headers, "host").ok_or((StatusCode::BAD_REQUEST, "expected the header `Host`, once"))?;
        if !self.is_own(&host) {
            return Err((StatusCode::FORBIDDEN, "the header `Host` has a name that is not this gate's"));
        }
        if headers.contains_key("origin") {
            let origin = text(headers, "origin").unwrap_or_default();
            if !self.is_own_origin(&origin) {
                return Err((
                    StatusCode::FORBIDDEN,
                    "the header `Origin` has a page that may not ask this gate",
                ));
            }
        }
        Ok(())
    }

    fn is_own(&self, host: &str) -> bool {
        let name = without_port(host).to_ascii_lowercase();
        LOOPBACK.contains(&name.as_str())
            || self.hosts.iter().any(|own| own.eq_ignore_ascii_case(host) || own.eq_ignore_ascii_case(&name))
    }

    fn is_own_origin(&self, origin: &str) -> bool {
        if self.origins.iter().any(|own| own.eq_ignore_ascii_case(origin)) {
            return true;
        }
        let rest = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        rest.is_some_and(|host| !host.contains('/') && self.is_own(host))
    }
}

fn without_port(host: &str) -> &str {
    match host.rfind(':') {
        Some(at) if !host.ends_with(']') => host.get(..at).unwrap_or(host),
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_names_are_looked_at() {
        let edge = Edge::new(vec!["gate.example".into()], vec!["https://app.example".into()]);
        let admit = |host: &str, origin: Option<&str>| {
            let mut headers = HeaderMap::new();
            headers.insert("host", host.parse().unwrap());
            if let Some(origin) = origin {
                headers.insert("origin", origin.parse().unwrap());
            }
            edge.admit(&headers).is_ok()
        };
        for host in ["localhost:8080", "127.0.0.1", "[::1]:80", "[::1]", "GATE.example:443"] {
            assert!(admit(host, None), "{host}");
        }
        for host in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", ""] {
            assert!(!admit(host, None), "{host}");
        }
        for origin in ["http://localhost:3000", "https://app.example", "https://gate.example"] {
            assert!(admit("localhost", Some(origin)), "{origin}");
        }
        for origin in
            ["http://evil.example", "null", "http://localhost/evil", "file://", "https://app.example.evil"]
        {
            assert!(!admit("localhost", Some(origin)), "{origin}");
        }
    }
}

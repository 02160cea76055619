//! Who calls, by a configuration.

use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use super::Loader;
use crate::config::auth_form::{AlgorithmForm, AuthForm, JwtForm};

/// Who calls over HTTP.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Auth {
    /// Whether every client has to show who it is; `None` where the file does not say.
    pub required: Option<bool>,
    /// The address by which clients know the gate; `None` for the one that they use.
    pub resource: Option<String>,
    /// Tokens that an issuer signs.
    pub jwt: Option<JwtAuth>,
}

impl Auth {
    /// Whether every client at this address has to show who it is. One of the machine itself can be trusted to know that;
    /// any other address is open to more than that.
    pub fn is_required(&self, address: IpAddr) -> bool {
        self.required.unwrap_or(!address.is_loopback())
    }
}

/// Tokens that an issuer signs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JwtAuth {
    /// Who signs them.
    pub issuer: String,
    /// For whom they are meant.
    pub audience: String,
    /// Where the issuer's public keys are.
    pub keys: KeysPlace,
    /// How they may be signed.
    pub algorithms: Vec<JwtAlgorithm>,
    /// What each token has to permit.
    pub scopes: Vec<String>,
}

/// Where an issuer's public keys are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeysPlace {
    /// At this address.
    Url(String),
    /// In this file.
    File(PathBuf),
}

/// What follows the path of an address can be a secret, and is not shown.
impl fmt::Display for KeysPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeysPlace::Url(url) => f.write_str(url.split(['?', '#']).next().unwrap_or_default()),
            KeysPlace::File(path) => path.display().fmt(f),
        }
    }
}

/// How a token may be signed: with keys of which the gate has the public part alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JwtAlgorithm {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    Rs256,
    /// RSASSA-PKCS1-v1_5 with SHA-384.
    Rs384,
    /// RSASSA-PKCS1-v1_5 with SHA-512.
    Rs512,
    /// RSASSA-PSS with SHA-256.
    Ps256,
    /// RSASSA-PSS with SHA-384.
    Ps384,
    /// RSASSA-PSS with SHA-512.
    Ps512,
    /// ECDSA on P-256.
    Es256,
    /// ECDSA on P-384.
    Es384,
    /// Ed25519.
    EdDsa,
}

/// How tokens may be signed where the file does not say: as most issuers do.
const ALGORITHMS: &[JwtAlgorithm] = &[JwtAlgorithm::Rs256, JwtAlgorithm::Es256];

impl Loader<'_> {
    pub(super) fn auth(&mut self, form: &AuthForm, folder: &Path) -> Auth {
        if let Some(resource) = &form.resource
            && (!is_private(resource) || resource.contains(['?', '#']))
        {
            let help = "the address by which clients know the gate, such as `https://gate.example/mcp`";
            self.fault(
                &["auth", "resource"],
                "expected an address that begins with `https://`, or with `http://` and a name of this machine, \
                 and has no `?` and no `#`, found another text",
                Some(help),
            );
        }
        let jwt = form.jwt.as_ref().and_then(|jwt| self.jwt(jwt, folder));
        Auth { required: form.required, resource: form.resource.clone(), jwt }
    }

    fn jwt(&mut self, form: &JwtForm, folder: &Path) -> Option<JwtAuth> {
        // Clients are told the issuer, and go there for tokens.
        self.is_private(&["auth", "jwt", "issuer"], &form.issuer);
        for (index, scope) in form.scopes.iter().enumerate() {
            // SPEC: RFC 6749, section 3.3: a scope is a word of these characters.
            let is_scope = |c: char| matches!(c, '!' | '#'..='[' | ']'..='~');
            if scope.is_empty() || !scope.chars().all(is_scope) {
                let message =
                    "expected a scope, which has no blanks, quotes and backslashes, found another text";
                self.fault(&["auth", "jwt", "scopes", &index.to_string()], message, None);
            }
        }
        let keys = match (&form.jwks_url, &form.jwks_file) {
            (Some(url), None) => {
                self.is_private(&["auth", "jwt", "jwks_url"], url);
                KeysPlace::Url(url.clone())
            }
            (None, Some(file)) => KeysPlace::File(folder.join(file)),
            (url, _) => {
                let found = if url.is_some() { "both" } else { "neither" };
                let message = format!("expected one of `jwks_url` and `jwks_file`, found {found}");
                self.fault(&["auth", "jwt"], message, None);
                return None;
            }
        };
        let algorithms = form.algorithms.as_ref();
        Some(JwtAuth {
            issuer: form.issuer.clone(),
            audience: form.audience.clone(),
            keys,
            algorithms: algorithms
                .map_or_else(|| ALGORITHMS.to_vec(), |forms| forms.iter().copied().map(algorithm).collect()),
            scopes: form.scopes.clone(),
        })
    }

    /// Whoever can change what is read at an address without TLS can make tokens.
    fn is_private(&mut self, path: &[&str], url: &str) {
        if !is_private(url) {
            self.fault(
                path,
                "expected an address that begins with `https://`, or with `http://` and a name of this machine, \
                 found another text",
                None,
            );
        }
    }
}

/// Whether an address has TLS or is one of this machine, and neither a user nor what cannot stand in a header.
fn is_private(url: &str) -> bool {
    let is_plain = url.chars().all(|c| c.is_ascii_graphic() && !matches!(c, '"' | '\\' | '<' | '>'));
    let (tls, rest) = match (url.strip_prefix("https://"), url.strip_prefix("http://")) {
        (Some(rest), _) => (true, rest),
        (None, Some(rest)) => (false, rest),
        (None, None) => return false,
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let is_port = |rest: &str| {
        rest.is_empty() || rest.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok())
    };
    let is_local = ["localhost", "127.0.0.1", "[::1]"]
        .iter()
        .any(|name| authority.strip_prefix(name).is_some_and(is_port));
    is_plain && !authority.is_empty() && !authority.contains('@') && (tls || is_local)
}

fn algorithm(form: AlgorithmForm) -> JwtAlgorithm {
    match form {
        AlgorithmForm::Rs256 => JwtAlgorithm::Rs256,
        AlgorithmForm::Rs384 => JwtAlgorithm::Rs384,
        AlgorithmForm::Rs512 => JwtAlgorithm::Rs512,
        AlgorithmForm::Ps256 => JwtAlgorithm::Ps256,
        AlgorithmForm::Ps384 => JwtAlgorithm::Ps384,
        AlgorithmForm::Ps512 => JwtAlgorithm::Ps512,
        AlgorithmForm::Es256 => JwtAlgorithm::Es256,
        AlgorithmForm::Es384 => JwtAlgorithm::Es384,
        AlgorithmForm::EdDsa => JwtAlgorithm::EdDsa,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_without_tls_is_of_this_machine() {
        for url in ["https://a.example", "https://a.example/k?x=1", "http://localhost:1/k", "http://[::1]/k"]
        {
            assert!(is_private(url), "{url}");
        }
        for url in [
            "http://a.example/k",
            "http://localhost.a.example/k",
            "http://127.0.0.1.a.example/k",
            "http://localhost:x@a.example/k",
            "https://u@a.example/k",
            "https://",
            "https:///k",
            "ftp://a.example",
            "https://a.example/\"x",
            "https://a b.example",
        ] {
            assert!(!is_private(url), "{url}");
        }
    }

    #[test]
    fn everybody_has_to_show_who_they_are_where_others_can_come() {
        let required = |required, address: &str| {
            Auth { required, ..Auth::default() }.is_required(address.parse().unwrap())
        };
        assert!(!required(None, "127.0.0.1") && !required(None, "::1") && !required(Some(false), "0.0.0.0"));
        assert!(required(None, "0.0.0.0") && required(None, "192.0.2.1") && required(Some(true), "::1"));
        assert!(required(None, "::ffff:127.0.0.1"), "in doubt they have to");
    }
}

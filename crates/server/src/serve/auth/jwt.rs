//! Tokens that an issuer has signed for this gate.
//!
//! SPEC: RFC 9068, section 4, and RFC 8725: the algorithms are those of the configuration and never what the token asks
//! for, and issuer, audience and expiry have to be there.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use callgate_gateway::policy::Claims;
use callgate_schema::json::{Kind, Node};
use callgate_wire::Principal;
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, Validation, decode, decode_header};
use serde::de::IgnoredAny;

use super::keys::{KeyFault, Keys, KeysError};
use super::refusal::Refusal;
use super::signature;
use crate::config::{JwtAlgorithm, JwtAuth};

/// Bytes of a token. Those of issuers have some kilobytes at most, since they travel in a header.
const TOKEN_BYTES_MAX: usize = 16 << 10;
/// Bytes of a subject. It is part of a principal, which stands in every record of a call.
const SUBJECT_BYTES_MAX: usize = 255;
/// How far the clocks of the issuer and the gate may be apart, in seconds.
const LEEWAY: u64 = 60;

/// The tokens of one issuer.
pub(super) struct Jwt {
    issuer: String,
    audience: String,
    algorithms: Vec<Algorithm>,
    scopes: Vec<String>,
    keys: Keys,
}

impl Jwt {
    /// What the configuration says of them.
    ///
    /// # Errors
    /// A file of keys that cannot be used.
    pub(super) async fn start(config: &JwtAuth) -> Result<Jwt, KeysError> {
        signature::install();
        Ok(Jwt {
            issuer: config.issuer.clone(),
            audience: config.audience.clone(),
            algorithms: config.algorithms.iter().copied().map(algorithm).collect(),
            scopes: config.scopes.clone(),
            keys: Keys::start(&config.keys).await?,
        })
    }

    /// Whose token it is, and what the issuer says of them.
    pub(super) async fn check(&self, token: &str) -> Result<(Principal, Claims), Refusal> {
        if token.len() > TOKEN_BYTES_MAX {
            return Err(Refusal::Invalid("the token is too long"));
        }
        let header = decode_header(token).map_err(|_| Refusal::Invalid("the token cannot be read"))?;
        if !self.algorithms.contains(&header.alg) {
            return Err(Refusal::Invalid("the token is signed with an algorithm that is not taken here"));
        }
        let key = self.keys.find(header.kid.as_deref(), header.alg).await.map_err(|fault| match fault {
            KeyFault::Unknown => Refusal::Invalid("the token is signed with a key that is not the issuer's"),
            KeyFault::Unavailable => Refusal::Unavailable,
        })?;
        // One algorithm a time: the library wants all of them to be of the key's family.
        let mut rules = Validation::new(header.alg);
        rules.leeway = LEEWAY;
        rules.validate_nbf = true;
        rules.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        rules.set_issuer(&[&self.issuer]);
        rules.set_audience(&[&self.audience]);
        decode::<IgnoredAny>(token, &key, &rules).map_err(|error| Refusal::Invalid(reason(error.kind())))?;
        let claims = read_claims(token).ok_or(Refusal::Invalid("the claims of the token cannot be read"))?;
        let principal = self.principal(&claims)?;
        if !self.scopes.iter().all(|scope| has_scope(&claims, scope)) {
            return Err(Refusal::TooFewScopes);
        }
        Ok((principal, claims))
    }

    fn principal(&self, claims: &Claims) -> Result<Principal, Refusal> {
        let text = |name: &str| claims.claim(name).and_then(Node::as_str);
        // The library would take one issuer of several, which is no issuer at all.
        if text("iss").as_deref() != Some(self.issuer.as_str()) {
            return Err(Refusal::Invalid("the token is of another issuer"));
        }
        let subject = text("sub").unwrap_or_default();
        let good = !subject.is_empty()
            && subject.len() <= SUBJECT_BYTES_MAX
            && !subject.chars().any(char::is_control);
        if good {
            Ok(Principal::jwt(&subject))
        } else {
            Err(Refusal::Invalid("the subject of the token is no name"))
        }
    }
}

/// The claims as the rules read them: by the strict reader, which takes no member twice.
fn read_claims(token: &str) -> Option<Claims> {
    let payload = token.split('.').nth(1)?;
    Claims::read(&URL_SAFE_NO_PAD.decode(payload).ok()?).ok()
}

/// SPEC: RFC 9068, section 2.2.3: `scope`, a text with blanks. Some issuers have `scp`, which may be an array.
fn has_scope(claims: &Claims, wanted: &str) -> bool {
    ["scope", "scp"].into_iter().filter_map(|name| claims.claim(name)).any(|node| match node.kind() {
        Kind::Array => node.items().any(|item| item.as_str().as_deref() == Some(wanted)),
        _ => node.as_str().is_some_and(|text| text.split(' ').any(|scope| scope == wanted)),
    })
}

fn algorithm(config: JwtAlgorithm) -> Algorithm {
    match config {
        JwtAlgorithm::Rs256 => Algorithm::RS256,
        JwtAlgorithm::Rs384 => Algorithm::RS384,
        JwtAlgorithm::Rs512 => Algorithm::RS512,
        JwtAlgorithm::Ps256 => Algorithm::PS256,
        JwtAlgorithm::Ps384 => Algorithm::PS384,
        JwtAlgorithm::Ps512 => Algorithm::PS512,
        JwtAlgorithm::Es256 => Algorithm::ES256,
        JwtAlgorithm::Es384 => Algorithm::ES384,
        JwtAlgorithm::EdDsa => Algorithm::EdDSA,
    }
}

/// The library's reason, in words that hold nothing of the token.
fn reason(kind: &ErrorKind) -> &'static str {
    match kind {
        ErrorKind::InvalidSignature | ErrorKind::InvalidKeyFormat => "the signature of the token is not good",
        ErrorKind::ExpiredSignature => "the token has expired",
        ErrorKind::ImmatureSignature => "the token is not good yet",
        ErrorKind::InvalidIssuer => "the token is of another issuer",
        ErrorKind::InvalidAudience => "the token is meant for another audience",
        ErrorKind::MissingRequiredClaim(_) => "the token has not each of `exp`, `iss`, `aud` and `sub`",
        _ => "the token cannot be read",
    }
}

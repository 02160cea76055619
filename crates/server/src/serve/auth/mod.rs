//! Who calls: each request over HTTP is that of a principal, or is refused before anything of it is looked at.
//!
//! | file | holds |
//! |---|---|
//! | `shown` | what a request shows, taken out of its headers |
//! | `tokens` | API tokens, which an operator gives out |
//! | `known` | the same as a gate that runs knows them |
//! | `jwt` | tokens that an issuer has signed |
//! | `keys` | the keys of that issuer |
//! | `signature` | the signatures, by ring |
//! | `refusal` | what a request is answered that does not show enough |
//! | `metadata` | where a client learns who gives out tokens |

mod jwt;
mod keys;
mod known;
mod metadata;
mod refusal;
mod shown;
mod signature;
mod tokens;

use std::path::Path;
use std::sync::Arc;

use axum::http::HeaderMap;
use axum::response::Response as HttpResponse;
use callgate_gateway::policy::Claims;
use callgate_mcp::relay::{Era, ModernClient};
use callgate_wire::Principal;

use self::jwt::Jwt;
pub use self::keys::KeysError;
use self::known::KnownTokens;
use self::metadata::Metadata;
pub(super) use self::metadata::WELL_KNOWN;
use self::refusal::Refusal;
use self::shown::Shown;
pub use self::tokens::{ApiToken, ApiTokenError, ApiTokens, FreshToken, TOKENS_FILE};
use super::client::Client;
use crate::clock::now;
use crate::config::Config;

/// Who makes a request, and what is known of them.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    pub(super) principal: Principal,
    pub(super) claims: Arc<Claims>,
}

impl Caller {
    /// The client of one of their requests.
    pub(super) fn client(&self, run: Option<String>, era: Era, about: ModernClient) -> Client {
        let (principal, claims) = (self.principal.clone(), Arc::clone(&self.claims));
        Client { principal, claims, run, era, about }
    }
}

/// A way of showing who calls.
enum Way {
    /// An API token, given out by the operator.
    Token(KnownTokens),
    /// A token that the issuer of the configuration has signed.
    Jwt(Box<Jwt>),
}

/// How clients over HTTP show who they are.
pub struct Auth {
    ways: Vec<Way>,
    /// Who calls that shows nothing; `None` where everybody has to.
    nobody: Option<Caller>,
    metadata: Option<Metadata>,
    config: Arc<Config>,
}

impl Auth {
    /// What the configuration says, with the API tokens beside this store. Who shows nothing calls as `nobody`; `None`
    /// refuses them.
    ///
    /// # Errors
    /// A file of keys that cannot be used. An issuer that does not answer is asked again later.
    pub async fn start(
        config: Arc<Config>,
        store: &Path,
        nobody: Option<Principal>,
    ) -> Result<Auth, KeysError> {
        let mut ways = vec![Way::Token(KnownTokens::new(ApiTokens::beside(store)))];
        if let Some(jwt) = &config.auth.jwt {
            ways.push(Way::Jwt(Box::new(Jwt::start(jwt).await?)));
        }
        let nobody = nobody.map(|principal| {
            let claims = Arc::new(config.claims(&principal));
            Caller { principal, claims }
        });
        let metadata =
            config.auth.jwt.as_ref().map(|jwt| Metadata::new(config.auth.resource.as_deref(), jwt));
        Ok(Auth { ways, nobody, metadata, config })
    }

    /// Who makes a request with these headers. What they show is taken out of them, so that nothing behind has it.
    pub(super) async fn caller(&self, headers: &mut HeaderMap) -> Result<Caller, Box<HttpResponse>> {
        let shown = Shown::take(headers);
        let found = match &shown {
            Shown::Nothing => self.nobody.clone().ok_or(Refusal::Absent),
            Shown::Several => Err(Refusal::Malformed),
            Shown::Other => Err(Refusal::Invalid("expected a bearer token, found something else")),
            Shown::ApiToken(token) => self.of_api_token(token),
            Shown::Jwt(token) => self.of_jwt(token).await,
        };
        found.map_err(|refusal| {
            tracing::warn!(reason = refusal.reason(), "a request does not show who calls");
            Box::new(refusal.response(self.metadata.as_ref(), headers))
        })
    }

    fn of_api_token(&self, token: &str) -> Result<Caller, Refusal> {
        let known = self.ways.iter().find_map(|way| match way {
            Way::Token(known) => known.find(token, now()),
            Way::Jwt(_) => None,
        });
        let principal =
            known.ok_or(Refusal::Invalid("the token is not known, is revoked, or has expired"))?;
        let claims = Arc::new(self.config.claims(&principal));
        Ok(Caller { principal, claims })
    }

    async fn of_jwt(&self, token: &str) -> Result<Caller, Refusal> {
        let jwt = self.ways.iter().find_map(|way| match way {
            Way::Jwt(jwt) => Some(jwt),
            Way::Token(_) => None,
        });
        let jwt = jwt.ok_or(Refusal::Invalid("the token is of a kind that is not taken here"))?;
        let (principal, claims) = jwt.check(token).await?;
        // What the operator has written of a principal counts before what the issuer says.
        let claims = self.config.written_claims(&principal).cloned().unwrap_or(claims);
        Ok(Caller { principal, claims: Arc::new(claims) })
    }

    /// Where clients learn who gives out tokens, if anybody but the operator does.
    pub(super) fn metadata(&self, headers: &HeaderMap) -> Option<Vec<u8>> {
        self.metadata.as_ref().and_then(|metadata| metadata.document(headers))
    }
}

//! The keys of who calls. As with the other sections, the JSON Schema of the file is made of these types.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who calls over HTTP.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Auth")]
pub(super) struct AuthForm {
    /// Whether every client has to show who it is. Absent: at every address but those of this machine alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) required: Option<bool>,
    /// The address by which clients know the gate, as `https://HOST/mcp`. Absent: the one that they use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) resource: Option<String>,
    /// Tokens that an issuer signs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) jwt: Option<JwtForm>,
}

impl AuthForm {
    pub(super) fn is_empty(&self) -> bool {
        *self == AuthForm::default()
    }
}

/// Tokens that an issuer signs.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Jwt")]
pub(super) struct JwtForm {
    /// Who signs them: exactly what stands in `iss`.
    #[schemars(length(min = 1))]
    pub(super) issuer: String,
    /// For whom they are meant: what has to be in `aud`.
    #[schemars(length(min = 1))]
    pub(super) audience: String,
    /// Where the issuer's public keys are: an address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) jwks_url: Option<String>,
    /// The same: a file, relative to this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) jwks_file: Option<String>,
    /// How they may be signed. Absent: RS256 and ES256.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub(super) algorithms: Option<Vec<AlgorithmForm>>,
    /// What each token has to permit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) scopes: Vec<String>,
}

/// How a token may be signed: with keys of which the gate has the public part alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) enum AlgorithmForm {
    #[serde(rename = "RS256")]
    Rs256,
    #[serde(rename = "RS384")]
    Rs384,
    #[serde(rename = "RS512")]
    Rs512,
    #[serde(rename = "PS256")]
    Ps256,
    #[serde(rename = "PS384")]
    Ps384,
    #[serde(rename = "PS512")]
    Ps512,
    #[serde(rename = "ES256")]
    Es256,
    #[serde(rename = "ES384")]
    Es384,
    #[serde(rename = "EdDSA")]
    EdDsa,
}

//! References to secrets. A configuration names where a secret is; its value is read when it is needed, and is never
//! shown, logged or stored.

use std::fmt;
use std::path::{Path, PathBuf};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Bytes of a secret. A token has some kilobytes at most, and a file that is larger is another file.
const SECRET_BYTES_MAX: u64 = 64 << 10;

/// Where a secret is.
///
/// ```
/// use callgate_server::config::Secret;
/// let secret = Secret::Env("TOKEN".to_owned());
/// assert_eq!(secret.to_string(), r#"{ env = "TOKEN" }"#);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Secret {
    /// In this variable of the environment.
    Env(String),
    /// In this file (in a configuration relative to it), a line's end after it not counted.
    File(PathBuf),
}

/// A secret. What it is can be had by [`SecretValue::expose`] alone.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretValue(String);

/// Why a secret cannot be read; without its value.
#[derive(Debug, thiserror::Error)]
#[error("failed to read the secret {secret}: {reason}")]
pub struct SecretError {
    secret: Secret,
    reason: String,
}

impl Secret {
    /// Reads the secret.
    ///
    /// # Errors
    /// That it is not there, empty, over 64 KiB, or no text.
    #[expect(clippy::disallowed_methods, reason = "secrets are where the environment and files are read")]
    pub fn read(&self) -> Result<SecretValue, SecretError> {
        let failed = |reason: String| SecretError { secret: self.clone(), reason };
        let text = match self {
            // The error of the library would show the value where it is no text.
            Secret::Env(name) => {
                std::env::var(name).map_err(|_| failed("the variable is not set, or no text".into()))?
            }
            Secret::File(path) => {
                let size = std::fs::metadata(path).map_err(|error| failed(error.to_string()))?.len();
                if size > SECRET_BYTES_MAX {
                    return Err(failed(format!("expected at most {SECRET_BYTES_MAX} bytes, found {size}")));
                }
                let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
                let line = text.strip_suffix('\n').unwrap_or(&text);
                line.strip_suffix('\r').unwrap_or(line).to_owned()
            }
        };
        if text.is_empty() { Err(failed("it is empty".to_owned())) } else { Ok(SecretValue(text)) }
    }
}

impl Secret {
    /// The same, a relative path being one from this folder.
    #[must_use]
    pub(super) fn beside(&self, folder: &Path) -> Secret {
        match self {
            Secret::Env(name) => Secret::Env(name.clone()),
            Secret::File(path) => Secret::File(folder.join(path)),
        }
    }
}

impl SecretValue {
    /// The secret itself, for where it is needed.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretValue")
    }
}

/// The reference, as the file has it.
impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Secret::Env(name) => write!(f, "{{ env = {name:?} }}"),
            Secret::File(path) => write!(f, "{{ file = {:?} }}", path.display().to_string()),
        }
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (kind, name) = match self {
            Secret::Env(name) => ("env", name.clone()),
            Secret::File(path) => ("file", path.display().to_string()),
        };
        serializer.collect_map([(kind, name)])
    }
}

/// A text that may stand in the file, or a secret elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TextOrSecret {
    /// The text itself.
    Text(String),
    /// Where it is.
    Secret(Secret),
}

impl Serialize for TextOrSecret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            TextOrSecret::Text(text) => serializer.serialize_str(text),
            TextOrSecret::Secret(secret) => secret.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for TextOrSecret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextOrSecretVisitor)
    }
}

struct TextOrSecretVisitor;

impl<'de> Visitor<'de> for TextOrSecretVisitor {
    type Value = TextOrSecret;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, or a reference to a secret")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<TextOrSecret, E> {
        Ok(TextOrSecret::Text(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<TextOrSecret, A::Error> {
        let secret = match map.next_entry::<String, String>()? {
            Some((kind, name)) if kind == "env" => Secret::Env(name),
            Some((kind, name)) if kind == "file" => Secret::File(name.into()),
            _ => return Err(A::Error::custom("expected `env` or `file`")),
        };
        match map.next_key::<String>()? {
            None => Ok(TextOrSecret::Secret(secret)),
            Some(_) => Err(A::Error::custom("expected one of `env` and `file`")),
        }
    }
}

impl JsonSchema for TextOrSecret {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "TextOrSecret".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        // Not two branches: of one form with two types, a fault is named where it is.
        json_schema!({
            "description": "A text, or where a secret is: { env = \"NAME\" } or { file = \"PATH\" }.",
            "type": ["string", "object"],
            "properties": {
                "env": { "type": "string", "minLength": 1, "description": "A variable of the environment." },
                "file": { "type": "string", "minLength": 1, "description": "A file." }
            },
            "additionalProperties": false,
            "minProperties": 1,
            "maxProperties": 1
        })
    }
}

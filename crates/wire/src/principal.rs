//! On whose behalf a call is made.

use std::fmt;

/// On whose behalf a call is made: a scheme, a colon and a name, such as `local:ada`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Principal(String);

impl Principal {
    /// The person who owns the process, as the operating system names them.
    pub fn local(user: &str) -> Principal {
        Principal(format!("local:{user}"))
    }

    /// Whoever holds the API token of this name.
    pub fn token(name: &str) -> Principal {
        Principal(format!("token:{name}"))
    }

    /// The subject of a token that the issuer of the configuration has signed.
    pub fn jwt(subject: &str) -> Principal {
        Principal(format!("jwt:{subject}"))
    }

    /// A principal as it was stored.
    pub fn from_stored(text: impl Into<String>) -> Principal {
        Principal(text.into())
    }

    /// The whole text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

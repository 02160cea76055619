//! Which keywords exist (the dialect) and which of them are enforced (the profile).

use std::fmt;

/// A dialect of JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Dialect {
    /// JSON Schema 2020-12, the default of MCP.
    #[default]
    Draft202012,
    /// JSON Schema draft-07.
    Draft07,
}

impl Dialect {
    /// The dialect that a `$schema` names, with or without its empty fragment; `None` for any other.
    ///
    /// ```
    /// use callgate_schema::Dialect;
    /// assert_eq!(Dialect::from_uri("http://json-schema.org/draft-07/schema#"), Some(Dialect::Draft07));
    /// assert_eq!(Dialect::from_uri("http://json-schema.org/draft-04/schema#"), None);
    /// ```
    pub fn from_uri(uri: &str) -> Option<Dialect> {
        match uri.strip_suffix('#').unwrap_or(uri) {
            "https://json-schema.org/draft/2020-12/schema" => Some(Dialect::Draft202012),
            "http://json-schema.org/draft-07/schema" => Some(Dialect::Draft07),
            _ => None,
        }
    }

    /// The dialect of a short name: `2020-12` or `draft-07`.
    pub fn from_name(name: &str) -> Option<Dialect> {
        match name {
            "2020-12" => Some(Dialect::Draft202012),
            "draft-07" => Some(Dialect::Draft07),
            _ => None,
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Dialect::Draft202012 => "2020-12",
            Dialect::Draft07 => "draft-07",
        })
    }
}

/// How much of JSON Schema is admitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Profile {
    /// Every keyword of the dialect that `$schema` names (2020-12 if absent).
    #[default]
    Standard,
    /// A small subset that every receiver of tool schemas can take; whatever is outside it is refused.
    Portable,
    /// What text-map transports assert: types, choices of texts, bounds, required and unknown names. The rest is named
    /// in the warnings.
    Wire,
}

impl Profile {
    /// The profile of that name.
    pub fn from_name(name: &str) -> Option<Profile> {
        match name {
            "standard" => Some(Profile::Standard),
            "portable" => Some(Profile::Portable),
            "wire" => Some(Profile::Wire),
            _ => None,
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Profile::Standard => "standard",
            Profile::Portable => "portable",
            Profile::Wire => "wire",
        })
    }
}

//! Why an entry was not taken.

use std::fmt;

use callgate_schema::Finding;
use callgate_wire::ValueError;

use super::AdapterError;

/// Why an entry, a type, a module or an adapter was not taken.
#[derive(Debug)]
#[non_exhaustive]
pub enum RegistryError {
    /// A namespace or a name that is not `[a-z][a-z0-9_]*`, or a name that repeats its namespace.
    Name {
        /// `namespace` or `name`.
        field: &'static str,
        /// The text.
        found: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// An override that is empty.
    EmptyKey,
    /// A key that is taken.
    Collision {
        /// The key.
        key: String,
        /// Namespace and name of the entry that has it.
        taken_by: (String, String),
        /// Namespace and name of the one that was not taken.
        refused: (String, String),
    },
    /// A schema that cannot be enforced.
    Schema {
        /// The key of the entry.
        key: String,
        /// Why.
        findings: Vec<Finding>,
    },
    /// Something of the entry that is no value of the wire, such as a template.
    Value(ValueError),
    /// A module that did not start or stop.
    Module {
        /// Its name.
        module: String,
        /// What it says.
        message: String,
    },
    /// An adapter that did not attach or detach.
    Adapter {
        /// Its name.
        adapter: String,
        /// What it says.
        error: AdapterError,
    },
}

impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RegistryError::Name { field, found, reason } => {
                write!(f, "expected a {field} {reason}, found `{found}`")
            }
            RegistryError::EmptyKey => {
                f.write_str("expected a key of at least one character, found an empty one")
            }
            RegistryError::Collision { key, taken_by, refused } => write!(
                f,
                "expected a key of its own for `{}` in `{}`, found that `{key}` is taken by `{}` in `{}`; \
                 give one of them another name or a key of its own",
                refused.1, refused.0, taken_by.1, taken_by.0
            ),
            RegistryError::Schema { key, findings } => {
                write!(f, "expected schemas of `{key}` that can be enforced")?;
                findings.iter().try_for_each(|finding| {
                    let place = finding.schema_location.as_deref().unwrap_or_default();
                    write!(f, "; at `{place}`: {} ({})", finding.message, finding.code)
                })
            }
            RegistryError::Value(error) => write!(f, "{error}"),
            RegistryError::Module { module, message } => write!(f, "the module `{module}` failed: {message}"),
            RegistryError::Adapter { adapter, error } => write!(f, "the adapter `{adapter}` failed: {error}"),
        }
    }
}

impl std::error::Error for RegistryError {}

impl From<ValueError> for RegistryError {
    fn from(error: ValueError) -> Self {
        RegistryError::Value(error)
    }
}

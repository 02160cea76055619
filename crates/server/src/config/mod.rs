//! The configuration: one TOML file, read whole or refused with every fault, each with its line, its key and the remedy.
//!
//! | file | holds |
//! |---|---|
//! | `form` | the sections and keys; the JSON Schema of the file comes from these types |
//! | `auth_form` | those of who calls |
//! | `schema` | that schema, and the check of a file by our own engine |
//! | `tree` | a TOML text as JSON, and where each value of it stands |
//! | `load` | from a text to a [`Config`]: what the schema cannot say is checked here |
//! | `fault` | what is wrong with a file |
//! | `secret` | references to secrets, which the file never holds itself |
//! | `show` | what is in force, with the defaults |
//!
//! ```
//! use callgate_server::config::Config;
//!
//! let text = "[[rules]]\nid = \"look\"\neffect = \"permit\"\ntools = [\"*/read_*\"]\n";
//! assert_eq!(Config::parse("gate.toml", text)?.rules.len(), 1);
//!
//! let error = Config::parse("gate.toml", &text.replace("effect", "efect")).unwrap_err();
//! assert!(error.to_string().contains("gate.toml:3:1: rules[0].efect"));
//! # Ok::<(), callgate_server::config::ConfigError>(())
//! ```

mod auth_form;
mod fault;
mod form;
mod load;
mod schema;
mod secret;
mod show;
mod tree;

pub use fault::{ConfigError, ConfigFault};
pub use load::{
    Admission, Approvals, Auth, Config, Gate, JwtAlgorithm, JwtAuth, KeysPlace, Place, Serve, Store, Text,
    Upstream,
};
pub use schema::schema_text;
pub use secret::{Secret, SecretError, SecretValue};
pub use tree::toml_as_json;

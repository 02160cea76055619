//! What is wrong with a configuration: where, what, and how to mend it.

use std::fmt::{self, Write as _};

use callgate_schema::{Location, Step};
use callgate_wire::Code;

/// One fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFault {
    /// The line, from 1; 0 where the file as a whole is meant.
    pub line: usize,
    /// The column in that line, in characters, from 1.
    pub column: usize,
    /// The key, such as `rules[0].when`; empty where no key is at fault.
    pub key: String,
    /// What was expected, then what was found; never a value that could be a secret.
    pub message: String,
    /// What to write instead, if that can be said.
    pub help: Option<String>,
}

/// Why a configuration was not taken. Nothing of it is in force then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// The file.
    pub file: String,
    /// Every fault, in the order of the lines.
    pub faults: Vec<ConfigFault>,
}

impl ConfigError {
    /// The stable code.
    pub const fn code(&self) -> Code {
        Code::ConfigInvalid
    }
}

impl fmt::Display for ConfigError {
    /// A line for each fault, and one for its remedy.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, fault) in self.faults.iter().enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            match fault.line {
                0 => write!(f, "{}", self.file)?,
                line => write!(f, "{}:{line}:{}", self.file, fault.column)?,
            }
            if !fault.key.is_empty() {
                write!(f, ": {}", fault.key)?;
            }
            write!(f, ": {} ({})", fault.message, self.code())?;
            if let Some(help) = &fault.help {
                write!(f, "\n  {help}")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for ConfigError {}

/// A key as people write it: `rules[0].equal[1].claim`.
pub(super) fn key(place: &Location) -> String {
    let mut key = String::new();
    for step in &place.0 {
        match step {
            Step::Index(index) => {
                // Writing to a text does not fail.
                let _ = write!(key, "[{index}]");
            }
            Step::Name(name) => {
                if !key.is_empty() {
                    key.push('.');
                }
                let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
                if !name.is_empty() && name.chars().all(bare) {
                    key.push_str(name);
                } else {
                    let _ = write!(key, "{name:?}");
                }
            }
        }
    }
    key
}

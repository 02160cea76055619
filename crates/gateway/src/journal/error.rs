//! A store that did not do what it was asked.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use callgate_wire::Code;

/// A store that did not do what it was asked. Can be cloned, since everybody whose command was in a transaction that
/// failed gets the same one.
#[derive(Debug, Clone)]
pub struct JournalError {
    code: Code,
    message: String,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

impl JournalError {
    /// An error with its stable code and a message: a lower-case fragment without a final stop.
    #[cold]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        JournalError { code, message: message.into(), source: None }
    }

    /// Adds the cause, which the message does not repeat.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into().into());
        self
    }

    /// The stable code.
    pub fn code(&self) -> Code {
        self.code
    }
}

impl fmt::Display for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for JournalError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

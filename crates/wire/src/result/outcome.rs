//! Success and failure.

use super::{Artifact, FailureCode};
use crate::Object;

/// The message of a success that says nothing else.
pub const MESSAGE_OK: &str = "ok";

/// How a call of a handler ended. A success has data and artifacts, a failure a code and details; there is no other way
/// to build one.
///
/// ```
/// use callgate_wire::{AgentResult, FailureCode, Object};
/// let saved = AgentResult::success(Object::new().with("id", "note-42")).with_message("Saved");
/// assert_eq!(
///     saved.to_json().as_str(),
///     r#"{"ok":true,"message":"Saved","data":{"id":"note-42"},"details":{},"artifacts":[]}"#
/// );
/// let missing = AgentResult::failure(FailureCode::from_static("not_found"), "Note does not exist.")
///     .with_details(Object::new().with("id", "note-42"));
/// assert_eq!(
///     missing.to_json().as_str(),
///     r#"{"ok":false,"message":"Note does not exist.","code":"not_found","data":{},"details":{"id":"note-42"},"artifacts":[]}"#
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentResult {
    /// It did what it was asked.
    Success(Success),
    /// It did not.
    Failure(Failure),
}

/// A call that did what it was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Success {
    /// A word to people; `ok` where there is nothing to say.
    pub message: String,
    /// What the call gave.
    pub data: Object,
    /// Texts and bytes beside the data.
    pub artifacts: Vec<Artifact>,
}

/// A call that did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// A stable word that an agent may match on.
    pub code: FailureCode,
    /// What happened, to people and models.
    pub message: String,
    /// Facts.
    pub details: Object,
}

impl AgentResult {
    /// A success with data, `ok` for a message and no artifacts.
    pub fn success(data: Object) -> AgentResult {
        AgentResult::Success(Success { data, ..Success::default() })
    }

    /// A failure without details.
    pub fn failure(code: FailureCode, message: impl Into<String>) -> AgentResult {
        AgentResult::Failure(Failure { code, message: message.into(), details: Object::new() })
    }

    /// The same with another message.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> AgentResult {
        match &mut self {
            AgentResult::Success(success) => success.message = message.into(),
            AgentResult::Failure(failure) => failure.message = message.into(),
        }
        self
    }

    /// A success with one more artifact; a failure has none and stays as it is.
    #[must_use]
    pub fn with_artifact(mut self, artifact: Artifact) -> AgentResult {
        if let AgentResult::Success(success) = &mut self {
            success.artifacts.push(artifact);
        }
        self
    }

    /// A failure with these details; a success has none and stays as it is.
    #[must_use]
    pub fn with_details(mut self, details: Object) -> AgentResult {
        if let AgentResult::Failure(failure) = &mut self {
            failure.details = details;
        }
        self
    }

    /// Whether it is a success.
    pub const fn is_ok(&self) -> bool {
        matches!(self, AgentResult::Success(_))
    }

    /// The message.
    pub fn message(&self) -> &str {
        match self {
            AgentResult::Success(success) => &success.message,
            AgentResult::Failure(failure) => &failure.message,
        }
    }

    /// The code of a failure.
    pub const fn code(&self) -> Option<&FailureCode> {
        match self {
            AgentResult::Success(_) => None,
            AgentResult::Failure(failure) => Some(&failure.code),
        }
    }

    /// The data of a success.
    pub const fn data(&self) -> Option<&Object> {
        match self {
            AgentResult::Success(success) => Some(&success.data),
            AgentResult::Failure(_) => None,
        }
    }
}

impl Default for Success {
    fn default() -> Self {
        Success { message: MESSAGE_OK.to_owned(), data: Object::new(), artifacts: Vec::new() }
    }
}

impl From<Success> for AgentResult {
    fn from(success: Success) -> Self {
        AgentResult::Success(success)
    }
}

impl From<Failure> for AgentResult {
    fn from(failure: Failure) -> Self {
        AgentResult::Failure(failure)
    }
}

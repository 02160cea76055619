//! The codes of failures.

use std::borrow::Cow;
use std::fmt;

use crate::{ValueCode, ValueError};

/// The code of a failure: a stable word that an agent may match on, never empty.
///
/// These are the words of the wire, not the [codes of the gate](crate::Code): apps add their own.
///
/// ```
/// use callgate_wire::FailureCode;
/// const BUSY: FailureCode = FailureCode::from_static("busy");
/// assert_eq!(FailureCode::new("busy")?, BUSY);
/// assert_eq!(FailureCode::new("").unwrap_err().field(), Some("code"));
/// # Ok::<(), callgate_wire::ValueError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FailureCode(Cow<'static, str>);

macro_rules! known {
    ($($(#[$doc:meta])* $name:ident $text:literal,)*) => {
        impl FailureCode {
            $($(#[$doc])* pub const $name: FailureCode = FailureCode::from_static($text);)*
        }
    };
}

known! {
    /// No entry has this name.
    INTENT_NOT_FOUND "intent_not_found",
    /// The arguments were refused.
    VALIDATION_ERROR "validation_error",
    /// The handler failed in a way that it did not foresee.
    INTENT_EXECUTION_ERROR "intent_execution_error",
    /// The handler's result cannot be written as JSON.
    INVALID_RESULT "invalid_result",
    /// A policy said no.
    INVOCATION_DENIED "invocation_denied",
    /// A request that names nothing to invoke.
    INVALID_EXTENSION_REQUEST "invalid_extension_request",
    /// Nothing is there that could run it.
    RUNTIME_UNAVAILABLE "runtime_unavailable",
    /// A failure that came without a code.
    AGENT_ERROR "agent_error",
    /// A tool of an MCP server said that it failed.
    MCP_TOOL_ERROR "mcp_tool_error",
    /// An adapter failed.
    ADAPTER_ERROR "adapter_error",
}

impl FailureCode {
    /// A code that the program knows.
    ///
    /// # Panics
    /// If it is empty; in a constant that is an error of the compiler.
    pub const fn from_static(code: &'static str) -> FailureCode {
        assert!(!code.is_empty(), "a failure's code is not empty");
        FailureCode(Cow::Borrowed(code))
    }

    /// Any code.
    ///
    /// # Errors
    /// `result-malformed` if it is empty.
    pub fn new(code: impl Into<String>) -> Result<FailureCode, ValueError> {
        let code = code.into();
        if code.is_empty() {
            return Err(ValueError::new(
                ValueCode::ResultMalformed,
                "expected a code that is not empty, found an empty one",
            )
            .in_field("code")
            .with_help("give the failure a word that an agent can match on, such as `not_found`"));
        }
        Ok(FailureCode(Cow::Owned(code)))
    }

    /// The word.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for FailureCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

//! Why a pattern is refused.

use crate::Code;

/// Why a pattern is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternFault {
    /// [`Code::PatternSyntax`], [`Code::PatternLimit`] or [`Code::PatternUnsupported`].
    pub code: Code,
    /// Byte offset in the pattern's text.
    pub offset: usize,
    /// What was expected, then what was found.
    pub message: String,
    /// What to write instead, if that can be said.
    pub help: Option<String>,
    /// The limit that was exceeded, by the name that [`crate::Limits::set`] takes, and its number.
    pub limit: Option<(&'static str, u64)>,
}

impl PatternFault {
    #[cold]
    pub(super) fn syntax(offset: usize, message: impl Into<String>) -> Self {
        PatternFault { code: Code::PatternSyntax, offset, message: message.into(), help: None, limit: None }
    }

    #[cold]
    pub(super) fn unsupported(offset: usize, message: impl Into<String>) -> Self {
        PatternFault {
            code: Code::PatternUnsupported,
            offset,
            message: message.into(),
            help: None,
            limit: None,
        }
    }

    #[cold]
    pub(super) fn limit(offset: usize, message: impl Into<String>, name: &'static str, maximum: u64) -> Self {
        PatternFault {
            code: Code::PatternLimit,
            offset,
            message: message.into(),
            help: None,
            limit: Some((name, maximum)),
        }
    }

    #[must_use]
    pub(super) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

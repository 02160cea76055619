//! The exit codes that scripts can rely on.

/// How the program ends. Clap itself ends with 2 for arguments that it does not understand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExitCode {
    /// All is well.
    Success = 0,
    /// There are findings: the input was read and is not good.
    Findings = 1,
    /// The command was used wrongly, or a file that it names cannot be read.
    Usage = 2,
    /// What was asked was understood and is declined: a wrong token, a decision that was made before.
    Refused = 3,
    /// The tool server failed: it did not start, died or did not answer.
    Upstream = 4,
    /// Callgate itself failed: its store is not there, its disk is full.
    Internal = 5,
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        std::process::ExitCode::from(code as u8)
    }
}

/// An error that has an exit code of its own. Without one an error ends in [`ExitCode::Internal`].
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: ExitCode,
    message: String,
}

impl Failure {
    /// A failure that ends the program with this code.
    pub(crate) fn with(code: ExitCode, message: impl Into<String>) -> anyhow::Error {
        Failure { code, message: message.into() }.into()
    }

    /// The caller's mistake.
    pub(crate) fn usage(message: impl Into<String>) -> anyhow::Error {
        Failure::with(ExitCode::Usage, message)
    }

    /// The tool server's failure.
    pub(crate) fn upstream(message: impl Into<String>) -> anyhow::Error {
        Failure::with(ExitCode::Upstream, message)
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

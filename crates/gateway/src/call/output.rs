//! A result is checked against the tool's output schema. It is marked, never refused: the effect has happened.

use callgate_schema::json::{ReadLimits, Tape};
use callgate_schema::{Class, Code as SchemaCode, Detail, Finding, Limits, Verdict};

use super::Dispatch;
use crate::catalog::OutputContract;

/// What the check of a result found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutputCheck {
    /// The tool declares no output schema.
    Undeclared,
    /// The result keeps it.
    Kept,
    /// The result breaks it, for these reasons.
    Broken(Vec<Finding>),
    /// The schema cannot be enforced, or a limit came first: nobody can say.
    Unchecked(Vec<Finding>),
}

impl Dispatch {
    /// Checks the exact bytes of `structuredContent`, or says that they are missing where the tool owes them.
    ///
    /// A result that the tool calls an error owes none: do not ask for those without the member.
    pub fn check_output(&self, structured: Option<&[u8]>, limits: &Limits) -> OutputCheck {
        let program = match &self.tool().output {
            OutputContract::Undeclared => return OutputCheck::Undeclared,
            OutputContract::Unchecked(findings) => return OutputCheck::Unchecked(findings.clone()),
            OutputContract::Enforced(program) => program,
        };
        let Some(structured) = structured else {
            let message =
                "expected `structuredContent`, since the tool declares an output schema, found none";
            let finding = Finding::new(SchemaCode::PropertyMissing, message)
                .with("property", Detail::Text("structuredContent".to_owned()));
            return OutputCheck::Broken(vec![finding]);
        };
        let mut tape = Tape::new();
        let read_limits = ReadLimits { subject: "result", ..limits.arguments_text() };
        let verdict = match tape.read(structured, &read_limits) {
            Ok(root) => program.check(root),
            Err(fault) => {
                let finding = fault.finding();
                return match finding.class() {
                    Class::ExecutionFailure => OutputCheck::Unchecked(vec![finding]),
                    Class::Validation | Class::UnsupportedCapability => OutputCheck::Broken(vec![finding]),
                };
            }
        };
        match verdict {
            Verdict::Valid => OutputCheck::Kept,
            Verdict::Invalid(violations) => OutputCheck::Broken(violations.findings),
            Verdict::Failed(finding) => OutputCheck::Unchecked(vec![*finding]),
        }
    }
}

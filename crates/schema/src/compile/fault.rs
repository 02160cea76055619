//! What is wrong with a schema.

use std::fmt;

use crate::compile::{Compiler, Entry};
use crate::json::Node;
use crate::{Class, Code, Finding};

/// Why a schema was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompileError {
    /// At least one, in a deterministic order; the first is what a one-error answer gives.
    pub findings: Vec<Finding>,
    /// There are more than these.
    pub truncated: bool,
}

impl CompileError {
    pub(crate) fn one(finding: Finding) -> Self {
        CompileError { findings: vec![finding], truncated: false }
    }

    /// The class of the first finding.
    pub fn class(&self) -> Class {
        self.findings.first().map_or(Class::Validation, Finding::class)
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.findings.as_slice() {
            [] => f.write_str("the schema was refused"),
            [only] => f.write_str(&only.message),
            [first, rest @ ..] => write!(f, "{} (and {} more)", first.message, rest.len()),
        }
    }
}

impl std::error::Error for CompileError {}

impl Compiler<'_> {
    /// Adds a fault; at most `findings_max` are kept.
    pub(crate) fn fault(&mut self, finding: Finding) {
        if self.has_room() {
            self.findings.push(finding);
        } else {
            self.truncated = true;
        }
    }

    /// Whether a further fault is kept.
    pub(crate) fn has_room(&self) -> bool {
        (self.findings.len() as u64) < self.options.limits.findings_max
    }

    /// Adds a doubt.
    pub(crate) fn warn(&mut self, finding: Finding) {
        if (self.warnings.len() as u64) < self.options.limits.findings_max {
            self.warnings.push(finding);
        }
    }

    /// Adds the fault of a keyword whose value has the wrong form.
    pub(crate) fn malformed(&mut self, entry: &Entry<'_, '_>, expected: &str) {
        self.malformed_at(entry, entry.value, "", expected);
    }

    /// The same for a part of the keyword's value, `tail` being the way to it.
    pub(crate) fn malformed_at(&mut self, entry: &Entry<'_, '_>, part: Node<'_>, tail: &str, expected: &str) {
        let message =
            format!("expected {expected} for `{}`, found {}", entry.keyword, crate::types::found(part));
        let mut finding = Finding::new(Code::SchemaMalformedKeyword, message);
        if let Some(help) = crate::keywords::form(entry.keyword, part.kind()) {
            finding = finding.with_help(help);
        }
        let location = format!("{}{tail}", entry.location());
        self.fault(finding.at_schema(entry.keyword, location).at_offset(part.span().start));
    }
}

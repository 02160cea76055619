//! The answer about a value.

use crate::{Class, Finding};

/// Whether a value keeps its schema. A value that does not is data, never an error.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    /// Every constraint holds.
    Valid,
    /// Some constraint does not hold.
    Invalid(Violations),
    /// A limit was reached before there was an answer; the finding names it.
    Failed(Box<Finding>),
}

/// The reasons why a value is refused, at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violations {
    /// In the order of the keywords and, within them, of names and items; never more than `findings_max`.
    pub findings: Vec<Finding>,
    /// There are more than these.
    pub truncated: bool,
}

impl Verdict {
    /// The verdict on a text that was not read.
    pub(crate) fn of_unreadable(fault: Finding) -> Verdict {
        match fault.class() {
            Class::ExecutionFailure => Verdict::Failed(Box::new(fault)),
            _ => Verdict::Invalid(Violations { findings: vec![fault], truncated: false }),
        }
    }
}

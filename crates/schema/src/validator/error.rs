//! One thing that is wrong, in the words of the known crates.

use std::fmt;

use crate::{Class, Code, Finding, Location};

/// What is wrong with a value, or which limit was reached. Holds nothing of the value but names of members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidationError {
    finding: Box<Finding>,
}

/// The place of what concerns the whole value.
const ROOT: &Location = &Location(Vec::new());

impl ValidationError {
    pub(super) fn new(finding: Finding) -> Self {
        ValidationError { finding: Box::new(finding) }
    }

    /// Where in the value. Displays as a JSON Pointer.
    pub fn instance_path(&self) -> &Location {
        self.finding.instance_location.as_ref().unwrap_or(ROOT)
    }

    /// Where in the schema the keyword stands, a JSON Pointer; empty if no keyword is at fault.
    pub fn schema_path(&self) -> &str {
        self.finding.schema_location.as_deref().unwrap_or_default()
    }

    /// The way through the schemas, references included, a JSON Pointer; empty if no keyword is at fault.
    pub fn evaluation_path(&self) -> &str {
        self.finding.way()
    }

    /// Which fault it is, by its stable code.
    pub fn kind(&self) -> Code {
        self.finding.code
    }

    /// Whether a limit was reached, so that nobody knows whether the value is good.
    pub fn is_limit(&self) -> bool {
        self.finding.class() == Class::ExecutionFailure
    }

    /// What was expected and what was found, without a value of the instance, so that it can be logged. That is what
    /// [`fmt::Display`] prints too, after the place.
    pub fn masked(&self) -> &str {
        &self.finding.message
    }

    /// What to do about it, if that can be said.
    pub fn help(&self) -> Option<&str> {
        self.finding.help.as_deref()
    }

    /// Everything that is known of it.
    pub fn finding(&self) -> &Finding {
        &self.finding
    }
}

impl fmt::Display for ValidationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (place, message) = (self.instance_path(), &self.finding.message);
        if place.0.is_empty() {
            return f.write_str(message);
        }
        // PERF: the engine's cases with one violation: in one piece, since a text that grows by pieces moves each time.
        let mut line = String::with_capacity("at : ".len() + place.length_about() + message.len());
        line.push_str("at ");
        place.push_to(&mut line);
        line.push_str(": ");
        line.push_str(message);
        f.write_str(&line)
    }
}

impl std::error::Error for ValidationError {}

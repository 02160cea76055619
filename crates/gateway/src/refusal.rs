//! The gate's considered no: what it was about, why, and how to mend it.

use std::fmt;

use callgate_schema::Finding;
use callgate_wire::{ApprovalId, Class, Code, SideEffect, Stage};

/// Characters of one line for a model. A member name is text of the caller's and can be of any length.
const LINE_CHARS_MAX: usize = 300;

/// A call that was declined before anything left the gate.
///
/// Holds no value of the arguments, only names and places: it may be shown to a model and logged.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// The stage that declined.
    pub stage: Stage,
    /// The stable code.
    pub code: Code,
    /// What was expected, then what was found: a lower-case fragment without a final stop.
    pub message: String,
    /// What to do instead, if that can be said.
    pub help: Option<String>,
    /// The remarks behind it, in the engine's order.
    pub findings: Vec<Finding>,
    /// Whether there are more findings than these.
    pub truncated: bool,
    /// Every rule that determined it, where rules did.
    pub determining: Vec<String>,
    /// The request that a person permit it, where it waits for one.
    pub approval: Option<ApprovalId>,
    /// Always none: nothing was sent.
    pub side_effect: SideEffect,
}

impl Refusal {
    /// A refusal at the stage that gives this code.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Refusal {
            stage: code.stage(),
            code,
            message: message.into(),
            help: None,
            findings: Vec::new(),
            truncated: false,
            determining: Vec::new(),
            approval: None,
            side_effect: SideEffect::None,
        }
    }

    /// Sets the stage that declined, where that is another one than the code's: what can befall a call that is with the
    /// upstream can also befall one that has not left.
    #[must_use]
    pub fn in_stage(mut self, stage: Stage) -> Self {
        self.stage = stage;
        self
    }

    /// Adds the advice.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds the findings; `truncated` says that there are more than these.
    #[must_use]
    pub fn with_findings(mut self, findings: Vec<Finding>, truncated: bool) -> Self {
        self.findings = findings;
        self.truncated = truncated;
        self
    }

    /// Adds the rules that determined it.
    #[must_use]
    pub fn with_determining(mut self, rules: Vec<String>) -> Self {
        self.determining = rules;
        self
    }

    /// Adds the request that a person permit it.
    #[must_use]
    pub fn with_approval(mut self, approval: ApprovalId) -> Self {
        self.approval = Some(approval);
        self
    }

    /// The class: that of the first finding, since it is the narrower one, else that of the code.
    pub fn class(&self) -> Class {
        self.findings.first().map_or(self.code.class(), |finding| finding.class().into())
    }

    /// The refusal in lines that a model can act on: what was expected, what was found, how to mend it; at most
    /// `findings_max` findings, each in one line or two of bounded length.
    pub fn text_for_model(&self, findings_max: usize) -> String {
        let mut text = String::new();
        push_line(
            &mut text,
            &format!("refused ({}): {}; nothing was sent to the tool", self.code, self.message),
        );
        for finding in self.findings.iter().take(findings_max) {
            let place = match (&finding.instance_location, finding.schema_location.as_deref()) {
                (Some(place), _) => format!("{}: ", place.arguments_path()),
                (None, Some(place)) if !place.is_empty() => format!("schema `{place}`: "),
                (None, _) => String::new(),
            };
            let line = format!("- {place}{} ({})", finding.message, finding.code);
            push_line(&mut text, &line);
            if let Some(help) = &finding.help {
                push_line(&mut text, &format!("  {help}"));
            }
        }
        let left = self.findings.len().saturating_sub(findings_max);
        match (left, self.truncated) {
            (0, false) => {}
            (0, true) => push_line(&mut text, "- and more"),
            (left, false) => push_line(&mut text, &format!("- and {left} more")),
            (left, true) => push_line(&mut text, &format!("- and at least {left} more")),
        }
        if let Some(help) = &self.help {
            push_line(&mut text, help);
        }
        text
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

/// Appends one line: cut to its bound, control characters replaced so that it stays one line.
fn push_line(text: &mut String, line: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    for (i, c) in line.chars().enumerate() {
        if i == LINE_CHARS_MAX {
            text.push('…');
            break;
        }
        text.push(if c.is_control() { '\u{fffd}' } else { c });
    }
}

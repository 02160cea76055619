//! The interface for programs that check values: compile once, then ask.
//!
//! ```text
//! &[u8] ─────────────────────────▶ read ─▶ check ─▶ verdict     `…_slice`: exact, repeated names found
//! &serde_json::Value ─▶ a glance ─ not sure ─▶ text ─▶ the same
//! ```

mod cache;
mod error;
mod text;

use std::cell::RefCell;

use serde_json::Value;

use crate::check::Verdict;
use crate::json::{Node, ReadLimits, Tape};
use crate::{CompileError, Finding, Options, Program};

pub use cache::ProgramCache;
pub use error::ValidationError;

/// A scratch that has grown beyond this is given up after its use, so that one large text does not hold memory for good.
const SCRATCH_BYTES_KEPT: usize = 1 << 20;

thread_local! {
    static SCRATCH: RefCell<Tape> = RefCell::new(Tape::new());
}

/// A schema that values are checked against. Cheap to clone, shared between threads.
///
/// Each question has two forms. `…_slice` takes JSON text and is the better one: numbers are compared as they are written,
/// a name that stands twice is refused, and nothing is built. The other takes a [`serde_json::Value`], of which it
/// cannot say what its text was. Both give the same verdict on what both can hold; the limits of a text (its bytes, depth
/// and nodes) bind a [`serde_json::Value`] only where its parts must be looked at closely.
///
/// ```
/// use callgate_schema::Validator;
///
/// let schema = br#"{"type": "object", "properties": {"n": {"type": "integer", "maximum": 9}}}"#;
/// let validator = Validator::from_slice(schema).expect("it is enforceable");
/// assert!(validator.is_valid_slice(br#"{"n": 9}"#));
/// assert!(validator.is_valid(&serde_json::json!({"n": 9.0})));
///
/// let error = validator.validate_slice(br#"{"n": 10}"#).unwrap_err();
/// assert_eq!(error.instance_path().to_string(), "/n");
/// assert_eq!(error.schema_path(), "/properties/n/maximum");
/// assert_eq!(error.kind().as_str(), "number-too-large");
/// assert_eq!(error.to_string(), "at /n: expected a number at most 9, found a larger one");
/// ```
#[derive(Debug, Clone)]
pub struct Validator {
    program: Program,
    limits: ReadLimits,
}

impl Validator {
    /// A validator of any value by a schema, with [`Options::value`].
    ///
    /// # Errors
    /// Every fault of the schema. What a [`Value`] has lost, such as a name that stood twice, is not among them: where there
    /// is a text, use [`Validator::from_slice`].
    pub fn new(schema: &Value) -> Result<Validator, CompileError> {
        Validator::options().build(schema)
    }

    /// The same from the schema's text.
    ///
    /// # Errors
    /// Every fault of the schema.
    pub fn from_slice(schema: &[u8]) -> Result<Validator, CompileError> {
        Validator::options().build_slice(schema)
    }

    /// The options of [`Validator::new`], to be changed.
    ///
    /// ```
    /// use callgate_schema::{Limits, Validator};
    ///
    /// let mut options = Validator::options();
    /// options.format_assertion = true;
    /// options.limits = Limits { findings_max: 10, ..Limits::default() };
    /// let validator = options.build(&serde_json::json!({"format": "uuid"})).expect("it is enforceable");
    /// assert!(!validator.is_valid_slice(br#""x""#));
    /// ```
    pub fn options() -> Options {
        Options::value()
    }

    /// The compiled schema.
    pub const fn program(&self) -> &Program {
        &self.program
    }

    /// Whether a value is good. `false` also where a limit was reached; [`Validator::validate`] tells them apart.
    pub fn is_valid(&self, value: &Value) -> bool {
        self.program.glances_at(value)
            || text::of(value, &self.limits).is_ok_and(|text| self.is_valid_slice(&text))
    }

    /// Whether a text is JSON, and its value is good. Allocates nothing once warm, unless the schema looks at a value again,
    /// as `uniqueItems` does.
    pub fn is_valid_slice(&self, text: &[u8]) -> bool {
        self.read(text, |value| self.program.is_valid(value) == Ok(true)).unwrap_or(false)
    }

    /// Whether a value is good, and otherwise what is wrong with it first.
    ///
    /// # Errors
    /// The first violation in the order of [`Validator::iter_errors`], or the limit that was reached.
    pub fn validate(&self, value: &Value) -> Result<(), ValidationError> {
        self.iter_errors(value).next().map_or(Ok(()), Err)
    }

    /// The same for a text.
    ///
    /// # Errors
    /// Also why the text is not JSON.
    pub fn validate_slice(&self, text: &[u8]) -> Result<(), ValidationError> {
        self.iter_errors_slice(text).next().map_or(Ok(()), Err)
    }

    /// Everything that is wrong with a value, at most `findings_max` violations, in a fixed order.
    pub fn iter_errors(&self, value: &Value) -> impl Iterator<Item = ValidationError> + use<> {
        let without_text = |mut finding: Finding| {
            // There is no text whose bytes could be counted.
            finding.offset = None;
            ValidationError::new(finding)
        };
        findings(self.evaluate(value)).into_iter().map(without_text)
    }

    /// The same for a text; if it is not JSON, the one reason for that.
    pub fn iter_errors_slice(&self, text: &[u8]) -> impl Iterator<Item = ValidationError> + use<> {
        findings(self.evaluate_slice(text)).into_iter().map(ValidationError::new)
    }

    /// The verdict on a value, which can print itself in JSON Schema's formats `flag` and `basic`. Offsets are those of its
    /// compact text.
    pub fn evaluate(&self, value: &Value) -> Verdict {
        if self.program.glances_at(value) {
            return Verdict::Valid;
        }
        match text::of(value, &self.limits) {
            Ok(text) => self.evaluate_slice(&text),
            Err(finding) => Verdict::Failed(finding),
        }
    }

    /// The verdict on a text. One that is not JSON is [`Verdict::Invalid`], one over a limit [`Verdict::Failed`].
    pub fn evaluate_slice(&self, text: &[u8]) -> Verdict {
        self.read(text, |value| self.program.check(value))
            .unwrap_or_else(|fault| Verdict::of_unreadable(*fault))
    }

    /// Reads a text into this thread's scratch and looks at it.
    fn read<T>(&self, text: &[u8], look: impl FnOnce(Node<'_>) -> T) -> Result<T, Box<Finding>> {
        SCRATCH
            .with(|scratch| match scratch.try_borrow_mut() {
                Ok(mut tape) => {
                    let answer = tape.read(text, &self.limits).map(look);
                    if tape.bytes() > SCRATCH_BYTES_KEPT {
                        *tape = Tape::new();
                    }
                    answer
                }
                // Only a caller that is called back while it looks comes here.
                Err(_) => Tape::new().read(text, &self.limits).map(look),
            })
            .map_err(|fault| Box::new(fault.finding()))
    }
}

impl Options {
    /// A validator with these options.
    ///
    /// # Errors
    /// Every fault of the schema.
    pub fn build(&self, schema: &Value) -> Result<Validator, CompileError> {
        match text::of(schema, &self.limits.schema_text()) {
            Ok(text) => self.build_slice(&text),
            Err(finding) => Err(CompileError::one(finding.at_schema("", ""))),
        }
    }

    /// The same from the schema's text.
    ///
    /// # Errors
    /// Every fault of the schema.
    pub fn build_slice(&self, schema: &[u8]) -> Result<Validator, CompileError> {
        let program = Program::compile(schema, self)?;
        Ok(Validator { program, limits: self.limits.arguments_text() })
    }
}

fn findings(verdict: Verdict) -> Vec<Finding> {
    match verdict {
        Verdict::Valid => Vec::new(),
        Verdict::Invalid(violations) => violations.findings,
        Verdict::Failed(finding) => vec![*finding],
    }
}

//! Coercion: texts become the values that a schema asks for. A stage of its own, before a check and apart from it: a
//! check never changes a value, and a coercion never refuses one.
//!
//! ```text
//! arguments ── coerce ──▶ bytes + edits ── Tape::read, Program::check ──▶ verdict
//!
//! plan, wire     profile wire: what text-map transports have always done
//! standard       the other profiles: by the program, references and unions included
//! argv           the flags of a command line
//! ```
//!
//! What both have in common: only texts change; an edit is a splice, and all other bytes stay as they are; nothing is
//! guessed (no lists by commas, no truthiness, no defaults); an outcome that is coerced again has no edits.

mod argv;
mod edits;
mod plan;
mod standard;
mod wire;

use std::borrow::Cow;

use crate::json::{Document, Node, ReadFault, ReadFaultKind, ReadLimits, Tape};
use crate::location::write_escaped;
use crate::{Code, CompileError, Detail, Exhausted, Finding, Limits, Options, Profile, Program, Work};

pub use edits::{Edit, Edits};

/// How the texts in a tool's arguments become the values that its schema asks for.
///
/// Profile `wire` follows the rules of text-map transports: only where a declared member names one type, blanks around
/// a text do not count, blank text for anything but a string is dropped, whole numbers may be hexadecimal, a boolean has
/// six words ([`crate::text_map`]), and JSON text becomes an object or an array.
///
/// The other profiles take JSON alone: a text that is valid where it stands stays; any other becomes the JSON value that
/// it is the text of, if the schema takes a value of that type there; else it is left as it is. References, `allOf`,
/// `anyOf`, `oneOf`, `if` and `dependentSchemas` are followed, and of several alternatives the one counts that accepts
/// the outcome; if that leaves several outcomes, none is taken. Nothing is dropped. A valid value stays as it is. A
/// `$dynamicRef` is not followed, so texts that only such a reference describes stay.
///
/// ```
/// use callgate_schema::json::Tape;
/// use callgate_schema::{Coercion, Options, Profile};
///
/// let schema = br#"{"type": "object", "properties": {"count": {"type": "integer"}, "label": {"type": "string"}}}"#;
/// let options = Options::tool(Profile::Wire);
/// let coercion = Coercion::compile(schema, &options).expect("it is JSON");
/// let mut tape = Tape::new();
/// let arguments = tape.read(br#"{"count": " 3 ", "label": "007"}"#, &options.limits.arguments_text()).expect("JSON");
/// let coerced = coercion.coerce(arguments).expect("it is within limits");
/// assert_eq!(&*coerced.bytes, br#"{"count": 3, "label": "007"}"#);
/// assert_eq!(coerced.edits.iter().next().map(|edit| edit.at), Some("/count"));
/// ```
#[derive(Debug)]
pub struct Coercion {
    form: Form,
    limits: Limits,
}

#[derive(Debug)]
enum Form {
    Wire(plan::Plans),
    Standard(standard::Kinds),
}

/// Scratch that coercions fill; see [`Coercion::coerce_with`].
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    /// For the texts that are read within each other.
    tapes: Vec<Tape>,
}

/// What came out of a coercion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coerced<'i> {
    /// The arguments as JSON text: the input's bytes with the edits spliced in.
    pub bytes: Cow<'i, [u8]>,
    /// What was changed, in order; empty if `bytes` are the input's.
    pub edits: Edits,
}

impl Coercion {
    /// For a schema's text. In profile `wire` any JSON text will do, since what the profile does not know it leaves
    /// alone; in the others the schema must be one that [`Program::compile`] takes.
    ///
    /// # Errors
    /// [`CompileError`] if the schema is not JSON or, but for profile `wire`, not enforceable.
    pub fn compile(schema: &[u8], options: &Options) -> Result<Coercion, CompileError> {
        if options.profile != Profile::Wire {
            return Ok(Coercion::of(&Program::compile(schema, options)?));
        }
        let document = Document::read(schema, &options.limits.schema_text())
            .map_err(|fault| CompileError::one(fault.finding().at_schema("", fault.pointer)))?;
        Ok(Coercion::wire(document.root(), &options.limits))
    }

    /// For a program, in its own profile.
    pub fn of(program: &Program) -> Coercion {
        let parts = &program.parts;
        match (parts.profile, parts.documents.first()) {
            (Profile::Wire, Some(document)) => Coercion::wire(document.root(), &parts.limits),
            _ => {
                Coercion { form: Form::Standard(standard::Kinds::of(program)), limits: parts.limits.clone() }
            }
        }
    }

    fn wire(schema: Node<'_>, limits: &Limits) -> Coercion {
        Coercion { form: Form::Wire(plan::Plans::of(schema)), limits: limits.clone() }
    }

    /// Coerces arguments. What they hold beside texts that the schema wants otherwise is copied byte for byte.
    ///
    /// Work is bounded by [`Limits::work_for`] the arguments' bytes.
    ///
    /// # Errors
    /// The finding of the limit that was reached: by the work, by texts of JSON within each other, or by a text that is
    /// to be read and exceeds a limit for arguments. That is never taken for "no JSON".
    pub fn coerce<'i>(&self, arguments: Node<'i>) -> Result<Coerced<'i>, Box<Finding>> {
        self.coerce_with(&mut Scratch::default(), arguments)
    }

    /// The same with scratch that is used again, so that reading texts allocates nothing once warm.
    ///
    /// # Errors
    /// Those of [`Coercion::coerce`].
    pub fn coerce_with<'i>(
        &self,
        scratch: &mut Scratch,
        arguments: Node<'i>,
    ) -> Result<Coerced<'i>, Box<Finding>> {
        let work = Work::new(self.limits.work_for(arguments.raw().len()));
        let outcome = match &self.form {
            Form::Wire(plans) => wire::coerce(plans, &self.limits, work, scratch, arguments),
            Form::Standard(kinds) => standard::coerce(kinds, &self.limits, work, scratch, arguments),
        };
        let (bytes, edits) = outcome.map_err(|stop| Box::new(stop.finding(&self.limits, Some(arguments))))?;
        let bytes = if edits.is_empty() { Cow::Borrowed(arguments.raw()) } else { Cow::Owned(bytes) };
        Ok(Coerced { bytes, edits })
    }
}

/// Why a coercion ended early.
#[derive(Debug)]
enum Stop {
    Work,
    /// Values within values, or texts within texts, deeper than that limit allows.
    Limit {
        name: &'static str,
        maximum: u64,
    },
    /// A text at that place is over a limit.
    Text {
        at: String,
        fault: ReadFault,
    },
}

impl From<Exhausted> for Stop {
    fn from(Exhausted: Exhausted) -> Self {
        Stop::Work
    }
}

impl From<crate::check::Stop> for Stop {
    fn from(stop: crate::check::Stop) -> Self {
        match stop {
            crate::check::Stop::Depth => Stop::Limit { name: "evaluation_depth", maximum: 0 },
            _ => Stop::Work,
        }
    }
}

impl Stop {
    #[cold]
    fn finding(self, limits: &Limits, arguments: Option<Node<'_>>) -> Finding {
        let (name, maximum, at) = match self {
            Stop::Work => {
                let total = limits.work_for(arguments.map_or(0, |arguments| arguments.raw().len()));
                return Finding::new(
                    Code::WorkExhausted,
                    format!("expected the arguments to be coerced within {total} units of work, found more to do"),
                )
                .with_help("send the values themselves instead of texts of them, or simplify the schema's alternatives")
                .with("limit", Detail::Text("work".into()))
                .with("maximum", Detail::Count(total));
            }
            Stop::Limit { name: "evaluation_depth", .. } => {
                ("evaluation_depth".to_owned(), limits.evaluation_depth_max, String::new())
            }
            Stop::Limit { name, maximum } => (name.to_owned(), maximum, String::new()),
            Stop::Text { at, fault } => match fault.kind {
                ReadFaultKind::Limit { name, maximum } => (name, maximum, at),
                _ => return fault.finding(),
            },
        };
        let at = if at.is_empty() { at } else { format!(" in the text at `{at}`") };
        Finding::new(
            Code::LimitExceeded,
            format!("expected at most {maximum} ({name}) while coercing, found more{at}"),
        )
        .with_help("send the value itself instead of a text of it")
        .with("limit", Detail::Text(name))
        .with("maximum", Detail::Count(maximum))
    }
}

/// Adds a step to the way that a pointer tells.
fn step_into(pointer: &mut String, name: &str) {
    pointer.push('/');
    // PERF: `callgate-bench coercion`. Names are short, so that a plain look is over before a wide one has begun.
    if name.bytes().any(|byte| byte == b'~' || byte == b'/') {
        // Writing to a text does not fail.
        let _ = write_escaped(pointer, name);
    } else {
        pointer.push_str(name);
    }
}

/// The work of reading a byte of a text once more: little, yet enough that texts within texts come to an end.
const DECODING_WORK: u64 = 4;

/// The work of a byte of an edit's place: an edit repeats the way to it, and long names over many values make the edits
/// many times as large as the input.
const PLACE_WORK: u64 = 8;

/// Reads a text as JSON: `None` if it is none.
///
/// # Errors
/// [`Stop`] if the work is spent, or a limit exceeded, which is never read as "no JSON".
fn decode<'t>(
    tape: &'t mut Tape,
    text: &'t str,
    limits: &ReadLimits,
    work: &mut Work,
    at: &str,
) -> Result<Option<Node<'t>>, Stop> {
    work.charge(DECODING_WORK * text.len() as u64)?;
    match tape.read(text.as_bytes(), limits) {
        Ok(node) => Ok(Some(node)),
        Err(fault) if matches!(fault.kind, ReadFaultKind::Limit { .. }) => {
            Err(Stop::Text { at: at.to_owned(), fault })
        }
        Err(_) => Ok(None),
    }
}

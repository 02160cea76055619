//! Typed access to a text map: a flat map of texts, as a deep link, an intent of an operating system or a query string
//! carries it.

use callgate_schema::json::{Document, Kind, Node, Tape, write_string};
use callgate_schema::text_map::{boolean, float, integer, trimmed};
use callgate_schema::{Code, Finding, Limits, Location, Step};

/// A text map, in the order in which it came.
///
/// Each accessor gives `None` where the name is missing, where its text is blank, and where the text does not stand for
/// such a value by the grammars of [`callgate_schema::text_map`]. Blanks around a text do not count.
///
/// ```
/// use callgate_wire::WireArgs;
/// let args = WireArgs::from_pairs([("count", " 42 "), ("on", "Yes"), ("note", "  ")]);
/// assert_eq!(args.int("count"), Some(42));
/// assert_eq!(args.bool("on"), Some(true));
/// assert_eq!(args.string("note"), None);
/// assert_eq!(args.double("missing"), None);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WireArgs {
    entries: Vec<(String, String)>,
}

impl WireArgs {
    /// From names and texts. Of a name that comes twice, the last counts.
    pub fn from_pairs<N: Into<String>, T: Into<String>>(pairs: impl IntoIterator<Item = (N, T)>) -> WireArgs {
        let mut args = WireArgs::default();
        for (name, text) in pairs {
            let (name, text) = (name.into(), text.into());
            match args.entries.iter_mut().find(|(known, _)| *known == name) {
                Some(known) => known.1 = text,
                None => args.entries.push((name, text)),
            }
        }
        args
    }

    /// From a JSON object whose members all are texts.
    ///
    /// # Errors
    /// A finding of code [`Code::TypeMismatch`] at the first member that is none, or at the value that is no object.
    pub fn from_json(value: Node<'_>) -> Result<WireArgs, Box<Finding>> {
        if value.kind() != Kind::Object {
            return Err(Box::new(mismatch("an object of texts", value, Location::default())));
        }
        let mut entries = Vec::with_capacity(value.len());
        for member in value.members() {
            let name = member.name().into_owned();
            match member.value().as_str() {
                Some(text) => entries.push((name, text.into_owned())),
                None => return Err(Box::new(mismatch("a text", member.value(), at(&name)))),
            }
        }
        Ok(WireArgs { entries })
    }

    /// The text as it came.
    pub fn raw(&self, name: &str) -> Option<&str> {
        self.entries.iter().find(|(known, _)| known == name).map(|(_, text)| text.as_str())
    }

    /// The text without blanks around it.
    pub fn string(&self, name: &str) -> Option<&str> {
        self.raw(name).map(trimmed).filter(|text| !text.is_empty())
    }

    /// The boolean: `1`, `true`, `yes`, `0`, `false` or `no`, in any case.
    pub fn bool(&self, name: &str) -> Option<bool> {
        self.string(name).and_then(boolean)
    }

    /// The whole number, decimal or, after `0x`, hexadecimal.
    pub fn int(&self, name: &str) -> Option<i64> {
        self.string(name).and_then(integer)
    }

    /// The number, decimal; never infinite, never NaN.
    pub fn double(&self, name: &str) -> Option<f64> {
        self.string(name).and_then(float)
    }

    /// The JSON object that the text is; `None` for JSON of another kind.
    ///
    /// # Errors
    /// The fault of a text that is not JSON, at the member of that name.
    pub fn json_object(&self, name: &str) -> Result<Option<Document>, Box<Finding>> {
        let Some(text) = self.string(name) else { return Ok(None) };
        let document = Document::read(text.as_bytes(), &Limits::default().arguments_text())
            .map_err(|fault| Box::new(fault.finding().at_instance(at(name))))?;
        Ok(Some(document).filter(|document| document.root().kind() == Kind::Object))
    }

    /// A copy as arguments: a JSON object in which every value still is its text, for coercion by a schema.
    pub fn to_arguments(&self) -> Vec<u8> {
        let mut out = b"{".to_vec();
        for (number, (name, text)) in self.entries.iter().enumerate() {
            if number > 0 {
                out.push(b',');
            }
            write_string(&mut out, name);
            out.push(b':');
            write_string(&mut out, text);
        }
        out.push(b'}');
        out
    }
}

/// From JSON text.
impl TryFrom<&[u8]> for WireArgs {
    type Error = Box<Finding>;

    fn try_from(text: &[u8]) -> Result<WireArgs, Box<Finding>> {
        let mut tape = Tape::new();
        let read = tape.read(text, &Limits::default().arguments_text());
        WireArgs::from_json(read.map_err(|fault| Box::new(fault.finding()))?)
    }
}

fn at(name: &str) -> Location {
    Location(vec![Step::Name(name.to_owned())])
}

fn mismatch(expected: &str, found: Node<'_>, at: Location) -> Finding {
    let message = format!("expected {expected} in a text map, found {}", found.kind().name());
    Finding::new(Code::TypeMismatch, message).at_instance(at)
}

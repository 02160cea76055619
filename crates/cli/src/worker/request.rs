//! Requests: their fields are taken as raw bytes, so that what a field holds is judged by itself, spelling and all.

use std::borrow::Cow;

use callgate_schema::json::{
    Kind, MemberSpans, Node, ReadFault, ReadFaultKind, ReadLimits, Tape, skim_members,
};
use callgate_schema::{Code, Finding};

/// A request that was understood so far.
#[derive(Debug)]
pub(super) struct Request<'l> {
    /// JSON text, `null` where there was none.
    pub(super) id: &'l [u8],
    fields: Fields<'l>,
}

/// The members of a request as they stand in its line. Their names are read when one is asked for: a line may have very
/// many.
#[derive(Debug)]
struct Fields<'l> {
    line: &'l [u8],
    spans: Vec<MemberSpans>,
}

/// A request that was not, with the id if that much is known.
#[derive(Debug)]
pub(super) struct Refused<'l> {
    pub(super) id: &'l [u8],
    pub(super) finding: Box<Finding>,
}

/// The envelope. What its fields hold has limits of its own, so a field that is beyond these is left to them.
const ENVELOPE: ReadLimits = ReadLimits {
    subject: "request",
    bytes_max: super::LINE_BYTES_MAX as u64,
    depth_max: 1 << 10,
    nodes_max: 1 << 20,
    number_digits_max: super::LINE_BYTES_MAX as u64,
    number_exponent_max: u64::MAX,
};

impl<'l> Request<'l> {
    /// Takes a line apart.
    pub(super) fn read(line: &'l [u8]) -> Result<Self, Refused<'l>> {
        let line = line.trim_ascii();
        let mut tape = Tape::new();
        let strict = tape.read(line, &ENVELOPE).map(Node::kind);
        // The tape may be large, and is let go before anything else is.
        drop(tape);
        let fields = Fields { line, spans: skim_members(line).unwrap_or_default() };
        let id = fields.find("id").filter(|id| Tape::new().read(id, &ENVELOPE).is_ok()).unwrap_or(b"null");
        match strict {
            Ok(Kind::Object) => Ok(Request { id, fields }),
            Ok(kind) => Err(Refused { id: b"null", finding: no_object(kind.name()) }),
            Err(fault) if matches!(fault.kind, ReadFaultKind::Limit { .. }) && !line.starts_with(b"{") => {
                Err(Refused { id: b"null", finding: no_object("a large array") })
            }
            // A fault within a field's value is that field's to answer for, a fault around them the request's.
            Err(fault) if is_within_a_field(&fault) => Ok(Request { id, fields }),
            Err(fault) => Err(Refused { id, finding: Box::new(fault.finding()) }),
        }
    }

    /// The raw value of a field.
    pub(super) fn field(&self, name: &str) -> Option<&'l [u8]> {
        self.fields.find(name)
    }

    /// A field that holds text.
    pub(super) fn text(&self, name: &str) -> Result<Option<String>, Box<Finding>> {
        let Some(value) = self.field(name) else { return Ok(None) };
        match Tape::new().read(value, &ENVELOPE) {
            Err(fault) => Err(Box::new(fault.finding())),
            Ok(value) => match value.as_str() {
                Some(text) => Ok(Some(text.into_owned())),
                None => Err(malformed(format!("expected a text as `{name}`, found {}", value.kind().name()))),
            },
        }
    }

    /// JSON that is given in line under `name`, or as text under `name_text`.
    pub(super) fn json(&self, name: &str) -> Result<Option<Cow<'l, [u8]>>, Box<Finding>> {
        if let Some(value) = self.field(name) {
            return Ok(Some(Cow::Borrowed(value)));
        }
        Ok(self.text(&format!("{name}_text"))?.map(|text| Cow::Owned(text.into_bytes())))
    }

    /// The members of a field that holds an object, with their raw values.
    pub(super) fn members(&self, name: &str) -> Result<Vec<(String, &'l [u8])>, Box<Finding>> {
        let Some(value) = self.field(name) else { return Ok(Vec::new()) };
        let not_an_object = || malformed(format!("expected an object as `{name}`, found another value"));
        let members = skim_members(value).map_err(|_| not_an_object())?;
        let pairs =
            members.into_iter().map(|(name, part)| Some((text_of(value.get(name)?)?, value.get(part)?)));
        pairs.collect::<Option<_>>().ok_or_else(not_an_object)
    }
}

impl<'l> Fields<'l> {
    fn find(&self, name: &str) -> Option<&'l [u8]> {
        let is_name = |raw: &[u8]| match raw {
            [b'"', plain @ .., b'"'] if !plain.contains(&b'\\') => plain == name.as_bytes(),
            _ => text_of(raw).is_some_and(|found| found == name),
        };
        let found = self.spans.iter().find(|(span, _)| self.line.get(span.clone()).is_some_and(is_name));
        found.and_then(|(_, value)| self.line.get(value.clone()))
    }
}

fn no_object(found: &str) -> Box<Finding> {
    malformed(format!("expected a request as an object, found {found}"))
}

/// A fault of the request itself.
pub(super) fn malformed(message: impl Into<String>) -> Box<Finding> {
    Box::new(Finding::new(Code::RequestMalformed, message))
}

/// The name of a member, unescaped.
fn text_of(raw: &[u8]) -> Option<String> {
    Tape::new().read(raw, &ENVELOPE).ok()?.as_str().map(Cow::into_owned)
}

/// The pointer of a fault leads to the innermost value that was open, so a fault in a field's value has a way of at
/// least one step; a repeated field has exactly one and is the request's own fault.
fn is_within_a_field(fault: &ReadFault) -> bool {
    match fault.kind {
        ReadFaultKind::DuplicateName { .. } => fault.pointer.matches('/').count() > 1,
        ReadFaultKind::Surrogate | ReadFaultKind::Limit { .. } => !fault.pointer.is_empty(),
        _ => false,
    }
}

//! What a coercion changed: a list that can be kept, shown, and played again on the input.

use std::fmt;

use crate::json::{Kind, Node, ReadLimits, Tape};

/// The edits of one coercion, in order. One buffer holds all their texts.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Edits {
    texts: String,
    entries: Vec<Entry>,
}

/// Where the texts of an edit end in the buffer; each starts where the one before it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    at: usize,
    from: usize,
    to: usize,
    removes: bool,
}

/// One edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edit<'a> {
    /// A JSON Pointer (RFC 6901) into the value as it stands after the edits before this one.
    pub at: &'a str,
    /// What stood there, as JSON text.
    pub from: &'a str,
    /// What stands there now, as JSON text; `None` where it was removed.
    pub to: Option<&'a str>,
}

impl Edits {
    /// How many.
    pub const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Are there none?
    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The edits in order.
    pub fn iter(&self) -> impl Iterator<Item = Edit<'_>> {
        let part = |from: usize, to: usize| self.texts.get(from..to).unwrap_or_default();
        let starts = std::iter::once(0).chain(self.entries.iter().map(|entry| entry.to));
        self.entries.iter().zip(starts).map(move |(entry, start)| Edit {
            at: part(start, entry.at),
            from: part(entry.at, entry.from),
            to: (!entry.removes).then(|| part(entry.from, entry.to)),
        })
    }

    /// Plays the edits on a text again: each is a splice that leaves all other bytes as they are.
    ///
    /// Linear in the text for each edit, so meant for tests and for looking into a log.
    ///
    /// # Errors
    /// The number of the first edit that does not fit: the text is not JSON within `limits`, nothing stands at its
    /// place, or something else than its `from`.
    ///
    /// ```
    /// use callgate_schema::json::Tape;
    /// use callgate_schema::{Coercion, Options, Profile};
    ///
    /// let options = Options::tool(Profile::Wire);
    /// let schema = br#"{"type": "object", "properties": {"n": {"type": "integer"}}}"#;
    /// let coercion = Coercion::compile(schema, &options).expect("it is JSON");
    /// let limits = options.limits.arguments_text();
    /// let mut tape = Tape::new();
    /// let input = br#"{ "n" : "0x1f" }"#;
    /// let coerced = coercion.coerce(tape.read(input, &limits).expect("it is JSON")).expect("it is within limits");
    /// assert_eq!(coerced.edits.replay(input, &limits), Ok(coerced.bytes.to_vec()));
    /// assert_eq!(coerced.edits.replay(br#"{"n": 31}"#, &limits), Err(0));
    /// ```
    pub fn replay(&self, text: &[u8], limits: &ReadLimits) -> Result<Vec<u8>, usize> {
        let mut text = text.to_vec();
        let mut tape = Tape::new();
        for (number, edit) in self.iter().enumerate() {
            let root = tape.read(&text, limits).map_err(|_| number)?;
            let spliced = spliced(root, edit).ok_or(number)?;
            text = spliced;
        }
        Ok(text)
    }

    /// Appends the edits as a JSON array of `{"at", "from", "to"}`, `to` left out where the value was removed.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        out.push(b'[');
        for (number, edit) in self.iter().enumerate() {
            out.extend_from_slice(if number == 0 { b"{\"at\":" } else { b",{\"at\":" });
            crate::json::write_string(out, edit.at);
            out.extend_from_slice(b",\"from\":");
            out.extend_from_slice(edit.from.as_bytes());
            if let Some(to) = edit.to {
                out.extend_from_slice(b",\"to\":");
                out.extend_from_slice(to.as_bytes());
            }
            out.push(b'}');
        }
        out.push(b']');
    }

    pub(super) fn push(&mut self, at: &str, from: &str, to: Option<&str>) {
        self.add(&["", at], from, to);
    }

    /// Adds the edits of a part that stands at `at`.
    pub(super) fn append(&mut self, at: &str, edits: &Edits) {
        for edit in edits.iter() {
            self.add(&[at, edit.at], edit.from, edit.to);
        }
    }

    fn add(&mut self, at: &[&str], from: &str, to: Option<&str>) {
        if self.entries.is_empty() {
            // Enough for most coercions at once.
            self.texts.reserve(512);
            self.entries.reserve(16);
        }
        for part in at {
            self.texts.push_str(part);
        }
        let at = self.texts.len();
        self.texts.push_str(from);
        let from = self.texts.len();
        self.texts.push_str(to.unwrap_or_default());
        self.entries.push(Entry { at, from, to: self.texts.len(), removes: to.is_none() });
    }
}

/// Says how many there are: their texts may be secret.
impl fmt::Debug for Edits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Edits({})", self.entries.len())
    }
}

/// The bytes of `root` with one edit made; `None` if it does not fit.
fn spliced(root: Node<'_>, edit: Edit<'_>) -> Option<Vec<u8>> {
    let value = root.pointer(edit.at).filter(|value| value.raw_str() == edit.from)?;
    let (span, to) = match edit.to {
        Some(to) => (value.span(), to),
        None => (removal(root, edit.at, value)?, ""),
    };
    let text = root.text_bytes();
    let whole = root.span();
    let parts = [text.get(whole.start..span.start)?, to.as_bytes(), text.get(span.end..whole.end)?];
    Some(parts.concat())
}

/// What goes when a value is removed: its member, and the comma before it, or after it if it is the first.
fn removal(root: Node<'_>, at: &str, value: Node<'_>) -> Option<std::ops::Range<usize>> {
    let holder = root.pointer(at.rsplit_once('/')?.0)?;
    let parts: Vec<_> = match holder.kind() {
        Kind::Object => {
            holder.members().map(|member| member.name_span().start..member.value().span().end).collect()
        }
        _ => holder.items().map(Node::span).collect(),
    };
    let index = parts.iter().position(|part| part.end == value.span().end)?;
    let part = parts.get(index)?;
    Some(match (index.checked_sub(1).and_then(|before| parts.get(before)), parts.get(index + 1)) {
        (Some(before), _) => before.end..part.end,
        (None, Some(after)) => part.start..after.start,
        (None, None) => part.clone(),
    })
}

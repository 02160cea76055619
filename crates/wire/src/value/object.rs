//! A JSON object, as its own text.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use callgate_schema::json::{Kind, Node, Tape};
use serde::Serialize;

use super::compact::{compact, push_text};
use super::json::equal_texts;
use super::{Json, ValueLimits, own_tape};
use crate::ValueError;

/// A JSON object: a [`Json`] whose kind is known. Members stand in the order in which they were first set.
///
/// ```
/// use callgate_wire::Object;
/// let note = Object::new().with("id", "note-42").with("pinned", true).with("rank", 3);
/// assert_eq!(note.as_str(), r#"{"id":"note-42","pinned":true,"rank":3}"#);
/// assert_eq!(note.with("rank", 4).as_str(), r#"{"id":"note-42","pinned":true,"rank":4}"#);
/// ```
#[derive(Clone)]
pub struct Object {
    // INVARIANT: compact JSON text of an object that the strict reader takes.
    text: String,
}

impl Object {
    /// An object without members.
    pub fn new() -> Object {
        Object { text: "{}".to_owned() }
    }

    /// Reads the JSON text of an object, within the limits by default.
    ///
    /// # Errors
    /// Those of [`Json::parse`]; `value-not-object` for another value.
    pub fn parse(text: impl AsRef<[u8]>) -> Result<Object, ValueError> {
        Object::parse_within(text, &ValueLimits::default())
    }

    /// Reads the JSON text of an object.
    ///
    /// # Errors
    /// Those of [`Object::parse`].
    pub fn parse_within(text: impl AsRef<[u8]>, limits: &ValueLimits) -> Result<Object, ValueError> {
        let mut tape = Tape::new();
        let node = tape.read(text.as_ref(), &limits.text()).map_err(|fault| ValueError::read(&fault))?;
        Object::of(node).ok_or_else(|| ValueError::not_object(node.kind()))
    }

    /// A value that was read, if it is an object.
    pub fn of(node: Node<'_>) -> Option<Object> {
        (node.kind() == Kind::Object).then(|| Object { text: compact(node) })
    }

    /// What a Rust value is as JSON: a struct, a map.
    ///
    /// # Errors
    /// Those of [`Json::serialize`]; `value-not-object` for what is no object.
    ///
    /// ```
    /// use callgate_wire::Object;
    /// #[derive(serde::Serialize)]
    /// struct Note<'a> { id: &'a str, rank: u32 }
    /// assert_eq!(Object::serialize(&Note { id: "n", rank: 3 })?.as_str(), r#"{"id":"n","rank":3}"#);
    /// # Ok::<(), callgate_wire::ValueError>(())
    /// ```
    pub fn serialize<T: Serialize + ?Sized>(value: &T) -> Result<Object, ValueError> {
        let value = Json::serialize(value)?;
        let kind = value.read(&mut Tape::new()).kind();
        value.into_object().ok_or_else(|| ValueError::not_object(kind))
    }

    pub(super) fn of_text(text: String) -> Option<Object> {
        text.starts_with('{').then_some(Object { text })
    }

    /// A text that this crate wrote.
    pub(crate) const fn written(text: String) -> Object {
        Object { text }
    }

    /// The compact text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The compact text.
    pub fn into_string(self) -> String {
        self.text
    }

    /// Whether it has no member.
    pub fn is_empty(&self) -> bool {
        self.text == "{}"
    }

    /// How many members it has.
    pub fn len(&self) -> usize {
        self.read(&mut Tape::new()).len()
    }

    /// A view of the object and its parts, on a tape that may be used again.
    ///
    /// # Panics
    /// Where the text has 2^30 bytes or more, or 2^24 values.
    pub fn read<'t>(&'t self, tape: &'t mut Tape) -> Node<'t> {
        own_tape(tape, &self.text)
    }

    /// The value of a member. Reads the whole text; for several members use [`Object::read`].
    pub fn get(&self, name: &str) -> Option<Json> {
        self.read(&mut Tape::new()).member(name).map(Json::of)
    }

    /// The text of a member that is a text.
    pub fn get_text(&self, name: &str) -> Option<String> {
        Some(self.read(&mut Tape::new()).member(name)?.as_str()?.into_owned())
    }

    /// The members in their order.
    pub fn members(&self) -> Vec<(String, Json)> {
        let mut tape = Tape::new();
        let members = self.read(&mut tape).members();
        members.map(|member| (member.name().into_owned(), Json::of(member.value()))).collect()
    }

    /// The object with a member set; see [`Object::set`].
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Json>) -> Object {
        self.set(name, value);
        self
    }

    /// Sets a member: where its name is already there, in its place, else at the end.
    ///
    /// Reads the whole text, so that many members are better collected or serialised at once.
    pub fn set(&mut self, name: &str, value: impl Into<Json>) {
        let value = value.into();
        match self.span(name) {
            Some(span) => self.text.replace_range(span, value.as_str()),
            None => push(&mut self.text, name, value.as_str()),
        }
    }

    /// Sets each member of another object, in its order. Linear in both.
    pub fn extend(&mut self, other: &Object) {
        if !other.is_empty() {
            *self = self.members().into_iter().chain(other.members()).collect();
        }
    }

    fn span(&self, name: &str) -> Option<Range<usize>> {
        self.read(&mut Tape::new()).member(name).map(Node::span)
    }
}

/// Appends a member to an object's text that does not have it.
fn push(text: &mut String, name: &str, value: &str) {
    text.pop();
    if text.len() > 1 {
        text.push(',');
    }
    push_text(text, name);
    text.push(':');
    text.push_str(value);
    text.push('}');
}

impl Default for Object {
    fn default() -> Self {
        Object::new()
    }
}

impl PartialEq for Object {
    fn eq(&self, other: &Object) -> bool {
        equal_texts(&self.text, &other.text)
    }
}

impl Eq for Object {}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Members in their order; of a name that comes twice, the last value stands in the first one's place.
impl<N: Into<String>, V: Into<Json>> FromIterator<(N, V)> for Object {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(members: I) -> Object {
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut values: Vec<Json> = Vec::new();
        let mut names: Vec<String> = Vec::new();
        for (name, value) in members {
            let (name, value) = (name.into(), value.into());
            if let Some(slot) = places.get(&name).and_then(|place| values.get_mut(*place)) {
                *slot = value;
            } else {
                places.insert(name.clone(), values.len());
                names.push(name);
                values.push(value);
            }
        }
        let mut object = Object::new();
        for (name, value) in names.iter().zip(&values) {
            push(&mut object.text, name, value.as_str());
        }
        object
    }
}

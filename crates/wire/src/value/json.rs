//! Any JSON value, as its own text.

use std::fmt;

use callgate_schema::json::{Node, ReadLimits, Tape};
use serde::Serialize;

use super::compact::{compact, push_text};
use super::float::write_f64;
use super::{Object, ValueLimits, serialize};
use crate::ValueError;

/// A JSON value, kept as its compact text.
///
/// There is none that is not JSON, that names a member twice, or that holds half a surrogate pair. Members keep the
/// order and numbers the spelling that they came with: `1.0`, `1e2` and an integer of thirty digits stay what they are.
/// Equality is that of JSON Schema: by value, so that `1` equals `1.0`, and without the order of members.
///
/// ```
/// use callgate_wire::Json;
/// let value = Json::parse(r#" { "b" : 1.50, "a" : "\u0041" } "#)?;
/// assert_eq!(value.as_str(), r#"{"b":1.50,"a":"A"}"#);
/// assert_eq!(value, Json::parse(r#"{"a":"A","b":1.5}"#)?);
/// # Ok::<(), callgate_wire::ValueError>(())
/// ```
#[derive(Clone)]
pub struct Json {
    // INVARIANT: compact JSON text that the strict reader takes.
    text: Box<str>,
}

/// Limits for reading back what this crate wrote: it holds already, and the reader does not recurse.
const OWN: ReadLimits = ReadLimits {
    subject: "value",
    bytes_max: u64::MAX,
    depth_max: u64::MAX,
    nodes_max: u64::MAX,
    number_digits_max: u64::MAX,
    number_exponent_max: u64::MAX,
};

/// Reads back a text of this crate's making.
///
/// # Panics
/// Over 2^30 bytes or 2^24 values, where the reader ends.
pub(super) fn own_tape<'t>(tape: &'t mut Tape, text: &'t str) -> Node<'t> {
    match tape.read(text.as_bytes(), &OWN) {
        Ok(node) => node,
        Err(fault) => unreachable!("a value of the wire is JSON of less than 2^30 bytes: {:?}", fault.kind),
    }
}

impl Json {
    /// `null`.
    pub fn null() -> Json {
        Json { text: "null".into() }
    }

    /// Reads JSON text, within the limits by default.
    ///
    /// # Errors
    /// The codes of the reader, `json-syntax` and others, and `limit-exceeded`.
    pub fn parse(text: impl AsRef<[u8]>) -> Result<Json, ValueError> {
        Json::parse_within(text, &ValueLimits::default())
    }

    /// Reads JSON text.
    ///
    /// # Errors
    /// Those of [`Json::parse`].
    pub fn parse_within(text: impl AsRef<[u8]>, limits: &ValueLimits) -> Result<Json, ValueError> {
        let mut tape = Tape::new();
        let node = tape.read(text.as_ref(), &limits.text()).map_err(|fault| ValueError::read(&fault))?;
        Ok(Json::of(node))
    }

    /// A value that was read.
    pub fn of(node: Node<'_>) -> Json {
        Json::written(compact(node))
    }

    /// What a Rust value is as JSON.
    ///
    /// Whole numbers keep all digits, up to those of 128 bits; keys of maps that are numbers or booleans become texts.
    ///
    /// # Errors
    /// `value-not-json` for a number that is not finite and for a key of another kind; `json-duplicate-name` where two
    /// keys become one text; `limit-exceeded` over the limits by default.
    ///
    /// ```
    /// use callgate_wire::Json;
    /// assert_eq!(Json::serialize(&(1u8, "a", 2.0))?.as_str(), r#"[1,"a",2.0]"#);
    /// assert_eq!(Json::serialize(&f64::NAN).unwrap_err().code(), "value-not-json");
    /// # Ok::<(), callgate_wire::ValueError>(())
    /// ```
    pub fn serialize<T: Serialize + ?Sized>(value: &T) -> Result<Json, ValueError> {
        Json::parse(serialize::text(value)?)
    }

    /// A double; `None` if it is not finite.
    pub fn number(value: f64) -> Option<Json> {
        let mut out = Vec::new();
        // A double is written in ASCII.
        write_f64(&mut out, value).then(|| Json::written(String::from_utf8(out).unwrap_or_default()))
    }

    /// A text that this crate wrote.
    pub(crate) fn written(text: String) -> Json {
        Json { text: text.into_boxed_str() }
    }

    /// The compact text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The compact text.
    pub fn into_string(self) -> String {
        self.text.into_string()
    }

    /// A view of the value and its parts, on a tape that may be used again.
    ///
    /// # Panics
    /// Where the text has 2^30 bytes or more, or 2^24 values.
    ///
    /// ```
    /// use callgate_schema::json::Tape;
    /// use callgate_wire::Json;
    /// let (value, mut tape) = (Json::parse(r#"{"a":[1,2]}"#)?, Tape::new());
    /// assert_eq!(value.read(&mut tape).pointer("/a/1").and_then(|two| two.as_number()?.as_i64()), Some(2));
    /// # Ok::<(), callgate_wire::ValueError>(())
    /// ```
    pub fn read<'t>(&'t self, tape: &'t mut Tape) -> Node<'t> {
        own_tape(tape, &self.text)
    }

    /// The value as an object, if it is one.
    pub fn into_object(self) -> Option<Object> {
        Object::of_text(self.text.into_string())
    }

    /// The text, if the value is one.
    pub fn as_text(&self) -> Option<String> {
        if !self.text.starts_with('"') {
            return None;
        }
        let mut tape = Tape::new();
        self.read(&mut tape).as_str().map(std::borrow::Cow::into_owned)
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Json) -> bool {
        equal_texts(&self.text, &other.text)
    }
}

impl Eq for Json {}

/// Whether two compact texts are equal values.
pub(super) fn equal_texts(a: &str, b: &str) -> bool {
    if a == b {
        return true;
    }
    let (mut left, mut right) = (Tape::new(), Tape::new());
    own_tape(&mut left, a).equals(own_tape(&mut right, b))
}

/// The text itself: what is on the wire is no secret of the gate's.
impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Json {
        let mut out = String::new();
        push_text(&mut out, text);
        Json::written(out)
    }
}

impl From<String> for Json {
    fn from(text: String) -> Json {
        Json::from(text.as_str())
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Json {
        Json { text: if value { "true" } else { "false" }.into() }
    }
}

macro_rules! whole_numbers {
    ($($type_:ty)*) => {$(
        impl From<$type_> for Json {
            fn from(value: $type_) -> Json {
                Json { text: value.to_string().into_boxed_str() }
            }
        }
    )*};
}

whole_numbers! { i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize }

impl From<Object> for Json {
    fn from(object: Object) -> Json {
        Json { text: object.into_string().into_boxed_str() }
    }
}

impl<T: Into<Json>> From<Vec<T>> for Json {
    fn from(items: Vec<T>) -> Json {
        items.into_iter().collect()
    }
}

impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Json {
        value.map_or_else(Json::null, Into::into)
    }
}

impl<T: Into<Json>> FromIterator<T> for Json {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Json {
        let mut out = String::from("[");
        for item in items {
            if out.len() > 1 {
                out.push(',');
            }
            out.push_str(&item.into().text);
        }
        out.push(']');
        Json::written(out)
    }
}

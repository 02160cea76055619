//! Where a value stands within another, and the two ways to print that.

use std::fmt::{self, Write as _};

/// One step from a value to a part of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Step {
    /// To the member of an object.
    Name(String),
    /// To the item of an array, from zero.
    Index(usize),
}

/// The way from a root to a value. Displays as a JSON Pointer (RFC 6901).
///
/// ```
/// use callgate_schema::{Location, Step};
/// let place = Location(vec![Step::Name("a/b".into()), Step::Index(1)]);
/// assert_eq!(place.to_string(), "/a~1b/1");
/// assert_eq!(place.arguments_path(), "$arguments.a/b[1]");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Location(pub Vec<Step>);

impl Location {
    /// The form `$arguments.name[0]`, names verbatim.
    pub fn arguments_path(&self) -> String {
        let mut path = String::from("$arguments");
        for step in &self.0 {
            match step {
                Step::Name(name) => {
                    path.push('.');
                    path.push_str(name);
                }
                Step::Index(index) => {
                    let _ = write!(path, "[{index}]");
                }
            }
        }
        path
    }
}

impl Location {
    /// Bytes of the JSON Pointer, if no name has an escape and indexes are short.
    pub(crate) fn length_about(&self) -> usize {
        let step = |step: &Step| match step {
            Step::Name(name) => 1 + name.len(),
            Step::Index(_) => 4,
        };
        self.0.iter().map(step).sum()
    }

    /// Appends the JSON Pointer.
    pub(crate) fn push_to(&self, text: &mut String) {
        for step in &self.0 {
            text.push('/');
            match step {
                Step::Index(index) => push_index(text, *index),
                // Writing to a `String` does not fail.
                Step::Name(name) => _ = write_escaped(text, name),
            }
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // One step, as most have, is one piece.
        if let [Step::Name(name)] = self.0.as_slice() {
            f.write_char('/')?;
            return write_escaped(f, name);
        }
        let mut text = String::with_capacity(self.length_about());
        self.push_to(&mut text);
        f.write_str(&text)
    }
}

/// Appends an index. Most have one digit, for which the general way takes ten times as long.
pub(crate) fn push_index(text: &mut String, index: usize) {
    match u8::try_from(index) {
        Ok(digit @ 0..10) => text.push(char::from(b'0' + digit)),
        // Writing to a `String` does not fail.
        _ => _ = write!(text, "{index}"),
    }
}

/// `location`, a JSON Pointer, followed by the name of a keyword, which has nothing to escape.
pub(crate) fn joined(location: &str, keyword: &str) -> String {
    let mut joined = String::with_capacity(location.len() + 1 + keyword.len());
    joined.push_str(location);
    joined.push('/');
    joined.push_str(keyword);
    joined
}

/// `location`, a JSON Pointer, followed by one more reference token.
pub(crate) fn below(location: &str, token: &str) -> String {
    let mut below = String::with_capacity(location.len() + 1 + token.len());
    below.push_str(location);
    below.push('/');
    let _ = write_escaped(&mut below, token);
    below
}

/// `location`, followed by the name of a keyword and a token within its value.
pub(crate) fn below_keyword(location: &str, keyword: &str, token: &str) -> String {
    let mut below = String::with_capacity(location.len() + keyword.len() + token.len() + 2);
    below.push_str(location);
    below.push('/');
    below.push_str(keyword);
    below.push('/');
    let _ = write_escaped(&mut below, token);
    below
}

/// Writes one reference token of a JSON Pointer (RFC 6901, section 3).
pub(crate) fn write_escaped(out: &mut impl fmt::Write, token: &str) -> fmt::Result {
    let mut rest = token;
    while let Some(at) = memchr::memchr2(b'~', b'/', rest.as_bytes()) {
        let (plain, escaped) = rest.split_at(at);
        out.write_str(plain)?;
        out.write_str(if escaped.starts_with('~') { "~0" } else { "~1" })?;
        rest = escaped.get(1..).unwrap_or_default();
    }
    out.write_str(rest)
}

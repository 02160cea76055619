//! The id of a request: its exact spelling, and what it is equal to.

use std::fmt;

use callgate_schema::json::{Kind, Node, Number, ReadLimits, Tape, canonical};

/// The id of a request: a string or a whole number.
///
/// Two ids are the same when their values are: `"a"` and `"\u0061"`, `1` and `1.0`. The spelling is kept, because an
/// answer carries the spelling of its request.
#[derive(Clone)]
pub struct RequestId {
    raw: Box<str>,
    value: Box<[u8]>,
}

impl RequestId {
    /// The id that a value is, if it can be one: a string or a whole number of at most `bytes_max` bytes.
    pub fn from_node(node: Node<'_>, bytes_max: usize) -> Option<RequestId> {
        let usable = match node.kind() {
            Kind::String => true,
            Kind::Number => node.as_number().is_some_and(Number::is_integer),
            Kind::Null | Kind::Bool | Kind::Array | Kind::Object => false,
        };
        (usable && node.raw().len() <= bytes_max)
            .then(|| RequestId { raw: node.raw_str().into(), value: canonical(node).into_boxed_slice() })
    }

    /// The id with this JSON text, if it is one.
    pub fn parse(text: &[u8], bytes_max: usize) -> Option<RequestId> {
        if text.len() > bytes_max {
            return None;
        }
        let limits = ReadLimits {
            subject: "id",
            bytes_max: bytes_max as u64,
            depth_max: 0,
            nodes_max: 1,
            number_digits_max: 64,
            number_exponent_max: 64,
        };
        RequestId::from_node(Tape::new().read(text, &limits).ok()?, bytes_max)
    }

    /// The id's JSON text as it came.
    pub fn raw(&self) -> &str {
        &self.raw
    }
}

impl PartialEq for RequestId {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Eq for RequestId {}

impl std::hash::Hash for RequestId {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.value.hash(state);
    }
}

impl fmt::Debug for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.raw)
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.raw)
    }
}

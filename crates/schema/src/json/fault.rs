//! Why a text was not taken, and where.

use crate::{Code, Detail, Finding};

/// The maxima for reading one text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadLimits {
    /// What is read (`schema`, `arguments`, `frame`): the first half of the names of its limits.
    pub subject: &'static str,
    /// Bytes of the text.
    pub bytes_max: u64,
    /// Arrays and objects within each other; a scalar has depth 0.
    pub depth_max: u64,
    /// Values, names not counted.
    pub nodes_max: u64,
    /// Digits of one number, leading zeros of its fraction not counted.
    pub number_digits_max: u64,
    /// The absolute value of one number's exponent as written.
    pub number_exponent_max: u64,
}

/// Why a text was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadFaultKind {
    /// Not JSON (RFC 8259); says what was expected.
    Syntax(&'static str),
    /// Not UTF-8.
    Utf8,
    /// An escape that names half of a surrogate pair.
    Surrogate,
    /// A member name that stands twice in one object.
    DuplicateName {
        /// The name, unescaped.
        name: String,
        /// Byte offset of the first one's opening quote.
        first: usize,
    },
    /// A maximum was exceeded.
    Limit {
        /// The name, such as `arguments_depth`.
        name: String,
        /// The maximum.
        maximum: u64,
    },
}

/// Why a text was not taken, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadFault {
    /// Why.
    pub kind: ReadFaultKind,
    /// Byte offset of the fault. For a repeated name: of the second one's opening quote.
    pub offset: usize,
    /// JSON Pointer of the innermost value that was open; for a repeated name, of that member.
    pub pointer: String,
}

impl ReadFault {
    /// The fault as a finding; `offset` is set, places in a schema or a value are the caller's to add.
    pub fn finding(&self) -> Finding {
        let finding = match &self.kind {
            ReadFaultKind::Syntax(expected) => {
                Finding::new(Code::JsonSyntax, format!("expected {expected} at byte {}", self.offset))
            }
            ReadFaultKind::Utf8 => Finding::new(
                Code::JsonUtf8,
                format!("expected UTF-8, found other bytes at byte {}", self.offset),
            ),
            ReadFaultKind::Surrogate => Finding::new(
                Code::JsonSurrogate,
                format!("expected a whole surrogate pair, found half of one at byte {}", self.offset),
            )
            .with_help("write the character itself, or both halves of its pair"),
            ReadFaultKind::DuplicateName { name, first } => Finding::new(
                Code::JsonDuplicateName,
                format!("expected each member once, found `{name}` at bytes {first} and {}", self.offset),
            )
            .with_help("keep one of the two members")
            .with("property", Detail::Text(name.clone()))
            .with("first_offset", Detail::Count(*first as u64)),
            ReadFaultKind::Limit { name, maximum } => Finding::new(
                Code::LimitExceeded,
                format!("expected at most {maximum} ({name}), found more at byte {}", self.offset),
            )
            .with("limit", Detail::Text(name.clone()))
            .with("maximum", Detail::Count(*maximum)),
        };
        finding.at_offset(self.offset)
    }
}

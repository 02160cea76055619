//! Why reading stops, in few bytes, and how that becomes a fault with its place.

use super::super::fault::{ReadFault, ReadFaultKind, ReadLimits};
use super::super::place::pointer_at;
use super::super::scan::{StringFault, string_fault};
use super::super::skim;
use super::super::text::unescaped;
use crate::location::write_escaped;

/// Why reading stops; [`ReadFault`] in few bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fault {
    pub(super) why: Why,
    pub(super) at: usize,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Why {
    Syntax(&'static str),
    Utf8,
    Surrogate,
    Duplicate { first: usize },
    Depth,
    Nodes(u64),
    Digits,
    Exponent,
}

impl Fault {
    #[cold]
    pub(super) fn expected(expected: &'static str, at: usize) -> Fault {
        Fault { why: Why::Syntax(expected), at }
    }

    /// The fault of the string whose body starts at `body`.
    #[cold]
    pub(super) fn string(text: &[u8], body: usize) -> Fault {
        match string_fault(text, body) {
            (StringFault::Syntax(expected), at) => Fault { why: Why::Syntax(expected), at },
            (StringFault::Surrogate, at) => Fault { why: Why::Surrogate, at },
        }
    }

    #[cold]
    pub(super) fn describe(mut self, text: &[u8], limits: &ReadLimits) -> ReadFault {
        if let Some(at) = earlier_utf8_fault(text, self.at) {
            self = Fault { why: Why::Utf8, at };
        }
        let mut pointer = pointer_at(text, self.at);
        let kind = match self.why {
            Why::Syntax(expected) => ReadFaultKind::Syntax(expected),
            Why::Utf8 => ReadFaultKind::Utf8,
            Why::Surrogate => ReadFaultKind::Surrogate,
            Why::Duplicate { first } => {
                let end = skim::string_end(text, self.at).unwrap_or(text.len());
                let body = text.get(self.at + 1..end).unwrap_or_default();
                let name = String::from_utf8_lossy(&unescaped(body, true)).into_owned();
                pointer.push('/');
                // Writing to a `String` does not fail.
                let _ = write_escaped(&mut pointer, &name);
                ReadFaultKind::DuplicateName { name, first }
            }
            Why::Depth => limit(limits.subject, "depth", limits.depth_max),
            Why::Nodes(maximum) => limit(limits.subject, "nodes", maximum),
            Why::Digits => limit("", "number_digits", limits.number_digits_max),
            Why::Exponent => limit("", "number_exponent", limits.number_exponent_max),
        };
        ReadFault { kind, offset: self.at, pointer }
    }
}

/// The first byte, up to `at`, that is not UTF-8. The walk looks at UTF-8 last, but the earlier fault is named.
fn earlier_utf8_fault(text: &[u8], at: usize) -> Option<usize> {
    // Four more bytes hold the whole of a code point that starts at `at`.
    let before = text.get(..at + 4).unwrap_or(text);
    let error = std::str::from_utf8(before).err()?;
    let cut = error.error_len().is_none() && before.len() < text.len();
    (error.valid_up_to() <= at && !cut).then_some(error.valid_up_to())
}

pub(super) fn limit(subject: &str, what: &str, maximum: u64) -> ReadFaultKind {
    let name = if subject.is_empty() { what.to_owned() } else { format!("{subject}_{what}") };
    ReadFaultKind::Limit { name, maximum }
}

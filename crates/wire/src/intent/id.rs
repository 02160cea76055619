//! The ids of intents and of the processes that open them, and the other numbers of a record.

use std::fmt;

/// A text that is not an id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MalformedId;

impl fmt::Display for MalformedId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected a UUID in lower case with hyphens")
    }
}

impl std::error::Error for MalformedId {}

macro_rules! uuids {
    ($($(#[$doc:meta])* $name:ident,)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Box<str>);

        impl $name {
            /// The id with these bytes, such as those of a UUID of version 7.
            pub fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(hyphenated(bytes).into())
            }

            /// Reads the form that `as_str` gives.
            pub fn parse(text: &str) -> Result<Self, MalformedId> {
                if is_uuid(text) { Ok(Self(text.into())) } else { Err(MalformedId) }
            }

            /// The id as text: a UUID in lower case with hyphens, 36 characters.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

uuids! {
    /// The id of an intent: a UUID of version 7, so that ids sort by the time at which they were made.
    IntentId,
    /// The id of a request for an approval: a UUID of version 7.
    ApprovalId,
    /// One life of one gate: a UUID of version 7 that a process takes at its start. The incarnation on an intent is its
    /// fence: only the process that lives under it may settle the intent.
    Incarnation,
}

impl ApprovalId {
    /// The id of the request that a call makes if it needs one: the same as its intent's would be, so that a call needs
    /// one fresh id. The two kinds of ids never meet.
    pub fn of(intent: &IntentId) -> ApprovalId {
        ApprovalId(intent.0.clone())
    }
}

fn hyphenated(bytes: [u8; 16]) -> String {
    use fmt::Write as _;
    let mut text = String::with_capacity(36);
    for (i, byte) in bytes.iter().enumerate() {
        if matches!(i, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(i, b)| match i {
            8 | 13 | 18 | 23 => b == b'-',
            _ => matches!(b, b'0'..=b'9' | b'a'..=b'f'),
        })
}

/// The how-manieth try of an intent, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Attempt(pub u32);

impl Attempt {
    /// The first try.
    pub const FIRST: Attempt = Attempt(1);
}

/// Milliseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(pub i64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_an_id_reads_back_and_nothing_else_does() {
        let bytes = [0x01, 0x93, 0x7c, 0x00, 0xab, 0xcd, 0x7e, 0xef, 0x80, 0, 0, 0, 0, 0, 0, 0x0f];
        let id = IntentId::from_bytes(bytes);
        assert_eq!(id.as_str(), "01937c00-abcd-7eef-8000-00000000000f");
        assert_eq!(IntentId::parse(id.as_str()), Ok(id));
        for text in ["", "01937C00-abcd-7eef-8000-00000000000f", "01937c00abcd7eef800000000000000f----"] {
            assert_eq!(IntentId::parse(text), Err(MalformedId), "{text}");
        }
    }
}

//! The entries of a tape: sixteen bytes each, in the order of the text.
//!
//! ```text
//! bits   0..32  32..63  63        64..72  72..96                   96..128
//! value  offset length  escaped   kind    more                     aux
//! name   offset length  escaped   NAME    more of its hash         its hash
//! head   the first sixteen bytes of the name, unescaped, zeros after its end
//! ```
//!
//! `more` is the number of members or items; for a short number [`Short`]; for a string 1 if it has an escape that a
//! canonical text does not use. `aux` is, for a container, the index of the entry after its last; for a short number
//! its digits; 1 for `true`. A name is followed by its head, then by the value. Nothing marks the end of a container.
#![expect(clippy::cast_possible_truncation, reason = "the fields of an entry are cut out of two words")]

/// One bit for each kind, so that a set of kinds is a mask.
pub(crate) mod kind {
    pub(crate) const NULL: u8 = 1;
    pub(crate) const BOOL: u8 = 2;
    pub(crate) const NUMBER: u8 = 8;
    pub(crate) const STRING: u8 = 16;
    pub(crate) const ARRAY: u8 = 32;
    pub(crate) const OBJECT: u8 = 64;
    pub(crate) const NAME: u8 = 128;
}

/// The longest text whose offsets and lengths fit an entry.
pub(super) const TEXT_BYTES_MAX: u64 = (1 << 30) - 1;
/// The most values whose counts and links fit an entry.
pub(super) const NODES_MAX: u64 = (1 << 24) - 1;

/// One entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Token(u64, u64);

impl Token {
    /// A string whose body, without quotes, is at `offset`.
    #[inline]
    pub(super) const fn string(offset: usize, length: usize, escapes: Escapes) -> Token {
        Token(place(offset, length, escapes), kind::STRING as u64 | ((escapes as u64) >> 1) << 8)
    }

    /// The name of a member; `hash` is the one of [`super::names::Head`].
    #[inline]
    pub(super) const fn name(offset: usize, length: usize, escapes: Escapes, hash: u64) -> Token {
        Token(place(offset, length, escapes), hash & !0xFF | kind::NAME as u64)
    }

    /// The second entry of a name.
    #[inline]
    pub(super) const fn head(low: u64, high: u64) -> Token {
        Token(low, high)
    }

    /// A number of few digits and no exponent.
    #[inline]
    pub(super) const fn short_number(offset: usize, length: usize, short: Short) -> Token {
        let more = 1 | (short.negative as u64) << 1 | (short.scale as u64) << 2;
        Token(
            place(offset, length, Escapes::None),
            kind::NUMBER as u64 | more << 8 | (short.digits as u64) << 32,
        )
    }

    /// Any other number.
    #[inline]
    pub(super) const fn number(offset: usize, length: usize) -> Token {
        Token(place(offset, length, Escapes::None), kind::NUMBER as u64)
    }

    /// `true`, `false` or `null`.
    #[inline]
    pub(super) const fn literal(offset: usize, length: usize, kind: u8, truth: bool) -> Token {
        Token(place(offset, length, Escapes::None), kind as u64 | (truth as u64) << 32)
    }

    /// An array or object, once its end is known.
    #[inline]
    pub(super) const fn container(offset: usize, length: usize, kind: u8, count: u32, after: usize) -> Token {
        Token(place(offset, length, Escapes::None), kind as u64 | (count as u64) << 8 | (after as u64) << 32)
    }

    #[inline]
    pub(crate) const fn offset(self) -> usize {
        self.0 as u32 as usize
    }

    #[inline]
    pub(crate) const fn length(self) -> usize {
        (self.0 >> 32) as usize & 0x7FFF_FFFF
    }

    #[inline]
    pub(crate) const fn end(self) -> usize {
        self.offset() + self.length()
    }

    /// The length of a string or name without escapes; of others, more than any has.
    #[inline]
    pub(crate) const fn length_and_escaped(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// Has a string or name any escape?
    #[inline]
    pub(crate) const fn escaped(self) -> bool {
        self.0 >> 63 == 1
    }

    /// Has a string an escape that a canonical text does not use?
    #[inline]
    pub(super) const fn needless_escapes(self) -> bool {
        self.1 >> 8 & 1 == 1
    }

    #[inline]
    pub(crate) const fn kind(self) -> u8 {
        self.1 as u8
    }

    /// Members or items.
    #[inline]
    pub(crate) const fn count(self) -> usize {
        self.1 as u32 as usize >> 8
    }

    /// The upper half of the entry's second word: the hash of a name.
    #[inline]
    pub(crate) const fn aux(self) -> u32 {
        (self.1 >> 32) as u32
    }

    /// Is it `true`?
    #[inline]
    pub(super) const fn truth(self) -> bool {
        self.aux() == 1
    }

    /// The number, if the entry holds it.
    #[inline]
    pub(crate) const fn short(self) -> Option<Short> {
        let more = self.1 as u32 >> 8;
        if more & 1 == 0 {
            return None;
        }
        Some(Short { negative: more & 2 != 0, scale: (more >> 2) as u8, digits: self.aux() })
    }

    /// The digits of a short number that is whole and not negative.
    #[inline]
    pub(crate) const fn small(self) -> Option<u32> {
        if self.1 as u32 == kind::NUMBER as u32 | 1 << 8 { Some(self.aux()) } else { None }
    }

    /// The head of a name, of its second entry.
    #[inline]
    pub(crate) const fn head_words(self) -> (u64, u64) {
        (self.0, self.1)
    }

    /// Index of the entry after the value that this entry, at `index`, begins.
    #[inline]
    pub(crate) const fn after(self, index: usize) -> usize {
        if self.kind() & (kind::ARRAY | kind::OBJECT) == 0 { index + 1 } else { self.aux() as usize }
    }
}

/// A number that an entry holds: `digits` divided by ten to the power of `scale`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Short {
    pub(crate) negative: bool,
    /// Digits after the point, at most nine.
    pub(crate) scale: u8,
    pub(crate) digits: u32,
}

/// Which escapes a string has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Escapes {
    None = 0,
    /// Only such as a canonical text uses.
    Canonical = 1,
    /// Also `\/` or `\u`.
    Needless = 3,
}

#[inline]
const fn place(offset: usize, length: usize, escapes: Escapes) -> u64 {
    offset as u64 | (length as u64) << 32 | (escapes as u64 & 1) << 63
}

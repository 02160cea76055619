//! A value as the fast path sees it, wherever it stands.
#![expect(clippy::cast_possible_truncation, reason = "indexes of entries are below 2^26")]

use serde_json::Value;

use crate::json::{Head, Node, Number, Token, first_words, head_within, kind, stands_for};

/// Where values stand. Small enough to be copied.
pub(crate) trait Source<'i>: Copy {
    /// A value.
    type Value: Copy;
    /// The items of an array.
    type Items: Iterator<Item = Self::Value>;
    /// The members of an object.
    type Members: Iterator<Item = (Name, Self::Key, Self::Value)>;
    /// A member's name, to compare it whole.
    type Key: Copy;
    /// Do members come in the order in which somebody wrote them?
    const AS_WRITTEN: bool;

    /// A number of the value's own within its tree, if values have one; they ascend in the order of the text.
    fn index(self, value: Self::Value) -> u32;
    /// The bit of the value's kind.
    fn kind(self, value: Self::Value) -> u8;
    /// Items or members.
    fn count(self, value: Self::Value) -> usize;
    fn items(self, value: Self::Value) -> Self::Items;
    fn members(self, value: Self::Value) -> Self::Members;
    fn name(self, key: Self::Key) -> Name;
    fn is_name(self, key: Self::Key, name: &str) -> bool;
    /// Bytes of a text without escapes; of others, more than any text has.
    fn plain_length(self, value: Self::Value) -> u32;
    /// A text as it stands.
    fn text(self, value: Self::Value) -> Text<'i>;
    /// The first sixteen bytes of a text as it stands, with zeros after its end.
    fn head(self, value: Self::Value) -> (u64, u64);
    /// A whole number of at most nine digits that is not negative.
    fn small(self, value: Self::Value) -> Option<u32>;
    fn decimal(self, value: Self::Value) -> Decimal;
}

/// What tells a member's name from others: its first bytes, hash and length. The length of a name with escapes is none
/// that a name has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Name {
    pub(super) low: u64,
    pub(super) high: u64,
    pub(super) hash: u32,
    pub(super) length: u32,
}

impl Name {
    /// Of a name without escapes.
    #[inline]
    pub(super) fn of(name: &[u8]) -> Name {
        let head = Head::of(name);
        let length = u32::try_from(name.len()).unwrap_or(u32::MAX);
        Name { low: head.low, high: head.high, hash: head.hash32(), length }
    }
}

/// The body of a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text<'i> {
    pub(super) bytes: &'i [u8],
    pub(super) escaped: bool,
}

/// A number as far as the fast path takes it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Decimal {
    /// Divided by ten to the power of the scale, which is at most eighteen; of at most eighteen digits if that is not 0.
    Scaled(i64, u8),
    Float(f64),
    Other,
}

/// Values on a tape.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TapeSource<'i> {
    /// Any value of the tree.
    node: Node<'i>,
}

/// A value's entry and its index.
pub(crate) type TapeValue = (Token, u32);

impl<'i> TapeSource<'i> {
    /// The tree that the value is in.
    #[inline]
    pub(crate) fn of(node: Node<'i>) -> Self {
        TapeSource { node }
    }

    #[inline]
    pub(crate) fn value(node: Node<'i>) -> TapeValue {
        (node.token(), node.index())
    }

    #[inline]
    fn tokens(self) -> &'i [Token] {
        self.node.tokens()
    }

    #[inline]
    fn bytes(self) -> &'i [u8] {
        self.node.text_bytes()
    }

    pub(crate) fn node(self, value: TapeValue) -> Node<'i> {
        self.node.at_index(value.1)
    }

    #[inline(never)]
    fn long_decimal(self, value: TapeValue) -> Decimal {
        match self.node(value).as_number().and_then(Number::small_parts) {
            Some((digits, scale)) => Decimal::Scaled(digits, scale),
            None => Decimal::Other,
        }
    }
}

impl<'i> Source<'i> for TapeSource<'i> {
    type Value = TapeValue;
    type Items = TapeItems<'i>;
    type Members = TapeMembers<'i>;
    /// The index of the name's entry.
    type Key = u32;
    const AS_WRITTEN: bool = true;

    #[inline]
    fn index(self, value: TapeValue) -> u32 {
        value.1
    }

    #[inline]
    fn kind(self, value: TapeValue) -> u8 {
        value.0.kind()
    }

    #[inline]
    fn count(self, value: TapeValue) -> usize {
        value.0.count()
    }

    #[inline]
    fn items(self, value: TapeValue) -> TapeItems<'i> {
        TapeItems { tokens: self.tokens(), at: value.1 + 1, end: value.0.aux() }
    }

    #[inline]
    fn members(self, value: TapeValue) -> TapeMembers<'i> {
        TapeMembers(TapeItems { tokens: self.tokens(), at: value.1 + 1, end: value.0.aux() })
    }

    fn name(self, key: u32) -> Name {
        let at = key as usize;
        match self.tokens().get(at..).and_then(|rest| rest.first_chunk()) {
            Some([name, head]) => name_of(*name, *head),
            None => Name::of(&[]),
        }
    }

    fn is_name(self, key: u32, name: &str) -> bool {
        let key = self.node.at_index(key).token();
        let body = self.bytes().get(key.offset()..key.end()).unwrap_or_default();
        stands_for(body, key.escaped(), name.as_bytes())
    }

    #[inline]
    fn plain_length(self, value: TapeValue) -> u32 {
        value.0.length_and_escaped()
    }

    #[inline]
    fn text(self, value: TapeValue) -> Text<'i> {
        let token = value.0;
        Text {
            bytes: self.bytes().get(token.offset()..token.end()).unwrap_or_default(),
            escaped: token.escaped(),
        }
    }

    #[inline]
    fn head(self, value: TapeValue) -> (u64, u64) {
        let token = value.0;
        head_within(self.bytes(), token.offset(), token.length())
    }

    #[inline]
    fn small(self, value: TapeValue) -> Option<u32> {
        value.0.small()
    }

    #[inline]
    fn decimal(self, value: TapeValue) -> Decimal {
        match value.0.short() {
            Some(short) => {
                let digits = i64::from(short.digits);
                Decimal::Scaled(if short.negative { -digits } else { digits }, short.scale)
            }
            None => self.long_decimal(value),
        }
    }
}

/// The entries of an array's items.
#[derive(Debug, Clone)]
pub(crate) struct TapeItems<'i> {
    tokens: &'i [Token],
    at: u32,
    end: u32,
}

impl Iterator for TapeItems<'_> {
    type Item = TapeValue;

    #[inline]
    fn next(&mut self) -> Option<TapeValue> {
        if self.at >= self.end {
            return None;
        }
        let at = self.at;
        let token = *self.tokens.get(at as usize)?;
        self.at = token.after(at as usize) as u32;
        Some((token, at))
    }
}

/// The entries of an object's members.
#[derive(Debug, Clone)]
pub(crate) struct TapeMembers<'i>(TapeItems<'i>);

impl Iterator for TapeMembers<'_> {
    type Item = (Name, u32, TapeValue);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let TapeItems { tokens, at, end } = self.0;
        if at >= end {
            return None;
        }
        let at = at as usize;
        let [name, head, value] = *tokens.get(at..at + 3)?.first_chunk()?;
        self.0.at = value.after(at + 2) as u32;
        Some((name_of(name, head), at as u32, (value, at as u32 + 2)))
    }
}

/// By its two entries.
#[inline]
fn name_of(name: Token, head: Token) -> Name {
    let (low, high) = head.head_words();
    Name { low, high, hash: name.aux(), length: name.length_and_escaped() }
}

/// A `serde_json::Value`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ValueSource;

impl<'i> Source<'i> for ValueSource {
    type Value = &'i Value;
    type Items = std::slice::Iter<'i, Value>;
    type Members = ValueMembers<'i>;
    type Key = &'i str;
    // In byte order, unless a feature of `serde_json` says otherwise.
    const AS_WRITTEN: bool = false;

    #[inline]
    fn index(self, _: &'i Value) -> u32 {
        0
    }

    #[inline]
    fn kind(self, value: &'i Value) -> u8 {
        match value {
            Value::Null => kind::NULL,
            Value::Bool(_) => kind::BOOL,
            Value::Number(_) => kind::NUMBER,
            Value::String(_) => kind::STRING,
            Value::Array(_) => kind::ARRAY,
            Value::Object(_) => kind::OBJECT,
        }
    }

    #[inline]
    fn count(self, value: &'i Value) -> usize {
        match value {
            Value::Array(items) => items.len(),
            Value::Object(members) => members.len(),
            _ => 0,
        }
    }

    #[inline]
    fn items(self, value: &'i Value) -> Self::Items {
        match value {
            Value::Array(items) => items.iter(),
            _ => [].iter(),
        }
    }

    #[inline]
    fn members(self, value: &'i Value) -> ValueMembers<'i> {
        match value {
            Value::Object(members) => ValueMembers(Some(members.iter())),
            _ => ValueMembers(None),
        }
    }

    fn name(self, key: &'i str) -> Name {
        Name::of(key.as_bytes())
    }

    fn is_name(self, key: &'i str, name: &str) -> bool {
        key == name
    }

    #[inline]
    fn plain_length(self, value: &'i Value) -> u32 {
        match value {
            Value::String(text) => u32::try_from(text.len()).unwrap_or(u32::MAX),
            _ => u32::MAX,
        }
    }

    #[inline]
    fn text(self, value: &'i Value) -> Text<'i> {
        Text { bytes: value.as_str().unwrap_or_default().as_bytes(), escaped: false }
    }

    #[inline]
    fn head(self, value: &'i Value) -> (u64, u64) {
        first_words(value.as_str().unwrap_or_default().as_bytes())
    }

    #[inline]
    fn small(self, value: &'i Value) -> Option<u32> {
        value.as_u64().and_then(|number| u32::try_from(number).ok())
    }

    fn decimal(self, value: &'i Value) -> Decimal {
        let Value::Number(number) = value else { return Decimal::Other };
        if let Some(whole) = number.as_i64() {
            return Decimal::Scaled(whole, 0);
        }
        match number.as_f64() {
            Some(float) if number.is_f64() => Decimal::Float(float),
            _ => Decimal::Other,
        }
    }
}

/// The members of a `serde_json` object.
#[derive(Debug, Clone)]
pub(crate) struct ValueMembers<'i>(Option<serde_json::map::Iter<'i>>);

impl<'i> Iterator for ValueMembers<'i> {
    type Item = (Name, &'i str, &'i Value);

    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "out of line, the parts of a member go through memory: a quarter more"
    )]
    fn next(&mut self) -> Option<Self::Item> {
        let (name, value) = self.0.as_mut()?.next()?;
        Some((Name::of(name.as_bytes()), name, value))
    }
}

/// Whole numbers below this size are each a float of their own.
pub(super) const EXACT_MAX: i64 = 1 << 53;

//! Views of values that were read.
#![expect(clippy::cast_possible_truncation, reason = "indexes of entries are below 2^26")]

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use super::names::{body, name_hash};
use super::number::Number;
use super::text::{char_count, stands_for, unescaped};
use super::token::{Token, kind};
use super::value;

/// The place of a value in its tree, for [`super::Document::node`]. Values have ascending ids in the order of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(u32);

impl NodeId {
    /// The number of the value's entry.
    pub(crate) const fn index(self) -> u32 {
        self.0
    }
}

/// The six kinds of values that JSON has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool,
    /// A number, whole or not.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl Kind {
    /// The name that a schema's `type` has for it.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Null => "null",
            Kind::Bool => "boolean",
            Kind::Number => "number",
            Kind::String => "string",
            Kind::Array => "array",
            Kind::Object => "object",
        }
    }
}

/// A value in a text that was read. A view: two slices and an index.
#[derive(Clone, Copy)]
pub struct Node<'a> {
    tape: &'a [Token],
    text: &'a [u8],
    at: u32,
}

impl<'a> Node<'a> {
    pub(super) const fn root(tape: &'a [Token], text: &'a [u8]) -> Node<'a> {
        Node { tape, text, at: 0 }
    }

    /// Another value of the same tree.
    pub(super) const fn at(self, id: NodeId) -> Node<'a> {
        Node { at: id.0, ..self }
    }

    #[inline]
    pub(crate) fn token(self) -> Token {
        self.tape.get(self.at as usize).copied().unwrap_or_default()
    }

    /// The entries of the whole tree.
    #[inline]
    pub(crate) const fn tokens(self) -> &'a [Token] {
        self.tape
    }

    /// The index of the value's entry.
    #[inline]
    pub(crate) const fn index(self) -> u32 {
        self.at
    }

    /// The value of the same tree whose entry is there.
    pub(crate) const fn at_index(self, at: u32) -> Node<'a> {
        Node { at, ..self }
    }

    /// Which of the six kinds.
    #[inline]
    pub fn kind(self) -> Kind {
        match self.token().kind() {
            kind::OBJECT => Kind::Object,
            kind::ARRAY => Kind::Array,
            kind::STRING => Kind::String,
            kind::NUMBER => Kind::Number,
            kind::BOOL => Kind::Bool,
            _ => Kind::Null,
        }
    }

    /// The value's place in its tree.
    #[inline]
    pub const fn id(self) -> NodeId {
        NodeId(self.at)
    }

    /// The value's exact bytes, quotes and brackets included.
    pub fn raw(self) -> &'a [u8] {
        self.text.get(self.span()).unwrap_or_default()
    }

    /// The value's exact text, quotes and brackets included.
    pub fn raw_str(self) -> &'a str {
        utf8(self.raw())
    }

    /// Where the value stands in the text that was read.
    pub fn span(self) -> Range<usize> {
        let token = self.token();
        let quote = usize::from(token.kind() == kind::STRING);
        token.offset() - quote..token.end() + quote
    }

    /// The whole text that was read.
    #[inline]
    pub const fn text_bytes(self) -> &'a [u8] {
        self.text
    }

    /// Of `true` and `false`.
    #[inline]
    pub fn as_bool(self) -> Option<bool> {
        let token = self.token();
        (token.kind() == kind::BOOL).then(|| token.truth())
    }

    /// The text of a string, unescaped; borrowed when it has no escape.
    pub fn as_str(self) -> Option<Cow<'a, str>> {
        let token = self.token();
        (token.kind() == kind::STRING).then(|| text(self.text, token))
    }

    /// Is it a string that stands for this text?
    pub(crate) fn is_text(self, text: &str) -> bool {
        let token = self.token();
        token.kind() == kind::STRING && stands_for(body(self.text, token), token.escaped(), text.as_bytes())
    }

    /// Of a number.
    pub fn as_number(self) -> Option<Number<'a>> {
        let token = self.token();
        (token.kind() == kind::NUMBER).then(|| Number::of_token(body_str(self.text, token), token.short()))
    }

    /// Is it `null`?
    #[inline]
    pub fn is_null(self) -> bool {
        self.token().kind() == kind::NULL
    }

    /// Members or items; 0 of a scalar.
    #[inline]
    #[expect(clippy::len_without_is_empty, reason = "a scalar is not an empty container")]
    pub fn len(self) -> usize {
        let token = self.token();
        if token.kind() & (kind::ARRAY | kind::OBJECT) == 0 { 0 } else { token.count() }
    }

    /// The items of an array, in their order; none of other values.
    #[inline]
    pub fn items(self) -> Items<'a> {
        let left = if self.token().kind() == kind::ARRAY { self.len() } else { 0 };
        Items { next: Node { at: self.at + 1, ..self }, left }
    }

    /// The members of an object, in the order of the text; none of other values.
    #[inline]
    pub fn members(self) -> Members<'a> {
        let left = if self.token().kind() == kind::OBJECT { self.len() } else { 0 };
        Members { next: Member { name: Node { at: self.at + 1, ..self } }, left }
    }

    /// The value of the member of this name. Looks at the hash of each name before it.
    pub fn member(self, name: &str) -> Option<Node<'a>> {
        let token = self.token();
        if token.kind() != kind::OBJECT {
            return None;
        }
        let hash = name_hash(name);
        let mut at = self.at as usize + 1;
        for _ in 0..token.count() {
            let [found, _, value] = self.tape.get(at..at + 3)?.first_chunk()?;
            if found.aux() == hash && stands_for(body(self.text, *found), found.escaped(), name.as_bytes()) {
                return Some(Node { at: at as u32 + 2, ..self });
            }
            at = value.after(at + 2);
        }
        None
    }

    /// The value at a JSON Pointer (RFC 6901) from here. An index has no leading zeros; `-` is no item.
    pub fn pointer(self, pointer: &str) -> Option<Node<'a>> {
        if pointer.is_empty() {
            return Some(self);
        }
        pointer.strip_prefix('/')?.split('/').try_fold(self, |node, token| match node.kind() {
            Kind::Object => node.member(&pointer_token(token)?),
            Kind::Array => {
                let plain = token.bytes().all(|byte| byte.is_ascii_digit());
                let index = (plain && (token == "0" || !token.starts_with('0'))).then(|| token.parse().ok());
                node.items().nth(index??)
            }
            _ => None,
        })
    }

    /// Equality by value, as JSON Schema has it: numbers by exact value, texts by code points, objects in any order of
    /// their members. Near-linear, without recursion.
    pub fn equals(self, other: Node<'_>) -> bool {
        value::equal(self, other)
    }

    /// A hash that equal values share: that of `1`, `1.0` and `1e0` is one, and the order of members does not matter.
    /// The same in every process; no protection against values that are chosen to collide. Linear, without recursion.
    pub fn value_hash(self) -> u64 {
        value::hash(self)
    }

    /// Code points of a string, after unescaping; 0 of other values. Allocates nothing.
    pub fn char_count(self) -> usize {
        let token = self.token();
        if token.kind() == kind::STRING { char_count(body(self.text, token), token.escaped()) } else { 0 }
    }

    /// The body of a string, without quotes, as it stands in the text.
    pub(super) fn body(self) -> &'a [u8] {
        body(self.text, self.token())
    }

    /// The text of a string as bytes, unescaped.
    pub(super) fn unescaped(self) -> Cow<'a, [u8]> {
        unescaped(self.body(), self.token().escaped())
    }
}

/// Says what and where it is: a value may be large, and secret.
impl fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {:?}", self.kind().name(), self.span())
    }
}

/// The items of an array; see [`Node::items`].
#[derive(Debug, Clone)]
pub struct Items<'a> {
    next: Node<'a>,
    left: usize,
}

impl<'a> Iterator for Items<'a> {
    type Item = Node<'a>;

    #[inline]
    fn next(&mut self) -> Option<Node<'a>> {
        self.left = self.left.checked_sub(1)?;
        let item = self.next;
        self.next.at = item.token().after(item.at as usize) as u32;
        Some(item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Items<'_> {}

/// The members of an object; see [`Node::members`].
#[derive(Debug, Clone)]
pub struct Members<'a> {
    next: Member<'a>,
    left: usize,
}

impl<'a> Iterator for Members<'a> {
    type Item = Member<'a>;

    #[inline]
    fn next(&mut self) -> Option<Member<'a>> {
        self.left = self.left.checked_sub(1)?;
        let member = self.next;
        let value = member.value();
        self.next.name.at = value.token().after(value.at as usize) as u32;
        Some(member)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Members<'_> {}

/// A name and its value.
#[derive(Clone, Copy)]
pub struct Member<'a> {
    /// The entry of the name, which is no value.
    name: Node<'a>,
}

impl<'a> Member<'a> {
    /// The member whose value that is, and not the root's or an item's.
    pub(crate) const fn of_value(value: Node<'a>) -> Member<'a> {
        Member { name: Node { at: value.at.saturating_sub(2), ..value } }
    }

    /// The name, unescaped; borrowed when it has no escape.
    pub fn name(self) -> Cow<'a, str> {
        text(self.name.text, self.name.token())
    }

    /// Is this its name?
    pub fn name_is(self, name: &str) -> bool {
        let token = self.name.token();
        stands_for(body(self.name.text, token), token.escaped(), name.as_bytes())
    }

    /// What [`name_hash`] is for its name, without looking at the text.
    #[inline]
    pub fn name_hash(self) -> u32 {
        self.name.token().aux()
    }

    /// Where its name stands in the text that was read, with its quotes.
    pub fn name_span(self) -> Range<usize> {
        let token = self.name.token();
        token.offset() - 1..token.end() + 1
    }

    /// Its value.
    #[inline]
    pub fn value(self) -> Node<'a> {
        Node { at: self.name.at + 2, ..self.name }
    }

    /// The name as bytes, unescaped.
    pub(crate) fn name_bytes(self) -> Cow<'a, [u8]> {
        self.name.unescaped()
    }

    pub(super) fn name_token(self) -> Token {
        self.name.token()
    }

    /// The name's first sixteen bytes, with zeros after its end.
    pub(super) fn name_head(self) -> (u64, u64) {
        Node { at: self.name.at + 1, ..self.name }.token().head_words()
    }
}

impl fmt::Debug for Member<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "member at {:?}", self.name_span())
    }
}

fn text(text: &[u8], token: Token) -> Cow<'_, str> {
    if !token.escaped() {
        return Cow::Borrowed(body_str(text, token));
    }
    // INVARIANT: what the reader took is UTF-8, and unescaping adds whole code points.
    let bytes = unescaped(body(text, token), true).into_owned();
    Cow::Owned(String::from_utf8(bytes).unwrap_or_default())
}

/// What stands between the places that the reader found, which are between code points.
#[inline]
fn body_str(text: &[u8], token: Token) -> &str {
    utf8(body(text, token))
}

/// A part of a text that the reader took, cut between code points.
fn utf8(part: &[u8]) -> &str {
    // INVARIANT: the reader takes nothing else than UTF-8.
    simdutf8::basic::from_utf8(part).unwrap_or_default()
}

/// One token of a JSON Pointer without its escapes.
fn pointer_token(token: &str) -> Option<Cow<'_, str>> {
    let mut parts = token.split('~');
    let first = parts.next()?;
    let mut name = Cow::Borrowed(first);
    for part in parts {
        let (c, rest) = match part.as_bytes().first()? {
            b'0' => ('~', part.get(1..)?),
            b'1' => ('/', part.get(1..)?),
            _ => return None,
        };
        let name = name.to_mut();
        name.push(c);
        name.push_str(rest);
    }
    Some(name)
}

//! The one text that equal values share, and digests over it.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

use super::node::{Items, Kind, Member, Node};
use super::number::Decimal;
use super::scan::HIGH;
use super::text::{hex4, write_escaped};

/// The canonical text of a value.
///
/// That of RFC 8785: no white space, the fewest escapes, members in the order of their UTF-16 units; and numbers as
/// ECMA-262 lays them out (`Number::toString`), but with their exact digits and exponent, so that it differs from
/// RFC 8785 only for numbers that a double does not hold. Without recursion.
pub fn canonical(node: Node<'_>) -> Vec<u8> {
    let mut out = Vec::with_capacity(node.raw().len());
    let mut open: Vec<Open<'_>> = Vec::new();
    let mut value = Some(node);
    while let Some(node) = value {
        match node.kind() {
            Kind::Null | Kind::Bool => out.extend_from_slice(node.raw()),
            Kind::Number => write_number(&mut out, node),
            Kind::String => write_text(&mut out, node),
            Kind::Array => {
                out.push(b'[');
                open.push(Open::Array(node.items()));
            }
            Kind::Object => {
                out.push(b'{');
                open.push(Open::Object(sorted(node).into_iter()));
            }
        }
        value = next_value(&mut out, &mut open);
    }
    out
}

/// SHA-256 over `callgate/<kind>/1`, a line feed and the canonical text.
pub fn digest(kind: &str, node: Node<'_>) -> Digest {
    let mut hasher = domain(kind);
    hasher.update(canonical(node));
    Digest(hasher.finalize().into())
}

/// A container whose parts are being written.
enum Open<'a> {
    Array(Items<'a>),
    Object(std::vec::IntoIter<(u64, Member<'a>)>),
}

/// Writes what stands before the next value, brackets that close included.
fn next_value<'a>(out: &mut Vec<u8>, open: &mut Vec<Open<'a>>) -> Option<Node<'a>> {
    while let Some(innermost) = open.last_mut() {
        let first = matches!(out.last(), Some(b'[' | b'{'));
        let (next, close) = match innermost {
            Open::Array(items) => (items.next().map(|item| (None, item)), b']'),
            Open::Object(members) => (members.next().map(|(_, member)| (Some(member), member.value())), b'}'),
        };
        if let Some((member, value)) = next {
            if !first {
                out.push(b',');
            }
            if let Some(member) = member {
                write_name(out, member);
                out.push(b':');
            }
            return Some(value);
        }
        out.push(close);
        open.pop();
    }
    None
}

/// The members by name, in the order of UTF-16 units.
fn sorted(node: Node<'_>) -> Vec<(u64, Member<'_>)> {
    // The first eight bytes stand beside the view, so that most comparisons do not go back to the text.
    let mut members: Vec<_> =
        node.members().map(|member| (member.name_head().0.swap_bytes(), member)).collect();
    if members.iter().any(|(_, member)| member.name_token().escaped()) {
        members.sort_by_cached_key(|(_, member)| Units(member.name_bytes()));
    } else if !members.is_sorted_by(|a, b| name_order(a, b).is_lt()) {
        members.sort_unstable_by(name_order);
    }
    members
}

/// A name that was unescaped once, in the order of its units.
#[derive(PartialEq, Eq)]
struct Units<'a>(Cow<'a, [u8]>);

impl Ord for Units<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        utf16_order(&self.0, &other.0)
    }
}

impl PartialOrd for Units<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn name_order((x, a): &(u64, Member<'_>), (y, b): &(u64, Member<'_>)) -> Ordering {
    // In ASCII the order of bytes is that of units.
    if x != y && (x | y) & HIGH == 0 { x.cmp(y) } else { utf16_order(&a.name_bytes(), &b.name_bytes()) }
}

/// The order of two texts by UTF-16 units. It is that of their bytes but for code points beyond U+FFFF, which are
/// surrogates there and so stand before U+E000 to U+FFFF.
fn utf16_order(a: &[u8], b: &[u8]) -> Ordering {
    // Whole words tell quickly how far long names are the same.
    let same = a.chunks_exact(16).zip(b.chunks_exact(16)).take_while(|(a, b)| a == b).count() * 16;
    let (a, b) = (a.get(same..).unwrap_or_default(), b.get(same..).unwrap_or_default());
    let rank = |byte: u8| if matches!(byte, 0xEE | 0xEF) { byte + 0x10 } else { byte };
    a.iter().map(|&byte| rank(byte)).cmp(b.iter().map(|&byte| rank(byte)))
}

fn write_name(out: &mut Vec<u8>, member: Member<'_>) {
    out.push(b'"');
    let name = member.name_bytes();
    if member.name_token().escaped() {
        write_escaped(out, &name);
    } else {
        out.extend_from_slice(&name);
    }
    out.push(b'"');
}

fn write_text(out: &mut Vec<u8>, node: Node<'_>) {
    if node.token().needless_escapes() {
        out.push(b'"');
        write_escaped(out, &node.unescaped());
        out.push(b'"');
    } else {
        out.extend_from_slice(node.raw());
    }
}

fn write_number(out: &mut Vec<u8>, node: Node<'_>) {
    let raw = node.raw();
    // A short number that has no point is written as it is; a lone minus zero is not.
    if node.token().short().is_some_and(|short| short.scale == 0 && (short.digits != 0 || !short.negative)) {
        out.extend_from_slice(raw);
    } else if let Some(number) = node.as_number() {
        write_decimal(out, &number.decimal());
    }
}

/// ECMA-262, `Number::toString`, for a value that is exact.
fn write_decimal(out: &mut Vec<u8>, decimal: &Decimal<'_>) {
    // SPEC: the names are those of ECMA-262: `k` digits, and the point after `n` of them.
    let (n, exponent) = (decimal.point(), decimal.exponent);
    if decimal.negative {
        out.push(b'-');
    }
    if decimal.count == 0 {
        out.push(b'0');
    } else if exponent >= 0 && n <= 21 {
        out.extend(decimal.digits());
        out.extend((0..exponent).map(|_| b'0'));
    } else if 0 < n && n <= 21 {
        let whole = usize::try_from(n).unwrap_or(0);
        out.extend(decimal.digits().take(whole));
        out.push(b'.');
        out.extend(decimal.digits().skip(whole));
    } else if -6 < n && n <= 0 {
        out.extend_from_slice(b"0.");
        out.extend((n..0).map(|_| b'0'));
        out.extend(decimal.digits());
    } else {
        out.extend(decimal.digits().take(1));
        if decimal.count > 1 {
            out.push(b'.');
            out.extend(decimal.digits().skip(1));
        }
        out.push(b'e');
        out.push(if n > 0 { b'+' } else { b'-' });
        out.extend_from_slice((n - 1).unsigned_abs().to_string().as_bytes());
    }
}

/// A SHA-256 digest of this project's making. Displays as 64 lower-case hexadecimal digits.
#[derive(Default, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

impl Digest {
    /// SHA-256 over `callgate/<kind>/1`, a line feed, and each part after its length (eight bytes, big-endian), so that
    /// no two lists of parts are one text.
    pub fn of(kind: &str, parts: &[&[u8]]) -> Digest {
        let mut hasher = domain(kind);
        for part in parts {
            hasher.update((part.len() as u64).to_be_bytes());
            hasher.update(part);
        }
        Digest(hasher.finalize().into())
    }

    /// The digest itself.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

fn domain(kind: &str) -> Sha256 {
    let mut hasher = Sha256::new();
    hasher.update(b"callgate/");
    hasher.update(kind);
    hasher.update(b"/1\n");
    hasher
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that is not 64 lower-case hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParseDigestError;

impl fmt::Display for ParseDigestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected 64 lower-case hexadecimal digits")
    }
}

impl std::error::Error for ParseDigestError {}

impl FromStr for Digest {
    type Err = ParseDigestError;

    fn from_str(text: &str) -> Result<Digest, ParseDigestError> {
        let text = text.as_bytes();
        if text.len() != 64 || text.iter().any(u8::is_ascii_uppercase) {
            return Err(ParseDigestError);
        }
        let mut digest = [0; 32];
        for (pair, two) in digest.chunks_exact_mut(2).zip(text.chunks_exact(4)) {
            let value = hex4(two).and_then(|value| u16::try_from(value).ok()).ok_or(ParseDigestError)?;
            pair.copy_from_slice(&value.to_be_bytes());
        }
        Ok(Digest(digest))
    }
}

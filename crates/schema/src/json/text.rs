//! The texts within JSON strings: taking escapes away and putting them in.

use std::borrow::Cow;

use super::scan::{stops, word};

/// Appends `text` as a JSON string with the fewest escapes (RFC 8785, section 3.2.2.2).
pub fn write_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    write_escaped(out, text.as_bytes());
    out.push(b'"');
}

/// Appends the body of a string, without its quotes.
pub(super) fn write_escaped(out: &mut Vec<u8>, text: &[u8]) {
    let mut rest = text;
    loop {
        let (plain, tail) = rest.split_at_checked(plain_length(rest)).unwrap_or((rest, &[]));
        out.extend_from_slice(plain);
        let Some((&byte, tail)) = tail.split_first() else { return };
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            0x08 => out.extend_from_slice(b"\\b"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\n' => out.extend_from_slice(b"\\n"),
            0x0C => out.extend_from_slice(b"\\f"),
            b'\r' => out.extend_from_slice(b"\\r"),
            _ => out.extend_from_slice(&[b'\\', b'u', b'0', b'0', b'0' + (byte >> 4), hex_digit(byte & 15)]),
        }
        rest = tail;
    }
}

/// How many bytes at the start of a text need no escape.
fn plain_length(text: &[u8]) -> usize {
    let mut at = 0;
    loop {
        // Past the end there are zeros, which stop it.
        let stop = stops(word(text, at));
        if stop != 0 {
            return text.len().min(at + (stop.trailing_zeros() >> 3) as usize);
        }
        at += 8;
    }
}

const fn hex_digit(value: u8) -> u8 {
    if value < 10 { b'0' + value } else { b'a' + value - 10 }
}

/// The text that the body of a string stands for. The body is one that the reader took.
pub(super) fn unescaped(body: &[u8], escaped: bool) -> Cow<'_, [u8]> {
    if !escaped {
        return Cow::Borrowed(body);
    }
    let mut text = Vec::with_capacity(body.len());
    unescape_into(&mut text, body);
    Cow::Owned(text)
}

/// Appends the text that the body of a string stands for.
pub(super) fn unescape_into(out: &mut Vec<u8>, body: &[u8]) {
    for piece in Pieces(body) {
        match piece {
            Piece::Plain(bytes) => out.extend_from_slice(bytes),
            Piece::Escape(c) => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}

/// Does the body of a string stand for exactly `text`?
pub(crate) fn stands_for(body: &[u8], escaped: bool, text: &[u8]) -> bool {
    if !escaped {
        return body == text;
    }
    let mut rest = text;
    for piece in Pieces(body) {
        let after = match piece {
            Piece::Plain(bytes) => rest.strip_prefix(bytes),
            Piece::Escape(c) => rest.strip_prefix(c.encode_utf8(&mut [0; 4]).as_bytes()),
        };
        let Some(after) = after else { return false };
        rest = after;
    }
    rest.is_empty()
}

/// Code points of the text that the body of a string stands for.
pub(crate) fn char_count(body: &[u8], escaped: bool) -> usize {
    if !escaped {
        return char_starts(body);
    }
    Pieces(body)
        .map(|piece| match piece {
            Piece::Plain(bytes) => char_starts(bytes),
            Piece::Escape(_) => 1,
        })
        .sum()
}

/// Bytes that are not the continuation of a code point.
pub(super) fn char_starts(text: &[u8]) -> usize {
    text.iter().filter(|&&byte| byte & 0xC0 != 0x80).count()
}

/// The value of the four hexadecimal digits at the start of `text`.
pub(super) fn hex4(text: &[u8]) -> Option<u32> {
    text.get(..4)?.iter().try_fold(0, |value, &byte| Some(value << 4 | char::from(byte).to_digit(16)?))
}

/// A stretch of a string's body.
enum Piece<'a> {
    Plain(&'a [u8]),
    Escape(char),
}

/// The stretches of a string's body that the reader took.
struct Pieces<'a>(&'a [u8]);

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        let body = self.0;
        let plain = memchr::memchr(b'\\', body).unwrap_or(body.len());
        if plain > 0 {
            let (bytes, rest) = body.split_at(plain);
            self.0 = rest;
            return Some(Piece::Plain(bytes));
        }
        let (&letter, mut rest) = body.get(1..)?.split_first()?;
        let c = match letter {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'u' => {
                let mut unit = hex4(rest)?;
                rest = rest.get(4..)?;
                if (0xD800..0xDC00).contains(&unit) {
                    let low = hex4(rest.get(2..)?)?;
                    unit = 0x1_0000 + ((unit - 0xD800) << 10) + low.checked_sub(0xDC00)?;
                    rest = rest.get(6..)?;
                }
                char::from_u32(unit)?
            }
            other => char::from(other),
        };
        self.0 = rest;
        Some(Piece::Escape(c))
    }
}

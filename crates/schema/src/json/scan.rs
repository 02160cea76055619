//! Scans of bytes by words: white space, and the end of a string.
#![expect(
    clippy::cast_possible_truncation,
    reason = "offsets are below 2^30, which the reader makes sure of"
)]

use super::text::hex4;
use super::token::Escapes;

const ONES: u64 = 0x0101_0101_0101_0101;
pub(super) const HIGH: u64 = 0x8080_8080_8080_8080;

/// The byte at `at`; 0 past the end, which no place of the grammar takes.
#[inline]
pub(super) fn byte(text: &[u8], at: usize) -> u8 {
    match text.get(at) {
        Some(&byte) => byte,
        None => 0,
    }
}

/// The index of the first byte from `at` on that is not white space.
#[inline]
pub(super) fn space(text: &[u8], at: usize) -> usize {
    if byte(text, at) > b' ' { at } else { space_end(text, at) }
}

#[inline(never)]
pub(super) fn space_end(text: &[u8], mut at: usize) -> usize {
    // Deep indents by words; the rest by bytes, which branch predictors like better than counting zeros.
    if byte(text, at) == b'\n' {
        at += 1;
        while text.get(at..at + 8) == Some(b"        ") {
            at += 8;
        }
    }
    while matches!(byte(text, at), b' ' | b'\n' | b'\t' | b'\r') {
        at += 1;
    }
    at
}

/// Eight bytes at `at`, the first lowest, with zeros past the end.
#[inline]
pub(super) fn word(text: &[u8], at: usize) -> u64 {
    // The cut, which changes nothing, tells the compiler that `at + 8` does not overflow.
    let at = at as u32 as usize;
    match text.get(at..at + 8).and_then(|bytes| bytes.first_chunk()) {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => last_word(text, at),
    }
}

/// The four bytes at `at`, the first lowest; 0 if there are fewer.
#[inline]
pub(super) fn four(text: &[u8], at: usize) -> u32 {
    let at = at as u32 as usize;
    match text.get(at..at + 4).and_then(|bytes| bytes.first_chunk()) {
        Some(bytes) => u32::from_le_bytes(*bytes),
        None => 0,
    }
}

/// The two bytes at `at`, in the same way.
#[inline]
pub(super) fn two(text: &[u8], at: usize) -> u16 {
    let at = at as u32 as usize;
    match text.get(at..at + 2).and_then(|bytes| bytes.first_chunk()) {
        Some(bytes) => u16::from_le_bytes(*bytes),
        None => 0,
    }
}

/// The same where fewer than eight bytes are left.
#[inline(never)]
fn last_word(text: &[u8], at: usize) -> u64 {
    let rest = text.get(at..).unwrap_or_default();
    let Some(last) = text.last_chunk() else { return short_word(rest) };
    match 8 - rest.len() as u32 {
        8 => 0,
        missing => u64::from_le_bytes(*last) >> (8 * missing),
    }
}

/// A text of less than eight bytes.
#[inline]
fn short_word(text: &[u8]) -> u64 {
    if let (Some(first), Some(last)) = (text.first_chunk(), text.last_chunk()) {
        // Where the two overlap they are the same.
        let last = u64::from(u32::from_le_bytes(*last));
        return u64::from(u32::from_le_bytes(*first)) | last << (8 * (text.len() - 4));
    }
    text.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// The first sixteen bytes of a text that stands alone, with zeros after its end.
#[inline]
pub(crate) fn first_words(text: &[u8]) -> (u64, u64) {
    let (Some(low), Some(last)) = (text.first_chunk(), text.last_chunk()) else {
        return (short_word(text), 0);
    };
    let low = u64::from_le_bytes(*low);
    match text.len() {
        8 => (low, 0),
        length @ 9..16 => (low, u64::from_le_bytes(*last) >> (8 * (16 - length))),
        _ => (low, word(text, 8)),
    }
}

/// The first sixteen of the `length` bytes at `at`, with zeros after them.
#[inline]
pub(crate) fn head_within(text: &[u8], at: usize, length: usize) -> (u64, u64) {
    let low = word(text, at);
    match length {
        0..8 => (low & ((1 << (8 * length)) - 1), 0),
        8..16 => (low, word(text, at + 8) & ((1 << (8 * (length - 8))) - 1)),
        _ => (low, word(text, at + 8)),
    }
}

/// The lowest bit that is set marks the first quote, backslash or control byte of the word. Higher bits may lie.
#[inline]
pub(super) const fn stops(word: u64) -> u64 {
    // Flipping bit 1 moves the quote (0x22) down to the control bytes, and nothing else across 0x21.
    let low = (word ^ (ONES * 2)).wrapping_sub(ONES * 0x21);
    let backslash = (word ^ (ONES * b'\\' as u64)).wrapping_sub(ONES);
    (low | backslash) & !word & HIGH
}

/// A mask of the bytes below the lowest one that is marked in `stops`.
#[inline]
pub(super) const fn below(stops: u64) -> u64 {
    let lowest = stops >> 7;
    lowest.wrapping_sub(1) & !lowest
}

/// The end of a string.
#[derive(Clone, Copy)]
pub(super) struct StringEnd {
    /// Index of the closing quote.
    pub(super) quote: usize,
    pub(super) escapes: Escapes,
    /// Has its highest bits set if any byte of the string has; the rest means nothing.
    pub(super) bits: u64,
}

/// Where the string ends whose body starts at `at`, or goes on there and has had no escape yet. None if it is not good
/// JSON; [`string_fault`] says why.
#[inline(never)]
pub(super) fn string_end(text: &[u8], mut at: usize) -> Option<StringEnd> {
    let mut end = StringEnd { quote: 0, escapes: Escapes::None, bits: 0 };
    loop {
        let (stop, bits) = next_stop(text, at);
        end.bits |= bits;
        at = stop;
        match byte(text, at) {
            b'"' => {
                end.quote = at;
                return Some(end);
            }
            b'\\' => {}
            _ => return None,
        }
        if end.escapes == Escapes::None {
            end.escapes = Escapes::Canonical;
        }
        match byte(text, at + 1) {
            b'n' | b'"' | b't' | b'r' | b'b' | b'f' => {
                let (after, high) = escaped_blocks(text, at + 2);
                end.bits |= high;
                at = after;
            }
            b'\\' => at += 2,
            b'/' => {
                end.escapes = Escapes::Needless;
                at += 2;
            }
            b'u' => {
                end.escapes = Escapes::Needless;
                at = unicode_escape_end(text, at)?;
            }
            _ => return None,
        }
    }
}

/// Index after as many blocks from `at` on as have nothing but plain bytes and the usual escapes, and the bytes or-ed.
/// The byte before `at` is no backslash. The index is never within an escape.
#[expect(clippy::needless_bitwise_bool, reason = "without branches the compiler takes many bytes at a time")]
fn escaped_blocks(text: &[u8], mut at: usize) -> (usize, u64) {
    let mut bits = 0;
    // Is the byte before the block a backslash that begins an escape?
    let mut open = false;
    while let (Some(before), Some(block)) = (chunk(text, at - 1), chunk(text, at)) {
        let (mut stop, mut high) = (false, 0u8);
        // Each byte on its own, so that the compiler takes many at a time.
        for (&byte, &before) in block.iter().zip(before) {
            let escaped = before == b'\\';
            let letter = (byte == b'n') | (byte == b'"') | (byte == b't') | (byte == b'r');
            stop |= (escaped & !letter) | (byte < 0x20) | ((byte == b'"') & !escaped);
            high |= byte;
        }
        if stop {
            break;
        }
        bits |= u64::from(high) << 56;
        open = block.last() == Some(&b'\\');
        at += 64;
    }
    (at - usize::from(open), bits)
}

#[inline]
fn chunk(text: &[u8], at: usize) -> Option<&[u8; 64]> {
    let at = at as u32 as usize;
    text.get(at..at + 64)?.first_chunk()
}

/// Index after the escape of `\u` and four digits at `at`, or after the two that make a surrogate pair.
fn unicode_escape_end(text: &[u8], at: usize) -> Option<usize> {
    match hex4(text.get(at + 2..)?)? {
        0xD800..=0xDBFF => {
            let low = text.get(at + 6..)?.strip_prefix(b"\\u")?;
            (0xDC00..=0xDFFF).contains(&hex4(low)?).then_some(at + 12)
        }
        0xDC00..=0xDFFF => None,
        _ => Some(at + 6),
    }
}

/// The first quote, backslash or control byte from `at` on (the end of the text is one), and the bytes before it or-ed.
#[inline]
fn next_stop(text: &[u8], mut at: usize) -> (usize, u64) {
    let mut bits = 0;
    while let Some(block) = block(text, at) {
        // Each byte on its own, so that the compiler takes many at a time.
        let (mut stop, mut high) = (false, 0u8);
        for &byte in block {
            stop |= byte == b'"';
            stop |= byte == b'\\';
            stop |= byte < 0x20;
            high |= byte;
        }
        bits |= u64::from(high) << 56;
        if stop {
            break;
        }
        at += 32;
    }
    loop {
        let word = word(text, at);
        let stops = stops(word);
        bits |= word;
        if stops != 0 {
            return (at + (stops.trailing_zeros() >> 3) as usize, bits);
        }
        at += 8;
    }
}

#[inline]
fn block(text: &[u8], at: usize) -> Option<&[u8; 32]> {
    let at = at as u32 as usize;
    text.get(at..at + 32)?.first_chunk()
}

/// What is wrong with a string.
pub(super) enum StringFault {
    Syntax(&'static str),
    Surrogate,
}

/// What is wrong with the string whose body starts at `at`, and where: bytes again, since [`string_end`] does not say.
#[cold]
pub(super) fn string_fault(text: &[u8], mut at: usize) -> (StringFault, usize) {
    loop {
        match text.get(at) {
            None => return (StringFault::Syntax("a closing quote"), at),
            Some(0..0x20) => return (StringFault::Syntax("an escape for a control character"), at),
            Some(b'\\') => {}
            Some(_) => {
                at += 1;
                continue;
            }
        }
        match text.get(at + 1) {
            Some(b'u') => match unicode_escape_end(text, at) {
                Some(end) => at = end,
                None if text.get(at + 2..).and_then(hex4).is_some() => return (StringFault::Surrogate, at),
                None => return (StringFault::Syntax("four hexadecimal digits"), at),
            },
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => at += 2,
            _ => return (StringFault::Syntax("one of `\"\\/bfnrtu` after the backslash"), at),
        }
    }
}

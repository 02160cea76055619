//! What is done to a message: to its bytes, and to its JSON as text, so that also what no writer of JSON writes comes about.

use super::super::lot::Lot;

/// The most changes to one message.
const CHANGES_MAX: u64 = 3;
/// The deepest nesting that is put in.
const DEPTH_MAX: u64 = 4_000;
/// The longest text that is put in.
const TEXT_BYTES_MAX: u64 = 64 << 10;

/// Values that a member gets in place of its own.
const ODD_VALUES: &[&str] = &[
    "null",
    "true",
    "[]",
    "{}",
    "\"\"",
    "0",
    "-1",
    "1.5",
    "-0",
    "1e999999",
    "1E+2",
    "0.1e-400",
    "01",
    "+1",
    "NaN",
    "123456789012345678901234567890",
    "18446744073709551616",
    "\"\\u0000\"",
    "\"\\ud800\"",
    "\"\\udc00\\ud800\"",
    "\"tools/call\"",
    "\"2026-07-28\"",
    "\"2.0\"",
    "[[]]",
    "{\"a\":1,\"a\":2}",
    "'x'",
    "// x",
    "\"\u{feff}\"",
];
/// Members that are put in, often a second time.
const ODD_MEMBERS: &[&str] = &[
    "\"id\":1",
    "\"id\":null",
    "\"id\":\"other\"",
    "\"method\":\"tools/call\"",
    "\"method\":\"ping\"",
    "\"params\":{}",
    "\"name\":\"free\"",
    "\"arguments\":{}",
    "\"jsonrpc\":\"2.0\"",
    "\"_meta\":{}",
    "\"\":0",
    "\"Method\":\"tools/call\"",
    "\"marker\":\"other\"",
    "\"count\":3",
    "\"__proto__\":{}",
    "\"result\":{}",
    "\"error\":{}",
    "\"\\u0069d\":9",
];
/// Bytes that are put in anywhere.
const ODD_BYTES: &[&[u8]] = &[
    b"\0",
    b"\xff",
    b"\xc0\x80",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\n",
    b"\r",
    b"\r\n",
    b"\t",
    b" ",
    b"\\",
    b"\"",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\xef\xbb\xbf",
    b"\x1b[2J",
    b"\x7f",
    b"\xe2\x80\xa8",
    b"\\u",
    b"\\ud83e",
];

/// The message after one change to three of them.
pub(super) fn mutated(mut bytes: Vec<u8>, lot: &mut Lot) -> Vec<u8> {
    for _ in 0..=lot.up_to(CHANGES_MAX - 1) {
        bytes = change(bytes, lot);
    }
    bytes
}

fn change(bytes: Vec<u8>, lot: &mut Lot) -> Vec<u8> {
    match lot.up_to(16) {
        0 => flip(bytes, lot),
        1 | 2 => {
            let odd = pick(ODD_BYTES, lot).to_vec();
            let at = index(bytes.len(), lot);
            insert(bytes, at, &odd)
        }
        3 => {
            let (from, to) = range(bytes.len(), lot);
            splice(bytes, from, to, b"")
        }
        4 => {
            let at = index(bytes.len(), lot);
            bytes.into_iter().take(at).collect()
        }
        5 => {
            let (from, to) = range(bytes.len(), lot);
            let part = bytes.get(from..to).unwrap_or_default().to_vec();
            let at = index(bytes.len(), lot);
            insert(bytes, at, &part)
        }
        6 | 7 => {
            let member = format!("{},", pick(ODD_MEMBERS, lot));
            after(bytes, b'{', member.as_bytes(), lot)
        }
        8 => escape(bytes, lot),
        9 | 10 => {
            let odd = pick(ODD_VALUES, lot);
            replace_value(bytes, odd.as_bytes(), lot)
        }
        11 => {
            let deep = nested(lot);
            replace_value(bytes, deep.as_bytes(), lot)
        }
        12 => {
            let length = usize::try_from(lot.up_to(TEXT_BYTES_MAX)).unwrap_or(0);
            let text = format!("\"{}\"", "x".repeat(length));
            replace_value(bytes, text.as_bytes(), lot)
        }
        13 => batch(&bytes, lot),
        14 => {
            let between: &[u8] = pick(&[b" ".as_slice(), b"\r", b"", b",", b"\n", b"\x1e"], lot);
            [&bytes, between, &bytes].concat()
        }
        15 => {
            let before: &[u8] = pick(&[b"\xef\xbb\xbf".as_slice(), b"  ", b"\t", b"\x0c", b"\xff\xfe"], lot);
            insert(bytes, 0, before)
        }
        _ => other_case(bytes, lot),
    }
}

fn nested(lot: &mut Lot) -> String {
    let depth = usize::try_from(lot.up_to(DEPTH_MAX)).unwrap_or(0);
    match lot.up_to(2) {
        0 => format!("{}{}", "[".repeat(depth), "]".repeat(depth)),
        1 => format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth)),
        _ => "[{\"a\":".repeat(depth),
    }
}

fn batch(bytes: &[u8], lot: &mut Lot) -> Vec<u8> {
    match lot.up_to(2) {
        0 => [b"[", bytes, b"]"].concat(),
        1 => [b"[", bytes, b",", bytes, b"]"].concat(),
        _ => b"[]".to_vec(),
    }
}

fn flip(mut bytes: Vec<u8>, lot: &mut Lot) -> Vec<u8> {
    let (at, bit) = (index(bytes.len(), lot), lot.up_to(7));
    if let Some(byte) = bytes.get_mut(at) {
        *byte ^= 1 << bit;
    }
    bytes
}

/// A letter within a text becomes its escape, in names and in values.
fn escape(bytes: Vec<u8>, lot: &mut Lot) -> Vec<u8> {
    let letters = places(&bytes, |pair| matches!(pair, [b'"', letter] if letter.is_ascii_lowercase()));
    let Some(at) = chosen(&letters, lot) else { return bytes };
    let letter = bytes.get(at + 1).copied().unwrap_or_default();
    splice(bytes, at + 1, at + 2, format!("\\u{:04x}", u32::from(letter)).as_bytes())
}

/// The first letter of a text changes its case.
fn other_case(mut bytes: Vec<u8>, lot: &mut Lot) -> Vec<u8> {
    let letters = places(&bytes, |pair| matches!(pair, [b'"', letter] if letter.is_ascii_alphabetic()));
    if let Some(byte) = chosen(&letters, lot).and_then(|at| bytes.get_mut(at + 1)) {
        *byte ^= 0x20;
    }
    bytes
}

/// The value of a member becomes another. Its end is found by the next comma or bracket, which is right for scalars, and for
/// others leaves something broken.
fn replace_value(bytes: Vec<u8>, value: &[u8], lot: &mut Lot) -> Vec<u8> {
    let starts = places(&bytes, |pair| matches!(pair, [b'"', b':']));
    let Some(at) = chosen(&starts, lot) else { return bytes };
    let from = at + 2;
    let rest = bytes.get(from..).unwrap_or_default();
    let to = from + rest.iter().position(|byte| matches!(byte, b',' | b'}' | b']')).unwrap_or(rest.len());
    splice(bytes, from, to, value)
}

/// Puts something after one of these bytes.
fn after(bytes: Vec<u8>, byte: u8, odd: &[u8], lot: &mut Lot) -> Vec<u8> {
    let all = places(&bytes, |pair| pair.first() == Some(&byte));
    let at = chosen(&all, lot).map_or(0, |at| at + 1);
    insert(bytes, at, odd)
}

fn places(bytes: &[u8], holds: impl Fn(&[u8]) -> bool) -> Vec<usize> {
    bytes.windows(2).enumerate().filter(|(_, pair)| holds(pair)).map(|(at, _)| at).collect()
}

fn chosen(places: &[usize], lot: &mut Lot) -> Option<usize> {
    places.get(index(places.len(), lot)).copied()
}

/// One of these.
pub(super) fn pick<'a, T: ?Sized>(all: &[&'a T], lot: &mut Lot) -> &'a T
where
    &'a T: Default,
{
    all.get(index(all.len(), lot)).copied().unwrap_or_default()
}

fn insert(bytes: Vec<u8>, at: usize, part: &[u8]) -> Vec<u8> {
    splice(bytes, at, at, part)
}

fn splice(mut bytes: Vec<u8>, from: usize, to: usize, part: &[u8]) -> Vec<u8> {
    let to = to.min(bytes.len());
    bytes.splice(from.min(to)..to, part.iter().copied());
    bytes
}

/// A place within so many; 0 if there is none.
fn index(length: usize, lot: &mut Lot) -> usize {
    let last = u64::try_from(length.saturating_sub(1)).unwrap_or(0);
    usize::try_from(lot.up_to(last)).unwrap_or(0)
}

fn range(length: usize, lot: &mut Lot) -> (usize, usize) {
    let from = index(length, lot);
    (from, from + 1 + index(length.saturating_sub(from).min(40), lot))
}

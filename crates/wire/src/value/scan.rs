//! Looks at text eight bytes at a time: what is already as it would be written is copied and not written again.
//!
//! PERF: `callgate-bench wire`. Most texts have nothing to escape, and most values come from writers that are compact.

/// A word whose bytes all are this one.
const fn repeated(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// The high bits of the bytes of `word` that are `byte`. Above the lowest one there may be false ones.
const fn equal(word: u64, byte: u8) -> u64 {
    let zero_there = word ^ repeated(byte);
    zero_there.wrapping_sub(repeated(1)) & !zero_there & repeated(0x80)
}

/// The same for the bytes below 0x20.
const fn control(word: u64) -> u64 {
    word.wrapping_sub(repeated(0x20)) & !word & repeated(0x80)
}

fn word(text: &[u8], at: usize) -> Option<u64> {
    text.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes)
}

/// Whether a text stands in a JSON string as it is.
pub(super) fn needs_no_escape(text: &str) -> bool {
    let text = text.as_bytes();
    let mut at = 0;
    while let Some(word) = word(text, at) {
        if equal(word, b'"') | equal(word, b'\\') | control(word) != 0 {
            return false;
        }
        at += 8;
    }
    let rest = text.get(at..).unwrap_or_default();
    rest.iter().all(|&byte| byte >= 0x20 && byte != b'"' && byte != b'\\')
}

/// What a look at the bytes of a value tells of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// It is its own compact text, and all its numbers are small.
    Plain,
    /// It is its own compact text, and a number may be beyond a double.
    Compact,
    /// It has white space between its parts, or an escape that may be needless.
    Other,
}

/// Bytes of a number that is surely finite: the largest double has 309 digits.
pub(super) const SMALL_NUMBER_MAX: usize = 300;

/// Between the parts of a value: a quote, white space, or what may be an exponent.
const fn says_something(byte: u8) -> bool {
    matches!(byte, b'"' | b' ' | b'\t' | b'\n' | b'\r' | b'e' | b'E')
}

/// Whether the `e` at this place stands in a number, and not in `true` or `false`.
fn is_exponent(raw: &[u8], at: usize) -> bool {
    at.checked_sub(1).and_then(|before| raw.get(before)).is_some_and(u8::is_ascii_digit)
}

/// Looks at the text of a value that the strict reader took.
pub(super) fn look(raw: &[u8]) -> Look {
    let (mut at, mut found) = (0, Look::Plain);
    loop {
        let start = at;
        let rest = raw.get(start..).unwrap_or_default();
        for byte in rest {
            if says_something(*byte) {
                match byte {
                    b'"' => break,
                    b'e' | b'E' if !is_exponent(raw, at) => {}
                    b'e' | b'E' => found = Look::Compact,
                    _ => return Look::Other,
                }
            }
            at += 1;
        }
        if at - start > SMALL_NUMBER_MAX {
            found = Look::Compact;
        }
        if at >= raw.len() {
            return found;
        }
        match string_end(raw, at + 1) {
            Some(end) => at = end,
            None => return Look::Other,
        }
    }
}

/// The index after the string whose body begins at `at`; `None` where it has an escape that may be needless.
fn string_end(raw: &[u8], mut at: usize) -> Option<usize> {
    loop {
        while let Some(word) = word(raw, at) {
            let stops = equal(word, b'"') | equal(word, b'\\');
            if stops != 0 {
                at += (stops.trailing_zeros() / 8) as usize;
                break;
            }
            at += 8;
        }
        while raw.get(at).is_some_and(|&byte| byte != b'"' && byte != b'\\') {
            at += 1;
        }
        if raw.get(at)? == &b'"' {
            return Some(at + 1);
        }
        // These are the shortest for their characters; `\/` and `\u` may not be.
        if !matches!(raw.get(at + 1)?, b'"' | b'\\' | b'n' | b't' | b'r' | b'b' | b'f') {
            return None;
        }
        at += 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_tells_what_has_to_be_written_again() {
        for (text, wanted) in [
            (r#"{"a":[1,-2.5,true,null,"x y \n \\\" é 0123456789"],"":{}}"#, Look::Plain),
            ("7", Look::Plain),
            (r#""e1 5e""#, Look::Plain),
            (r"[false,1]", Look::Plain),
            (r"[1e5]", Look::Compact),
            (r"1.5E-3", Look::Compact),
            (r"[1, 2]", Look::Other),
            ("{\"a\":\n1}", Look::Other),
            (r#"["\/"]"#, Look::Other),
            (r#"["0123456789\u0041"]"#, Look::Other),
        ] {
            assert_eq!(look(text.as_bytes()), wanted, "{text}");
        }
        assert_eq!(look("9".repeat(301).as_bytes()), Look::Compact);
    }

    #[test]
    fn a_character_that_needs_an_escape_is_found_wherever_it_stands() {
        for length in 0..20 {
            assert!(needs_no_escape(&"\u{7f}".repeat(length)) && needs_no_escape(&"é€".repeat(length)));
            for at in 0..length {
                for c in ["\"", "\\", "\u{1f}", "\0", "\n"] {
                    let mut text = "!".repeat(length);
                    text.replace_range(at..=at, c);
                    assert!(!needs_no_escape(&text), "{text:?}");
                }
            }
        }
    }
}

//! Where a byte stands for a person: line and column.

use super::text::char_starts;

/// Line and column of a byte, both counted from 1.
///
/// A line ends with its line feed; a column is a code point, and a tab is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// The line and column of the byte at `offset`; of the end of the text, if the offset is beyond it.
///
/// Takes any bytes, also such as are not UTF-8. Linear in the offset.
///
/// ```
/// use callgate_schema::json::{Position, position};
/// assert_eq!(position("{\n  \"ä\": x".as_bytes(), 10), Position { line: 2, column: 8 });
/// ```
pub fn position(text: &[u8], offset: usize) -> Position {
    let before = text.get(..offset).unwrap_or(text);
    let line = memchr::memrchr(b'\n', before).map_or(0, |feed| feed + 1);
    Position {
        line: 1 + memchr::memchr_iter(b'\n', before).count(),
        column: 1 + char_starts(before.get(line..).unwrap_or_default()),
    }
}

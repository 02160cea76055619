//! Where the bytes of a text stand for a person: lines and columns, found at once wherever they are asked for.

use std::ops::Range;

use callgate_schema::json::{Position, position};

/// Bytes between two places whose characters are counted: what is walked over for a column, at most.
const STEP_BYTES: usize = 4 << 10;

/// An index of a text's lines and characters. Making it costs one walk over the text; a position after that costs
/// [`STEP_BYTES`], also where the text is one line of a megabyte.
#[derive(Debug)]
pub(crate) struct Lines {
    /// Where each line begins.
    starts: Vec<usize>,
    /// Characters before each step.
    chars: Vec<usize>,
}

impl Lines {
    pub(crate) fn of(text: &[u8]) -> Lines {
        let feeds = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let starts = std::iter::once(0).chain(feeds.map(|(at, _)| at + 1)).collect();
        let mut before = 0;
        let mut chars = vec![0];
        for step in text.chunks(STEP_BYTES) {
            before += char_starts(step);
            chars.push(before);
        }
        Lines { starts, chars }
    }

    /// As [`position`] says it; `text` is the one that the index was made of.
    pub(crate) fn position(&self, text: &[u8], offset: usize) -> Position {
        let offset = offset.min(text.len());
        let line = self.starts.partition_point(|start| *start <= offset).max(1);
        let start = self.start(line);
        let column = 1 + self.chars_before(text, offset) - self.chars_before(text, start);
        debug_assert!(offset - start > STEP_BYTES || position(text, offset).column == column);
        Position { line, column }
    }

    /// The bytes of a line, counted from 1, without its end.
    pub(crate) fn span(&self, text: &[u8], line: usize) -> Range<usize> {
        let start = self.start(line);
        let end = self.starts.get(line).map_or(text.len(), |next| next - 1);
        let ends_in_return = end > start && text.get(end - 1) == Some(&b'\r');
        start..end - usize::from(ends_in_return)
    }

    fn start(&self, line: usize) -> usize {
        self.starts.get(line - 1).copied().unwrap_or_default()
    }

    fn chars_before(&self, text: &[u8], offset: usize) -> usize {
        let step = offset / STEP_BYTES;
        let rest = text.get(step * STEP_BYTES..offset).unwrap_or_default();
        self.chars.get(step).copied().unwrap_or_default() + char_starts(rest)
    }
}

/// Bytes that begin a character, in UTF-8 and where it is broken.
fn char_starts(text: &[u8]) -> usize {
    text.iter().filter(|byte| **byte & 0b1100_0000 != 0b1000_0000).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_position_is_the_one_that_counting_from_the_start_gives() {
        let short = "ä\n\n[\"漢\",\r\n \u{1f980}]\n".as_bytes().to_vec();
        let long =
            ["ä漢\u{1f980}\"".repeat(2_000), "\n".to_owned(), "漢".repeat(3_000)].concat().into_bytes();
        for (text, step) in [(short, 1), (long, 37)] {
            let lines = Lines::of(&text);
            for offset in (0..text.len() + 2).step_by(step) {
                assert_eq!(lines.position(&text, offset), position(&text, offset), "{offset}");
            }
        }
    }

    #[test]
    fn a_line_has_no_end_of_its_own() {
        let text = b"a\r\n\nbc";
        let lines = Lines::of(text);
        let spans: Vec<_> = (1..=3).map(|line| lines.span(text, line)).collect();
        assert_eq!(spans, [0..1, 3..3, 4..6]);
    }
}

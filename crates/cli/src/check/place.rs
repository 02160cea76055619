//! Lines and columns of many places of one text.

use callgate_schema::json::{Position, position};

/// Finds positions in ascending order of offsets, each from the one before, so that all of them together cost one walk
/// over the text, also where it is one long line. An offset before the last one is found from the start.
#[derive(Debug)]
pub(super) struct Places<'t> {
    text: &'t [u8],
    offset: usize,
    position: Position,
}

const START: Position = Position { line: 1, column: 1 };

impl<'t> Places<'t> {
    pub(super) fn of(text: &'t [u8]) -> Places<'t> {
        Places { text, offset: 0, position: START }
    }

    /// As [`position`] says it.
    pub(super) fn at(&mut self, offset: usize) -> Position {
        let offset = offset.min(self.text.len());
        if offset < self.offset {
            (self.offset, self.position) = (0, START);
        }
        let rest = self.text.get(self.offset..).unwrap_or_default();
        let step = position(rest, offset - self.offset);
        self.offset = offset;
        self.position = if step.line == 1 {
            Position { column: self.position.column + step.column - 1, ..self.position }
        } else {
            Position { line: self.position.line + step.line - 1, ..step }
        };
        self.position
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_walk_ends_where_counting_from_the_start_does() {
        let text = "ä\n\n[\"漢\",\r\n \u{1f980}]\n".as_bytes();
        for first in 0..text.len() + 2 {
            for second in 0..text.len() + 2 {
                let mut places = Places::of(text);
                assert_eq!(places.at(first), position(text, first), "{first}");
                assert_eq!(places.at(second), position(text, second), "{first}, then {second}");
            }
        }
    }
}

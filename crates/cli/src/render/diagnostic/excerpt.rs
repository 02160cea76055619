//! What is shown of one line: all of it where it fits, else a window around each place that matters. Nothing that a
//! terminal would obey is left, and every place keeps its column.

use std::ops::Range;

use unicode_width::UnicodeWidthChar as _;

use crate::render::escape::push_visible;

/// Columns of one place that are shown, where a line does not fit.
const PLACE_COLUMNS_MAX: usize = 60;
/// Bytes that one column takes at most in what people write; a longer line is not even measured.
const COLUMN_BYTES_MAX: usize = 4;
/// A tab is this many blanks.
const TAB: &str = "    ";
/// What stands for the parts that are left out.
const GAP: char = '…';

/// The visible text of a line.
#[derive(Debug)]
pub(super) struct Excerpt {
    pub(super) text: String,
    /// Each character of the line that is shown: its byte in the line, and its column in the text. The last one is the
    /// end of the text.
    columns: Vec<(usize, usize)>,
}

impl Excerpt {
    /// Shows a line within `width` columns, and of a longer one the surroundings of `places`.
    pub(super) fn of(line: &[u8], places: &[Range<usize>], width: usize) -> Excerpt {
        if line.len() <= width * COLUMN_BYTES_MAX {
            let whole = Excerpt::windows(line, std::slice::from_ref(&(0..line.len())));
            if whole.width() <= width {
                return whole;
            }
        }
        Excerpt::windows(line, &windows(line, places, width))
    }

    /// The columns of a place: at least one, so that it can be seen.
    pub(super) fn columns(&self, place: &Range<usize>) -> Range<usize> {
        let start = self.column(place.start);
        start..self.column(place.end).max(start + 1)
    }

    fn column(&self, byte: usize) -> usize {
        let at = self.columns.partition_point(|(shown, _)| *shown < byte);
        self.columns.get(at).or(self.columns.last()).map_or(0, |(_, column)| *column)
    }

    fn width(&self) -> usize {
        self.columns.last().map_or(0, |(_, column)| *column)
    }

    fn windows(line: &[u8], windows: &[Range<usize>]) -> Excerpt {
        let mut shown = Excerpt { text: String::new(), columns: Vec::new() };
        let mut column = 0;
        let mut end = 0;
        for window in windows {
            if window.start > end {
                column += shown.gap(end, column);
            }
            end = window.end;
            let mut at = window.start;
            for chunk in line.get(window.clone()).unwrap_or_default().utf8_chunks() {
                let broken = (!chunk.invalid().is_empty()).then_some(char::REPLACEMENT_CHARACTER);
                for c in chunk.valid().chars().chain(broken) {
                    shown.columns.push((at, column));
                    column += shown.push(c);
                    at += if Some(c) == broken { chunk.invalid().len() } else { c.len_utf8() };
                }
            }
        }
        if end < line.len() {
            column += shown.gap(end, column);
        }
        shown.columns.push((line.len(), column));
        shown
    }

    fn gap(&mut self, byte: usize, column: usize) -> usize {
        self.columns.push((byte, column));
        self.text.push(GAP);
        1
    }

    /// Appends a character as it can be seen, and says how many columns it takes.
    fn push(&mut self, c: char) -> usize {
        if c == '\t' {
            self.text.push_str(TAB);
            return TAB.len();
        }
        let before = self.text.len();
        push_visible(&mut self.text, c);
        let pushed = self.text.get(before..).unwrap_or_default();
        pushed.chars().map(|c| c.width().unwrap_or(1)).sum()
    }
}

/// The parts of a long line that are shown: the surroundings of each place, as wide as all of them can be.
fn windows(line: &[u8], places: &[Range<usize>], width: usize) -> Vec<Range<usize>> {
    let share = width / places.len().max(1);
    let mut windows: Vec<Range<usize>> = Vec::with_capacity(places.len());
    let mut ordered: Vec<&Range<usize>> = places.iter().collect();
    ordered.sort_by_key(|place| place.start);
    for place in ordered {
        let columns = (place.end.max(place.start) - place.start).min(PLACE_COLUMNS_MAX);
        // Three columns for the gaps; more of what follows than of what is before, which a reader has less need of.
        let around = share.saturating_sub(columns + 3);
        let after = (line.len() - (place.start + columns).min(line.len())).min(around);
        let before = (around / 3).max(around - after).min(place.start);
        let start = floor_char(line, place.start - before);
        let end = floor_char(line, place.start + columns + around - before);
        match windows.last_mut() {
            Some(last) if start <= last.end => last.end = last.end.max(end),
            _ => windows.push(start..end),
        }
    }
    windows
}

/// The start of the character that a byte belongs to.
fn floor_char(line: &[u8], byte: usize) -> usize {
    let byte = byte.min(line.len());
    let continues = |at: &usize| line.get(*at).is_some_and(|byte| byte & 0b1100_0000 == 0b1000_0000);
    (byte.saturating_sub(3)..=byte).rev().find(|at| !continues(at)).unwrap_or(byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str, words: &[&str], width: usize) -> String {
        let place = |word: &&str| line.find(word).map(|at| at..at + word.len()).unwrap();
        let places: Vec<Range<usize>> = words.iter().map(place).collect();
        let excerpt = Excerpt::of(line.as_bytes(), &places, width);
        let mut out = excerpt.text.clone();
        for place in &places {
            let columns = excerpt.columns(place);
            out += &["\n", &" ".repeat(columns.start), &"^".repeat(columns.len())].concat();
        }
        out
    }

    #[test]
    fn a_line_that_fits_is_shown_whole() {
        insta::assert_snapshot!(shown("\t{\"漢字\": \"a\u{1b}[31mb\", \"x\": 1}", &["\"x\"", "a\u{1b}[31mb"], 60), @r#"
            {"漢字": "a\u001b[31mb", "x": 1}
                                     ^^^
                      ^^^^^^^^^^^^
        "#);
    }

    #[test]
    fn of_a_long_line_the_surroundings_of_each_place_are_shown() {
        let line = format!(
            "[{}, \"here\", {}, \"ünd there\", {}]",
            "1, ".repeat(9_000),
            "2, ".repeat(9_000),
            "3, ".repeat(9_000)
        );
        insta::assert_snapshot!(shown(&line, &["\"here\""], 60), @r#"
        …1, 1, 1, 1, 1, , "here", 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,…
                          ^^^^^^
        "#);
        insta::assert_snapshot!(shown(&line, &["\"ünd there\"", "\"here\""], 60), @r#"
        …, 1, , "here", 2, 2, 2, 2, …2, , "ünd there", 3, 3, 3,…
                                          ^^^^^^^^^^^
                ^^^^^^
        "#);
    }

    #[test]
    fn a_place_that_is_wider_than_the_window_is_cut() {
        let line = format!("[\"{}\"]", "x".repeat(1_000_000));
        let shown = shown(&line, &[&line[1..line.len() - 1]], 80);
        let widths: Vec<usize> = shown.lines().map(|line| line.chars().count()).collect();
        assert!(widths.iter().all(|width| *width <= 80), "{widths:?}");
    }

    #[test]
    fn what_is_no_utf8_can_be_seen_too() {
        let line = b"[\"a\xff\xfeb\"]";
        let excerpt = Excerpt::of(line, std::slice::from_ref(&(3..5)), 60);
        assert_eq!((excerpt.text.as_str(), excerpt.columns(&(3..5))), ("[\"a\u{fffd}\u{fffd}b\"]", 3..5));
    }
}

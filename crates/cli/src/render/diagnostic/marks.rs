//! The rows under a line: marks below each place, and what each of them is.

use std::fmt::Write as _;
use std::ops::Range;

use anstyle::Style;

/// One place under a line.
#[derive(Debug)]
pub(super) struct Mark {
    pub(super) columns: Range<usize>,
    pub(super) style: Style,
    pub(super) is_primary: bool,
    pub(super) text: String,
}

impl Mark {
    fn sign(&self) -> char {
        if self.is_primary { '^' } else { '-' }
    }
}

/// The marks, with the text of the last one behind them, and below them the other texts from right to left.
pub(super) fn rows(mut marks: Vec<Mark>) -> Vec<String> {
    marks.sort_by_key(|mark| (mark.columns.start, mark.is_primary));
    let mut rows = Vec::new();
    let mut first = signs(&marks);
    // Behind the marks there is room for one text, if no mark goes beyond the last one.
    if let Some(last) = marks.pop_if(|last| last.text.is_empty()) {
        drop(last);
    } else if let Some(last) = marks.pop() {
        let ends_last = marks.iter().all(|mark| mark.columns.end <= last.columns.start);
        if ends_last {
            let _ = write!(first, " {}", styled(&last.text, last.style));
        } else {
            marks.push(last);
        }
    }
    rows.push(first);
    marks.retain(|mark| !mark.text.is_empty());
    while let Some(last) = marks.pop() {
        if rows.len() == 1 {
            rows.push(bars(&marks, Some(&last), "|"));
        }
        rows.push(bars(&marks, Some(&last), &last.text));
    }
    rows.retain(|row| !row.is_empty());
    rows
}

/// The signs under all places. Where two overlap, the primary one counts.
fn signs(marks: &[Mark]) -> String {
    let end = marks.iter().map(|mark| mark.columns.end).max().unwrap_or_default();
    let mut row = String::new();
    let mut current: Option<Style> = None;
    for column in 0..end {
        let here = |mark: &&Mark| mark.columns.contains(&column);
        let mark = marks.iter().filter(here).max_by_key(|mark| mark.is_primary);
        let style = mark.map(|mark| mark.style);
        if style != current {
            close(&mut row, current);
            if let Some(style) = style {
                let _ = write!(row, "{style}");
            }
            current = style;
        }
        row.push(mark.map_or(' ', Mark::sign));
    }
    close(&mut row, current);
    row
}

fn close(row: &mut String, style: Option<Style>) {
    if let Some(style) = style {
        let _ = write!(row, "{style:#}");
    }
}

/// A bar under each of the marks, and `text` under the last one.
fn bars(marks: &[Mark], last: Option<&Mark>, text: &str) -> String {
    let mut row = String::new();
    let mut column = 0;
    for mark in marks.iter().filter(|mark| last.is_none_or(|last| mark.columns.start < last.columns.start)) {
        if mark.columns.start < column {
            continue;
        }
        row.push_str(&" ".repeat(mark.columns.start - column));
        row.push_str(&styled("|", mark.style));
        column = mark.columns.start + 1;
    }
    if let Some(last) = last {
        row.push_str(&" ".repeat(last.columns.start.saturating_sub(column)));
        row.push_str(&styled(text, last.style));
    }
    row
}

fn styled(text: &str, style: Style) -> String {
    format!("{style}{text}{style:#}")
}

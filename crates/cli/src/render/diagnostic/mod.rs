//! A remark about places of a text, drawn as compilers draw it: the lines, marks under the places with what each of them
//! is, and notes below. It stays readable where the text is one line of a megabyte, and holds nothing that a terminal
//! would obey.
//!
//! ```text
//! error[schema-unreachable]: expected a keyword for string beside its `type`, found `maximum`
//!   --> tools.json:9:40
//!    |
//!  9 |   "query": {"type": "string", "maximum": 5}
//!    |             ----------------  ^^^^^^^^^^^^ looks at numbers alone
//!    |             |
//!    |             the stated type
//!    |
//!    = help: …
//! ```

mod excerpt;
mod lines;
mod marks;

use std::fmt::Write as _;
use std::ops::Range;

use anstyle::{AnsiColor, Style};
use callgate_schema::json::Position;

use self::excerpt::Excerpt;
use self::lines::Lines;
use self::marks::Mark;
use super::escape::one_line;

pub(crate) const RED: Style = AnsiColor::Red.on_default().bold();
pub(crate) const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
pub(crate) const BLUE: Style = AnsiColor::Blue.on_default().bold();
pub(crate) const BOLD: Style = Style::new().bold();

/// Places of one remark that are drawn; the ones after that are not.
const LABELS_MAX: usize = 8;
/// Lines between two places that are shown rather than left out.
const BETWEEN_MAX: usize = 2;
/// Columns before the further lines of a title.
const TITLE_INDENT: usize = 4;
/// The narrowest excerpt, however narrow the terminal is.
const EXCERPT_COLUMNS_MIN: usize = 40;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Severity {
    Error,
    Warning,
}

impl Severity {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }

    pub(crate) const fn style(self) -> Style {
        match self {
            Severity::Error => RED,
            Severity::Warning => YELLOW,
        }
    }
}

/// One remark. Its texts may come from anywhere: they are made visible when they are drawn.
#[derive(Debug)]
pub(crate) struct Diagnostic<'a> {
    pub(crate) severity: Severity,
    /// The stable code.
    pub(crate) code: &'a str,
    pub(crate) title: &'a str,
    /// The first one is what the remark is about; the others have to do with it.
    pub(crate) labels: &'a [Label],
    /// Word and text of each.
    pub(crate) notes: &'a [(&'static str, String)],
}

/// A place of the text, with what it is in a few words, or none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Label {
    /// Bytes of the text. Of a place of several lines the first one is marked.
    pub(crate) span: Range<usize>,
    pub(crate) text: String,
}

impl Label {
    pub(crate) fn new(span: Range<usize>, text: impl Into<String>) -> Label {
        Label { span, text: text.into() }
    }
}

/// A text that remarks are about.
#[derive(Debug)]
pub(crate) struct SourceText<'t> {
    name: String,
    text: &'t [u8],
    lines: Lines,
    /// Columns of the terminal.
    width: usize,
}

impl<'t> SourceText<'t> {
    /// `name` is what stands before line and column, `width` the terminal's columns.
    pub(crate) fn new(name: &str, text: &'t [u8], width: usize) -> SourceText<'t> {
        SourceText { name: one_line(name), text, lines: Lines::of(text), width }
    }

    /// Line and column of a byte.
    pub(crate) fn position(&self, offset: usize) -> Position {
        self.lines.position(self.text, offset)
    }

    /// Draws a remark, with a blank line after it.
    pub(crate) fn draw(&self, out: &mut String, diagnostic: &Diagnostic<'_>) {
        let Diagnostic { severity, code, title, labels, notes } = diagnostic;
        let (style, word) = (severity.style(), severity.word());
        let title = wrap_title(&one_line(title), &format!("{word}[{code}]"), self.width);
        let _ = writeln!(out, "{style}{word}[{code}]{style:#}{BOLD}: {title}{BOLD:#}");
        let labels = labels.get(..LABELS_MAX).unwrap_or(labels);
        let drawn = self.marked_lines(labels, *severity);
        let last = drawn.last().map_or(1, |line| line.number);
        let gutter = last.to_string().len();
        if let Some(first) = labels.first() {
            let Position { line, column } = self.position(first.span.start);
            let _ = writeln!(out, "{:gutter$}{BLUE}-->{BLUE:#} {}:{line}:{column}", "", self.name);
            self.draw_lines(out, &drawn, gutter);
        }
        let width = self.width.saturating_sub(gutter + 3).max(EXCERPT_COLUMNS_MIN);
        for (word, text) in *notes {
            let indent = word.len() + 2;
            for (at, line) in wrap(&one_line(text), width.saturating_sub(indent)).iter().enumerate() {
                let _ = match at {
                    0 => write!(out, "{:gutter$} {BLUE}={BLUE:#} {BOLD}{word}{BOLD:#}: ", ""),
                    _ => write!(out, "{:1$}", "", gutter + 3 + indent),
                };
                out.push_str(line);
                out.push('\n');
            }
        }
        out.push('\n');
    }

    /// The lines with places, in the text's order, each with its places.
    fn marked_lines<'l>(&self, labels: &'l [Label], severity: Severity) -> Vec<MarkedLine<'l>> {
        let mut marked: Vec<MarkedLine<'l>> = Vec::new();
        for (at, label) in labels.iter().enumerate() {
            let number = self.position(label.span.start).line;
            let span = self.lines.span(self.text, number);
            let start = label.span.start.clamp(span.start, span.end) - span.start;
            let end = label.span.end.clamp(span.start + start, span.end) - span.start;
            let style = if at == 0 { severity.style() } else { BLUE };
            let place = Place { span: start..end, style, is_primary: at == 0, text: &label.text };
            match marked.iter_mut().find(|line| line.number == number) {
                Some(line) => line.places.push(place),
                None => marked.push(MarkedLine { number, places: vec![place] }),
            }
        }
        marked.sort_by_key(|line| line.number);
        marked
    }

    fn draw_lines(&self, out: &mut String, lines: &[MarkedLine<'_>], gutter: usize) {
        let bar = format!("{:gutter$} {BLUE}|{BLUE:#}", "");
        let _ = writeln!(out, "{bar}");
        let mut before: Option<usize> = None;
        for line in lines {
            match before {
                Some(before) if line.number - before > BETWEEN_MAX + 1 => {
                    let _ = writeln!(out, "{BLUE}...{BLUE:#}");
                }
                Some(before) => {
                    for number in before + 1..line.number {
                        self.draw_line(out, &MarkedLine { number, places: Vec::new() }, gutter);
                    }
                }
                None => {}
            }
            before = Some(line.number);
            self.draw_line(out, line, gutter);
        }
        let _ = writeln!(out, "{bar}");
    }

    fn draw_line(&self, out: &mut String, line: &MarkedLine<'_>, gutter: usize) {
        let bytes = self.text.get(self.lines.span(self.text, line.number)).unwrap_or_default();
        let spans: Vec<Range<usize>> = line.places.iter().map(|place| place.span.clone()).collect();
        let width = self.width.saturating_sub(gutter + 3).max(EXCERPT_COLUMNS_MIN);
        let excerpt = Excerpt::of(bytes, &spans, width);
        let _ = writeln!(out, "{BLUE}{:>gutter$} |{BLUE:#} {}", line.number, excerpt.text.trim_end());
        let marks = line.places.iter().map(|place| Mark {
            columns: excerpt.columns(&place.span),
            style: place.style,
            is_primary: place.is_primary,
            text: one_line(place.text),
        });
        for row in marks::rows(marks.collect()) {
            let _ = writeln!(out, "{:gutter$} {BLUE}|{BLUE:#} {row}", "");
        }
    }
}

struct MarkedLine<'l> {
    number: usize,
    places: Vec<Place<'l>>,
}

struct Place<'l> {
    span: Range<usize>,
    style: Style,
    is_primary: bool,
    text: &'l str,
}

/// Breaks a text between words, so that no line has more columns than `width` unless one word has.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    wrap_after(text, width, 0, 0)
}

/// A title that stands behind this head and a colon, with its further lines set in.
pub(crate) fn wrap_title(title: &str, head: &str, width: usize) -> String {
    let lines = wrap_after(title, width.max(EXCERPT_COLUMNS_MIN), head.len() + ": ".len(), TITLE_INDENT);
    lines.join(&format!("\n{:TITLE_INDENT$}", ""))
}

/// The same where so many columns of the first line are taken, and so many of every other.
fn wrap_after(text: &str, width: usize, first: usize, others: usize) -> Vec<String> {
    use unicode_width::UnicodeWidthStr as _;
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let taken = if lines.len() == 1 { first } else { others };
        let Some(line) = lines.last_mut() else { continue };
        if line.is_empty() {
            line.push_str(word);
        } else if taken + line.width() + 1 + word.width() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

#[cfg(test)]
mod tests;

//! What mending changes, line by line; of lines that are too long for a terminal the part that changes.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use similar::{ChangeTag, TextDiff};

use crate::render::diagnostic::BLUE;
use crate::render::escape::one_line;

const REMOVED: Style = AnsiColor::Red.on_default();
const ADDED: Style = AnsiColor::Green.on_default();

/// Lines around a change.
const CONTEXT_LINES: usize = 2;
/// Characters of a line that is shown whole.
const WHOLE_CHARS_MAX: usize = 200;
/// Characters that are shown around the change of a longer one.
const AROUND_CHARS: usize = 60;

/// The difference between two texts of a file, for people.
pub(in crate::check) fn diff(name: &str, old: &[u8], new: &[u8]) -> String {
    let (old, new) = (String::from_utf8_lossy(old), String::from_utf8_lossy(new));
    let name = one_line(name);
    let mut out = String::new();
    let _ = writeln!(out, "{REMOVED}--- {name}{REMOVED:#}\n{ADDED}+++ {name}, mended{ADDED:#}");
    let diff = TextDiff::from_lines(old.as_ref(), new.as_ref());
    for hunk in diff.unified_diff().context_radius(CONTEXT_LINES).iter_hunks() {
        let _ = writeln!(out, "{BLUE}{}{BLUE:#}", hunk.header());
        let changes: Vec<(ChangeTag, &str)> = hunk.iter_changes().map(|it| (it.tag(), it.value())).collect();
        let of = |tag: ChangeTag| changes.iter().filter(move |(it, _)| *it == tag).map(|(_, line)| *line);
        let pairs: Vec<(&str, &str)> = of(ChangeTag::Delete).zip(of(ChangeTag::Insert)).collect();
        for (tag, line) in changes {
            let pair = pairs.iter().find(|(old, new)| match tag {
                ChangeTag::Equal => false,
                ChangeTag::Delete => std::ptr::eq(*old, line),
                ChangeTag::Insert => std::ptr::eq(*new, line),
            });
            let shown = shown(line, pair.copied());
            let _ = match tag {
                ChangeTag::Equal => writeln!(out, "  {shown}"),
                ChangeTag::Delete => writeln!(out, "{REMOVED}- {shown}{REMOVED:#}"),
                ChangeTag::Insert => writeln!(out, "{ADDED}+ {shown}{ADDED:#}"),
            };
        }
    }
    out
}

/// A line as it is shown; `pair` is the line before and after.
fn shown(line: &str, pair: Option<(&str, &str)>) -> String {
    let line = line.trim_end_matches(['\n', '\r']);
    let chars = line.chars().count();
    if chars <= WHOLE_CHARS_MAX {
        return one_line(line).replace("\\u0009", "    ");
    }
    let (start, end) = match pair {
        None => (0, 0),
        Some((old, new)) => {
            let before = old.chars().zip(new.chars()).take_while(|(a, b)| a == b).count();
            let after = old.chars().rev().zip(new.chars().rev()).take_while(|(a, b)| a == b).count();
            (before, (chars + 1).saturating_sub(after).max(before))
        }
    };
    let from = start.saturating_sub(AROUND_CHARS);
    let to = (end + AROUND_CHARS).min(chars);
    let middle: String = line.chars().skip(from).take((to - from).min(2 * WHOLE_CHARS_MAX)).collect();
    let cut = if to - from > 2 * WHOLE_CHARS_MAX || to < chars { "…" } else { "" };
    format!("{}{}{cut}", if from > 0 { "…" } else { "" }, one_line(&middle))
}

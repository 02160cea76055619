//! Each Rust file by itself: it says what it is for, it is not too long, and nothing in it is left for later.

use super::Report;
use crate::source::{self, Line};
use crate::tree::Tree;
use anyhow::Result;
use std::collections::BTreeMap;

/// Code lines that a file may have.
const CODE_LINES_MAX: usize = 800;
/// Code lines above which a file should be looked at.
const CODE_LINES_GOOD: usize = 500;
/// Files that may be longer: `path: reason` a line.
const EXEMPT: &str = "xtask/long-files.txt";

/// What no code may hold, in pieces so that this table does not find itself.
const LEFT_FOR_LATER: &[&str] =
    &[concat!("to", "do!"), concat!("unimple", "mented!"), concat!("#[", "ignore"), concat!("dbg", "!(")];
/// What no comment may hold.
const TAGS: &[&str] = &[concat!("FIX", "ME"), concat!("TO", "DO"), concat!("X", "XX")];

/// What the pure crates must not reach for, by the folder of the crate.
const IMPURE: &[(&str, &[&str])] = &[
    (
        "crates/schema/src/",
        &["std::fs", "std::net", "std::env", "std::process", "std::thread", "SystemTime", "Instant"],
    ),
    ("crates/wire/src/", &["std::fs", "std::net", "std::env", "std::process", "SystemTime", "Instant"]),
    ("crates/gateway/src/", &["std::fs", "std::net", "std::env", "std::process", "SystemTime", "Instant"]),
    ("crates/mcp/src/", &["std::fs", "std::net", "std::env", "std::process", "SystemTime", "Instant"]),
    ("crates/store/src/", &["std::net"]),
];

pub(super) fn check(tree: &Tree, report: &mut Report) -> Result<()> {
    let exempt = exemptions(tree, report)?;
    for path in tree.list("", ".rs") {
        let text = tree.text(path)?;
        let lines = source::lines(&text);
        if !text.starts_with("//!") {
            report.fault(path, "does not open with `//!`", "say in its first line what the file is for");
        }
        check_length(path, source::code_lines(&lines), &exempt, report);
        check_unfinished(path, &lines, report);
        check_purity(path, &lines, report);
    }
    Ok(())
}

fn exemptions(tree: &Tree, report: &mut Report) -> Result<BTreeMap<String, String>> {
    let mut exempt = BTreeMap::new();
    if !tree.has(EXEMPT) {
        return Ok(exempt);
    }
    for (number, line) in (1..).zip(tree.text(EXEMPT)?.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match line.split_once(": ") {
            Some((path, reason)) if tree.has(path) && !reason.trim().is_empty() => {
                exempt.insert(path.to_owned(), reason.trim().to_owned());
            }
            _ => report.fault_at(
                EXEMPT,
                number,
                "names no file, or gives no reason",
                "write `path: reason`, or remove the line",
            ),
        }
    }
    Ok(exempt)
}

fn check_length(path: &str, length: usize, exempt: &BTreeMap<String, String>, report: &mut Report) {
    let split = "split it by what it is about";
    if length > CODE_LINES_MAX && !exempt.contains_key(path) {
        let what = format!("has {length} code lines, at most {CODE_LINES_MAX} are allowed");
        report.fault(path, what, format!("{split}, or give the reason in {EXEMPT}"));
    } else if length > CODE_LINES_GOOD {
        report.warning(path, format!("has {length} code lines, more than {CODE_LINES_GOOD}"), split);
    }
    if length <= CODE_LINES_MAX && exempt.contains_key(path) {
        report.fault(EXEMPT, format!("names {path}, which is short enough"), "remove the line");
    }
}

fn check_unfinished(path: &str, lines: &[Line], report: &mut Report) {
    for (number, line) in (1..).zip(lines) {
        for word in LEFT_FOR_LATER.iter().filter(|word| line.code.contains(**word)) {
            report.fault_at(
                path,
                number,
                format!("`{word}` leaves something undone"),
                "do it, or take it out",
            );
        }
        for tag in TAGS.iter().filter(|tag| line.comment.contains(**tag)) {
            report.fault_at(
                path,
                number,
                format!("`{tag}` leaves something undone"),
                "do it, or say why not",
            );
        }
    }
}

fn check_purity(path: &str, lines: &[Line], report: &mut Report) {
    if path.ends_with("/tests.rs") {
        return;
    }
    for (_, words) in IMPURE.iter().filter(|(folder, _)| path.starts_with(folder)) {
        for (number, line) in source::shipped(lines) {
            for word in words.iter().filter(|word| names(&line.code, word)) {
                report.fault_at(
                    path,
                    number,
                    format!("`{word}` in a crate that must not reach outside"),
                    "take what is needed as an argument; `store`, `server` and `cli` are the edges",
                );
            }
        }
    }
}

/// Whether the code names `word` as a whole path or identifier.
fn names(code: &str, word: &str) -> bool {
    let joins = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    code.match_indices(word).any(|(at, _)| {
        let before = code.get(..at).and_then(|text| text.chars().next_back());
        let after = code.get(at + word.len()..).and_then(|text| text.chars().next());
        !joins(before) && !joins(after)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(path: &str, text: &str) -> usize {
        let mut report = Report::default();
        let lines = source::lines(text);
        check_length(path, source::code_lines(&lines), &BTreeMap::new(), &mut report);
        check_unfinished(path, &lines, &mut report);
        check_purity(path, &lines, &mut report);
        report.faults()
    }

    #[test]
    fn what_is_left_for_later_is_found_in_code_and_comments_and_not_in_texts() {
        assert_eq!(faults("a.rs", concat!("fn f() { to", "do!() }\n")), 1);
        assert_eq!(faults("a.rs", concat!("fn f() {} // FIX", "ME: later\n")), 1);
        assert_eq!(faults("a.rs", concat!("const A: &str = \"to", "do!\";\n")), 0);
    }

    #[test]
    fn only_the_edges_reach_outside() {
        assert_eq!(faults("crates/schema/src/a.rs", "use std::fs;\n"), 1);
        assert_eq!(faults("crates/schema/src/a.rs", "struct InstantNoodle;\n"), 0);
        assert_eq!(
            faults("crates/schema/src/a.rs", "fn f() {}\n#[cfg(test)]\nmod tests { use std::fs; }\n"),
            0
        );
        assert_eq!(faults("crates/server/src/a.rs", "use std::fs;\n"), 0);
    }

    #[test]
    fn a_long_file_needs_a_reason() {
        assert_eq!(faults("a.rs", &"f();\n".repeat(CODE_LINES_MAX)), 0);
        assert_eq!(faults("a.rs", &"f();\n".repeat(CODE_LINES_MAX + 1)), 1);
        assert_eq!(faults("a.rs", &"// f\n\n".repeat(CODE_LINES_MAX + 1)), 0);
    }
}

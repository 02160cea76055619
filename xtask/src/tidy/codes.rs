//! Codes, their pages and their cases: each code has both, and no page speaks of a code that is not there.

use super::Report;
use crate::tree::Tree;
use anyhow::Result;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The headings of a page, in this order.
const HEADINGS: &[&str] = &["## What it means", "## Why it matters", "## Example", "## Instead"];

pub(super) fn check(tree: &Tree, report: &mut Report) -> Result<()> {
    let codes = codes();
    for code in &codes {
        let page = format!("docs/errors/{code}.md");
        if tree.has(&page) {
            check_page(&page, code, &tree.text(&page)?, report);
        } else {
            report.fault(
                &page,
                format!("the code `{code}` has no page"),
                "write it, with the headings of the others",
            );
        }
    }
    for page in tree.list("docs/errors/", ".md") {
        let name = page.trim_start_matches("docs/errors/").trim_end_matches(".md");
        if !codes.contains(name) && name != "README" {
            report.fault(page, format!("there is no code `{name}`"), "remove the page, or mend its name");
        }
    }
    if !tree.has(INDEX) || tree.text(INDEX)? != index() {
        report.fault(INDEX, "is not the index of the codes", "cargo xtask tidy --mend");
    }
    check_cases(tree, &codes, report)
}

/// The list of all pages.
pub(super) const INDEX: &str = "docs/errors/README.md";

/// What the list of all pages says.
pub(super) fn index() -> String {
    let mut text = String::from(
        "# Error codes\n\nEach refusal, error and warning has a stable code. A code is never renamed and never used again \
         for something else.\n\n## Of the schema engine\n\n| code | class | means |\n|---|---|---|\n",
    );
    // Writing to a text does not fail.
    for code in callgate_schema::Code::ALL {
        let _ = writeln!(text, "| [`{code}`]({code}.md) | `{}` | {} |", code.class(), code.summary());
    }
    text.push_str("\n## Of the gate\n\n| code | class | stage | means |\n|---|---|---|---|\n");
    for code in callgate_wire::Code::ALL {
        let (class, stage) = (code.class(), code.stage());
        let _ = writeln!(text, "| [`{code}`]({code}.md) | `{class}` | `{stage}` | {} |", code.summary());
    }
    text.push_str("\n## Of the wire's values\n\n| code | class | means |\n|---|---|---|\n");
    for code in callgate_wire::ValueCode::ALL {
        let _ = writeln!(text, "| [`{code}`]({code}.md) | `validation` | {} |", code.summary());
    }
    text
}

/// Every code that the product can answer with.
fn codes() -> BTreeSet<&'static str> {
    let schema = callgate_schema::Code::ALL.iter().map(|code| code.as_str());
    let gate = callgate_wire::Code::ALL.iter().map(|code| code.as_str());
    let values = callgate_wire::ValueCode::ALL.iter().map(|code| code.as_str());
    schema.chain(gate).chain(values).collect()
}

fn check_page(page: &str, code: &str, text: &str, report: &mut Report) {
    if text.lines().next() != Some(format!("# `{code}`").as_str()) {
        report.fault_at(page, 1, "the title is not the code", format!("open with `# `{code}``"));
    }
    let headings: Vec<&str> = text.lines().filter(|line| line.starts_with("## ")).collect();
    if headings != HEADINGS {
        let what = format!("the headings are {headings:?}");
        report.fault(page, what, format!("use {HEADINGS:?}, in this order and no others"));
    }
}

fn check_cases(tree: &Tree, codes: &BTreeSet<&'static str>, report: &mut Report) -> Result<()> {
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for path in tree.list("cases/", ".jsonl") {
        let text = tree.text(path)?;
        for (number, row) in (1..).zip(text.lines()) {
            seen.extend(texts(row).filter_map(|(_, text)| codes.get(text)));
            // A row that expects a code which nobody declares cannot pass, or is not looked at.
            for (_, code) in texts(row).filter(|(name, _)| name.is_some_and(|name| NAMES.contains(&name))) {
                if row.contains("\"expect\"") && code.contains('-') && !codes.contains(code) {
                    report.fault_at(path, number, format!("there is no code `{code}`"), "mend the spelling");
                }
            }
        }
    }
    for (code, test, variant) in TESTED_ELSEWHERE {
        if tree.has(test) && tree.text(test)?.contains(variant) {
            seen.insert(code);
        }
    }
    for code in codes.difference(&seen) {
        let mend = format!("add a row to cases/ that makes it happen and expects `\"{code}\"`");
        report.fault("cases", format!("no case for the code `{code}`"), mend);
    }
    Ok(())
}

/// Codes that no row of data can make happen, with the test that does, and what to find there.
const TESTED_ELSEWHERE: &[(&str, &str, &str)] = &[
    // It takes a gate that is held for gone while it is not.
    ("intent-fenced", "crates/store/tests/store/processes.rs", "Code::IntentFenced"),
    // The worker is given JSON, so that only a program has values that are none.
    ("value-not-json", "crates/wire/tests/wire/results.rs", "\"value-not-json\""),
];

/// The members of rows that hold codes.
const NAMES: &[&str] = &["code", "error_code", "finding"];

/// The texts in a row that are values, each with the name of its member; an item of a list has none.
fn texts(row: &str) -> impl Iterator<Item = (Option<&str>, &str)> {
    // Codes hold no escapes, so it does no harm that a text with some is cut at its first inner quote.
    let parts: Vec<&str> = row.split('"').collect();
    let values = (1..parts.len()).filter_map(|at| {
        let (before, text) = (parts.get(at - 1)?.trim(), *parts.get(at)?);
        let name =
            if before == ":" { at.checked_sub(2).and_then(|name| parts.get(name)).copied() } else { None };
        let member_name = parts.get(at + 1).is_some_and(|after| after.trim_start().starts_with(':'));
        (name.is_some() || before.ends_with(['[', ',']) && !member_name).then_some((name, text))
    });
    values.collect::<Vec<_>>().into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_read_from_the_values_of_a_row() {
        let row = r#"{"a":"x","expect":{"code" : "type-mismatch"},"log":["frame-batch", "y"]}"#;
        let found: Vec<_> = texts(row).collect();
        assert_eq!(found[..2], [(Some("a"), "x"), (Some("code"), "type-mismatch")]);
        assert_eq!(found[2..], [(None, "frame-batch"), (None, "y")]);
    }

    #[test]
    fn a_page_has_its_code_for_a_title_and_four_headings() {
        let faults = |text: &str| {
            let mut report = Report::default();
            check_page("p", "type-mismatch", text, &mut report);
            report.faults()
        };
        let good = format!("# `type-mismatch`\n{}\n", HEADINGS.join("\n"));
        assert_eq!(faults(&good), 0);
        assert_eq!(faults(&good.replace("Instead", "Remedy")), 1);
        assert_eq!(faults(&good.replace("type-mismatch", "other")), 1);
    }

    #[test]
    fn no_two_crates_declare_one_code() {
        let gate = callgate_wire::Code::ALL.len() + callgate_wire::ValueCode::ALL.len();
        assert_eq!(codes().len(), callgate_schema::Code::ALL.len() + gate);
    }
}

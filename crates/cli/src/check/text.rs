//! Reports for people: each finding in the text, a table of the codes, a line for each file.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use callgate_wire::Code;
use comfy_table::CellAlignment;

use super::report::{Known, Line, Report, Verdict};
use crate::pages::why;
use crate::render::diagnostic::{Diagnostic, SourceText};
use crate::render::escape::one_line;
use crate::render::table::{table, terminal_width};

/// Whatever comes from the files is in one line and can be seen. `stale` findings of the baseline were not found.
pub(super) fn text(reports: &[Report], stale: usize) -> String {
    let mut out = String::new();
    let mut explained = BTreeSet::new();
    for report in reports {
        let source = SourceText::new(&report.file, &report.text, terminal_width());
        for line in report.shown() {
            source.draw(&mut out, &diagnostic(line, &notes(line, explained.insert(line.code()))));
        }
    }
    if !explained.is_empty() {
        let _ = writeln!(out, "{}\n", codes(reports));
    }
    for report in reports {
        let _ = writeln!(out, "{}: {}", one_line(&report.file), summary(report));
    }
    if stale > 0 {
        let _ = writeln!(
            out,
            "the baseline has {} more than were found: write it again",
            several(stale, "finding")
        );
    }
    out
}

/// Findings of one code, and the tools that have them, each with its file.
#[derive(Default)]
struct Count<'r> {
    findings: usize,
    tools: BTreeSet<(usize, &'r str)>,
}

/// How many findings of each code there are, and in how many tools.
fn codes(reports: &[Report]) -> String {
    let mut codes: BTreeMap<(bool, &str), Count<'_>> = BTreeMap::new();
    for (at, report) in reports.iter().enumerate() {
        for line in report.shown() {
            let count = codes.entry((!line.is_error, line.code())).or_default();
            count.findings += 1;
            count.tools.insert((at, &line.subject));
        }
    }
    let mut table = table(["code", "severity", "findings", "tools"]);
    for ((is_warning, code), Count { findings, tools }) in codes {
        let word = if is_warning { "warning" } else { "error" };
        table.add_row([code.to_owned(), word.to_owned(), findings.to_string(), tools.len().to_string()]);
    }
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let explain = "`callgate explain CODE` prints the page of a code.";
    format!("{table}\n{explain}")
}

fn diagnostic<'l>(line: &'l Line, notes: &'l [(&'static str, String)]) -> Diagnostic<'l> {
    Diagnostic {
        severity: line.severity(),
        code: line.code(),
        title: &line.finding.message,
        labels: &line.labels,
        notes,
    }
}

/// The tool, the place, why it matters where that was not said before, and what to write instead.
fn notes(line: &Line, is_new: bool) -> Vec<(&'static str, String)> {
    let mut notes = Vec::new();
    let gate = line.gate_code.map_or_else(String::new, |code| format!(" ({}: {code})", effect(code)));
    notes.push(("tool", format!("{}{gate}", line.subject)));
    if !line.pointer.is_empty() {
        notes.push(("at", line.pointer.clone()));
    }
    if is_new && let Some(why) = why(line.code()) {
        notes.push(("why", why));
    }
    if let Some(help) = &line.finding.help {
        notes.push(("help", help.clone()));
    }
    notes
}

/// What a gate does because of a code.
fn effect(code: Code) -> &'static str {
    match code {
        Code::ToolOutputSchemaUnchecked => "its results are not checked",
        _ => "left out",
    }
}

fn summary(report: &Report) -> String {
    let (errors, warnings) = (report.errors(), report.warnings());
    let mut hidden = String::new();
    for (known, word) in [(Known::Baseline, "known"), (Known::Allowed, "allowed")] {
        let count = report.lines.iter().filter(|line| line.known == Some(known)).count();
        if count > 0 {
            let _ = write!(hidden, "; {count} {word}");
        }
    }
    let verdict = match report.verdict {
        Verdict::Schema { is_admitted: true } => "the schema is admitted".to_owned(),
        Verdict::Schema { is_admitted: false } => "the schema is refused".to_owned(),
        Verdict::Catalog { tools: 0, .. } => "the catalog holds no tools".to_owned(),
        Verdict::Catalog { tools, admitted } => format!("{admitted} of {} admitted", several(tools, "tool")),
        Verdict::Malformed { tools: 0 } => "the file is malformed".to_owned(),
        Verdict::Malformed { tools } => {
            format!("the file is malformed, 0 of {} admitted", several(tools, "tool"))
        }
    };
    format!("{verdict}; {} and {}{hidden}", several(errors, "error"), several(warnings, "warning"))
}

pub(super) fn several(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

//! Reports as text, for people and for programs.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use callgate_schema::json::{Position, write_string};
use callgate_wire::Code;

use super::report::{Line, Report, Verdict};
use crate::pages::why;
use crate::render::diagnostic::{Diagnostic, Severity, SourceText};
use crate::render::escape::one_line;
use crate::render::table::terminal_width;

/// For people. Whatever comes from the file is in one line and can be seen.
pub(super) fn text(reports: &[Report]) -> String {
    let mut out = String::new();
    let mut explained = BTreeSet::new();
    for report in reports {
        let source = SourceText::new(&report.file, &report.text, terminal_width());
        for line in &report.lines {
            source.draw(&mut out, &diagnostic(line, &notes(line, explained.insert(line.code()))));
        }
        let _ = writeln!(out, "{}: {}", one_line(&report.file), summary(report));
    }
    out
}

fn diagnostic<'l>(line: &'l Line, notes: &'l [(&'static str, String)]) -> Diagnostic<'l> {
    let severity = if line.is_error { Severity::Error } else { Severity::Warning };
    Diagnostic { severity, code: line.code(), title: &line.finding.message, labels: &line.labels, notes }
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
    let errors = report.errors();
    let warnings = report.lines.len() - errors;
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
    format!("{verdict}; {} and {}", several(errors, "error"), several(warnings, "warning"))
}

fn several(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// For programs: an array of reports, on one line.
pub(super) fn json(reports: &[Report]) -> Vec<u8> {
    let mut out = b"[".to_vec();
    for (at, report) in reports.iter().enumerate() {
        out.extend_from_slice(if at == 0 { b"" } else { b"," });
        write_report(&mut out, report);
    }
    out.extend_from_slice(b"]\n");
    out
}

fn write_report(out: &mut Vec<u8>, report: &Report) {
    // A schema is no tool, but it is one thing that can be refused.
    let (tools, refused) = match report.verdict {
        Verdict::Schema { is_admitted } => (0, usize::from(!is_admitted)),
        Verdict::Catalog { tools, admitted } => (tools, tools - admitted),
        Verdict::Malformed { tools } => (tools, tools),
    };
    out.extend_from_slice(b"{\"file\":");
    write_string(out, &report.file);
    out.extend_from_slice(format!(",\"tools\":{tools},\"refused\":{refused},\"findings\":[").as_bytes());
    let source = SourceText::new(&report.file, &report.text, 0);
    for (at, line) in report.lines.iter().enumerate() {
        out.extend_from_slice(if at == 0 { b"{\"severity\":" } else { b",{\"severity\":" });
        write_string(out, if line.is_error { "error" } else { "warning" });
        out.extend_from_slice(b",\"tool\":");
        write_string(out, &line.subject);
        out.extend_from_slice(b",\"pointer\":");
        write_string(out, &line.pointer);
        let Position { line: number, column } = source.position(line.offset());
        out.extend_from_slice(format!(",\"line\":{number},\"column\":{column},\"code\":").as_bytes());
        write_string(out, line.code());
        out.extend_from_slice(b",\"gate_code\":");
        match line.gate_code {
            Some(code) => write_string(out, code.as_str()),
            None => out.extend_from_slice(b"null"),
        }
        out.extend_from_slice(b",\"message\":");
        write_string(out, &line.finding.message);
        out.extend_from_slice(b",\"finding\":");
        line.finding.write_json(out);
        out.push(b'}');
    }
    out.extend_from_slice(b"]}");
}

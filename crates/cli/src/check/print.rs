//! Reports as text, for people and for programs.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use callgate_schema::json::{Position, write_string};

use super::report::{Line, Report, Verdict};
use crate::render::escape::one_line;

const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
const BOLD: Style = Style::new().bold();

/// For people. Whatever comes from the file is in one line and can be seen.
pub(super) fn text(reports: &[Report]) -> String {
    let mut out = String::new();
    for report in reports {
        let file = one_line(&report.file);
        for line in &report.lines {
            finding(&mut out, &file, line);
        }
        let _ = writeln!(out, "{file}: {}", summary(report));
    }
    out
}

fn finding(out: &mut String, file: &str, line: &Line) {
    let (style, word) = if line.is_error { (RED, "error") } else { (YELLOW, "warning") };
    let Position { line: number, column } = line.position;
    let _ = write!(
        out,
        "{BOLD}{file}:{number}:{column}{BOLD:#}  {style}{word}[{}]{style:#}  {}",
        line.code(),
        one_line(&line.subject)
    );
    // Said where it is another one than the code that already stands there.
    if let Some(code) = line.gate_code.map(callgate_wire::Code::as_str).filter(|code| *code != line.code()) {
        let _ = write!(out, "  ({code})");
    }
    let place = if line.pointer.is_empty() { "the root".to_owned() } else { one_line(&line.pointer) };
    let _ = write!(out, "\n    {}\n    at {place}\n", one_line(&line.finding.message));
    if let Some(help) = &line.finding.help {
        let _ = writeln!(out, "    help: {}", one_line(help));
    }
    out.push('\n');
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
    for (at, line) in report.lines.iter().enumerate() {
        out.extend_from_slice(if at == 0 { b"{\"severity\":" } else { b",{\"severity\":" });
        write_string(out, if line.is_error { "error" } else { "warning" });
        out.extend_from_slice(b",\"tool\":");
        write_string(out, &line.subject);
        out.extend_from_slice(b",\"pointer\":");
        write_string(out, &line.pointer);
        let Position { line: number, column } = line.position;
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

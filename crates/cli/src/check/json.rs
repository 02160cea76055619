//! Reports for programs.

use callgate_schema::json::{Position, write_string};

use super::report::{Known, Report, Verdict};
use crate::render::diagnostic::SourceText;

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
        write_string(out, line.severity().word());
        out.extend_from_slice(b",\"known\":");
        match line.known {
            None => out.extend_from_slice(b"null"),
            Some(Known::Allowed) => write_string(out, "allowed"),
            Some(Known::Baseline) => write_string(out, "baseline"),
        }
        out.extend_from_slice(b",\"tool\":");
        write_string(out, &line.subject);
        out.extend_from_slice(b",\"pointer\":");
        write_string(out, &line.pointer);
        let Position { line: number, column } = source.position(line.span().start);
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

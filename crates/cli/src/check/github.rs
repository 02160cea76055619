//! Findings as commands of a GitHub workflow, which shows them beside the lines that they are about.

use std::fmt::Write as _;

use super::report::Report;
use crate::render::diagnostic::SourceText;
use crate::render::escape::one_line;

/// One command a finding.
pub(super) fn annotations(reports: &[Report]) -> String {
    let mut out = String::new();
    for report in reports {
        let source = SourceText::new(&report.file, &report.text, 0);
        for line in report.shown() {
            let span = line.span();
            let (start, end) = (source.position(span.start), source.position(span.end));
            let title = format!("{}: {}", line.code(), line.subject);
            let help = line
                .finding
                .help
                .as_deref()
                .map_or_else(String::new, |help| format!("\nhelp: {}", one_line(help)));
            let message =
                format!("{}\nat {}{help}", one_line(&line.finding.message), one_line(&line.pointer));
            let _ = write!(out, "::{} file={}", line.severity().word(), property(&report.file));
            let _ = write!(out, ",line={},endLine={}", start.line, end.line);
            // Columns of a place of several lines are ignored there, with a warning.
            if start.line == end.line {
                let _ = write!(out, ",col={},endColumn={}", start.column, end.column);
            }
            let _ = writeln!(out, ",title={}::{}", property(&one_line(&title)), data(&message));
        }
    }
    out
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

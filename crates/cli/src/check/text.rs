//! Reports for people: each finding in the text, a table of the codes, a line for each file.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use callgate_wire::Code;
use comfy_table::CellAlignment;

use super::report::{Known, Line, Report, Verdict};
use crate::pages::why;
use crate::render::diagnostic::{BOLD, Diagnostic, SourceText, wrap, wrap_title};
use crate::render::escape::one_line;
use crate::render::table::{table, terminal_width};

/// Findings of one code that are shown with their places; of further ones in the file there is a line each.
const DRAWN_MAX: usize = 3;

/// Whatever comes from the files is in one line and can be seen. `stale` findings of the baseline were not found. Errors
/// come last, so that they stand where the eye is when all has been printed.
pub(super) fn text(reports: &[Report], stale: usize, is_full: bool) -> String {
    let mut out = String::new();
    let mut explained = BTreeSet::new();
    for report in reports {
        let source = SourceText::new(&report.file, &report.text, terminal_width());
        for is_error in [false, true] {
            let lines: Vec<&Line> = report.shown().filter(|line| line.is_error == is_error).collect();
            let drawn_max = if is_full { usize::MAX } else { DRAWN_MAX };
            let mut further: BTreeMap<(&str, &str), Vec<&Line>> = BTreeMap::new();
            let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
            for line in lines {
                let seen = seen.entry(line.code()).or_default();
                *seen += 1;
                if *seen <= drawn_max {
                    source.draw(&mut out, &diagnostic(line, &notes(line, explained.insert(line.code()))));
                } else {
                    further.entry((line.code(), &line.finding.message)).or_default().push(line);
                }
            }
            for lines in further.values() {
                out.push_str(&listed(&source, lines));
            }
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

/// Findings that say the same, a line each.
fn listed(source: &SourceText<'_>, lines: &[&Line]) -> String {
    let Some(first) = lines.first() else { return String::new() };
    let (style, word, count) = (first.severity().style(), first.severity().word(), lines.len());
    let title = format!("{count} more: {} (`--full` draws them)", first.finding.message);
    let head = format!("{word}[{}]", first.code());
    let title = wrap_title(&one_line(&title), &head, terminal_width());
    let mut out = format!("{style}{head}{style:#}{BOLD}: {title}{BOLD:#}\n");
    for line in lines {
        let at = source.position(line.span().start);
        let _ = writeln!(
            out,
            "  {}:{} {}",
            at.line,
            at.column,
            one_line(&format!("{}{}", line.subject, line.pointer_below()))
        );
    }
    out.push('\n');
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
    let has_errors = reports.iter().any(|report| report.errors() > 0);
    let effect = if has_errors {
        "A tool with an error is not admitted: a gate leaves it out of its list. "
    } else {
        ""
    };
    let hint = format!(
        "{effect}`callgate explain CODE` says more; `--allow CODE` leaves a code out, and `--write-baseline FILE` with \
         `--baseline FILE` what is known."
    );
    format!("{table}\n{}", wrap(&hint, terminal_width()).join("\n"))
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
        _ => "not admitted",
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

//! What was found in a file, and how it is printed.

use anstyle::{AnsiColor, Style};
use callgate_schema::json::{Position, Tape, position, write_string};
use callgate_schema::{Finding, Options, Program};

use crate::check::source::{Source, Subject, What};
use crate::exit_code::Failure;

/// What was found in one file.
#[derive(Debug)]
pub(super) struct Report {
    file: String,
    tools: usize,
    refused: usize,
    lines: Vec<Line>,
}

/// One finding with its place in the file.
#[derive(Debug)]
struct Line {
    tool: String,
    pointer: String,
    position: Position,
    is_error: bool,
    what: Remark,
}

/// What is said of the place.
#[derive(Debug)]
enum Remark {
    Finding(Box<Finding>),
    NameRepeated,
}

impl Remark {
    fn code(&self) -> &'static str {
        match self {
            Remark::Finding(finding) => finding.code.as_str(),
            Remark::NameRepeated => callgate_wire::Code::ToolNameRepeated.as_str(),
        }
    }

    fn message(&self) -> &str {
        match self {
            Remark::Finding(finding) => &finding.message,
            Remark::NameRepeated => "expected each tool's name once, found it again in this catalog",
        }
    }

    fn help(&self) -> Option<&str> {
        match self {
            Remark::Finding(finding) => finding.help.as_deref(),
            Remark::NameRepeated => Some("give each tool a name of its own"),
        }
    }
}

impl Report {
    /// Checks a file's text.
    pub(super) fn of(file: &str, text: &[u8], options: &Options) -> anyhow::Result<Report> {
        if text.trim_ascii().is_empty() {
            return Err(Failure::usage(format!("expected a catalog or a schema in `{file}`, found nothing")));
        }
        let source = Source::of(text);
        let mut report = Report { file: file.to_owned(), tools: source.tools, refused: 0, lines: Vec::new() };
        for subject in &source.subjects {
            report.add(text, subject, options);
        }
        if source.tools > 0 {
            report.repeated_names(text, &source);
        }
        Ok(report)
    }

    /// Whether nothing is refused; doubts alone are good.
    pub(super) fn is_good(&self) -> bool {
        self.lines.iter().all(|line| !line.is_error)
    }

    fn add(&mut self, text: &[u8], subject: &Subject, options: &Options) {
        let slice = text.get(subject.span.clone()).unwrap_or_default();
        let compiled = match subject.what {
            What::Input => Program::compile(slice, options),
            What::Output => {
                Program::compile(slice, &Options { limits: options.limits.clone(), ..Options::value() })
            }
            What::Tool => match Tape::new().read(slice, &options.limits.schema_text()) {
                Err(fault) => return self.refuse(text, subject, vec![fault.finding()]),
                Ok(_) => Program::absent(),
            },
        };
        match compiled {
            Ok(program) => self.lines(text, subject, program.warnings().to_vec(), false),
            // An output that cannot be checked does not keep a tool from being called.
            Err(error) if subject.what == What::Output => self.lines(text, subject, error.findings, false),
            Err(error) => self.refuse(text, subject, error.findings),
        }
    }

    fn refuse(&mut self, text: &[u8], subject: &Subject, findings: Vec<Finding>) {
        self.refused += 1;
        self.lines(text, subject, findings, true);
    }

    fn lines(&mut self, text: &[u8], subject: &Subject, findings: Vec<Finding>, is_error: bool) {
        for finding in findings {
            let offset = subject.span.start + finding.offset.unwrap_or(0);
            let below = finding.schema_location.as_deref().unwrap_or_default();
            self.lines.push(Line {
                tool: subject.name.clone(),
                pointer: format!("{}{below}", subject.pointer),
                position: position(text, offset),
                is_error,
                what: Remark::Finding(Box::new(finding)),
            });
        }
    }

    /// Tools that bear one name: none of them can be called by it.
    fn repeated_names(&mut self, text: &[u8], source: &Source) {
        let inputs = || source.subjects.iter().filter(|subject| subject.what == What::Input);
        let mut bearers = std::collections::HashMap::new();
        for subject in inputs() {
            *bearers.entry(subject.name.as_str()).or_insert(0usize) += 1;
        }
        for subject in inputs().filter(|subject| bearers.get(subject.name.as_str()) > Some(&1)) {
            self.refused += 1;
            self.lines.push(Line {
                tool: subject.name.clone(),
                pointer: subject.pointer.clone(),
                position: position(text, subject.span.start),
                is_error: true,
                what: Remark::NameRepeated,
            });
        }
    }

    fn summary(&self) -> String {
        let errors = self.lines.iter().filter(|line| line.is_error).count();
        let warnings = self.lines.len() - errors;
        let counts = format!("{} and {}", several(errors, "error"), several(warnings, "warning"));
        if self.tools == 0 {
            let verdict = if self.refused == 0 { "admitted" } else { "refused" };
            return format!("{}: the schema is {verdict}; {counts}", self.file);
        }
        let admitted = self.tools - self.refused.min(self.tools);
        format!("{}: {admitted} of {} admitted; {counts}", self.file, several(self.tools, "tool"))
    }
}

fn several(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
const BOLD: Style = Style::new().bold();

/// Prints for people, with colours only on a terminal.
pub(super) fn print(reports: &[Report]) {
    for report in reports {
        for line in &report.lines {
            let (style, word) = if line.is_error { (RED, "error") } else { (YELLOW, "warning") };
            let Line { tool, pointer, position, what, .. } = line;
            anstream::println!(
                "{BOLD}{}:{}:{}{BOLD:#}  {style}{word}[{}]{style:#}  {tool}",
                report.file,
                position.line,
                position.column,
                what.code()
            );
            anstream::println!("    {}", what.message());
            anstream::println!("    at {}", if pointer.is_empty() { "the root" } else { pointer });
            if let Some(help) = what.help() {
                anstream::println!("    help: {help}");
            }
            anstream::println!();
        }
        anstream::println!("{}", report.summary());
    }
}

/// Prints for programs: an array of reports, on one line.
pub(super) fn print_json(reports: &[Report]) {
    let mut out = b"[".to_vec();
    for (at, report) in reports.iter().enumerate() {
        out.extend_from_slice(if at == 0 { b"" } else { b"," });
        report.write_json(&mut out);
    }
    out.push(b']');
    anstream::println!("{}", String::from_utf8_lossy(&out));
}

impl Report {
    fn write_json(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"file\":");
        write_string(out, &self.file);
        let counts = format!(",\"tools\":{},\"refused\":{},\"findings\":[", self.tools, self.refused);
        out.extend_from_slice(counts.as_bytes());
        for (at, line) in self.lines.iter().enumerate() {
            out.extend_from_slice(if at == 0 { b"{\"severity\":" } else { b",{\"severity\":" });
            write_string(out, if line.is_error { "error" } else { "warning" });
            out.extend_from_slice(b",\"tool\":");
            write_string(out, &line.tool);
            out.extend_from_slice(b",\"pointer\":");
            write_string(out, &line.pointer);
            let Position { line: number, column } = line.position;
            out.extend_from_slice(format!(",\"line\":{number},\"column\":{column},\"code\":").as_bytes());
            write_string(out, line.what.code());
            out.extend_from_slice(b",\"message\":");
            write_string(out, line.what.message());
            if let Remark::Finding(finding) = &line.what {
                out.extend_from_slice(b",\"finding\":");
                finding.write_json(out);
            }
            out.push(b'}');
        }
        out.extend_from_slice(b"]}");
    }
}

//! The verdict on one call's arguments, drawn in their text.

use std::fmt::Write as _;
use std::ops::Range;

use anstyle::{AnsiColor, Style};
use callgate_schema::json::{Kind, Member, Node, Tape, write_string};
use callgate_schema::{Class, Code, Detail, Finding, Limits, Location, Step, Verdict};

use super::contract::{Contract, exit};
use super::{Args, Format};
use crate::exit_code::{ExitCode, Failure};
use crate::render::diagnostic::{Diagnostic, Label, Severity, SourceText};
use crate::render::escape::one_line;
use crate::render::{output, table};

const GREEN: Style = AnsiColor::Green.on_default().bold();

/// What was found in one call's arguments.
struct Judged {
    findings: Vec<(Finding, Range<usize>)>,
    truncated: bool,
}

pub(super) fn run(args: &Args, contract: &Contract, name: &str, text: &[u8]) -> anyhow::Result<ExitCode> {
    let Contract::Tool { tool, catalog } = contract else {
        return Err(Failure::usage("expected `--tool` with the name of a tool, found none"));
    };
    if args.for_model {
        let told = Contract::told_to_model(catalog, &tool.name, text);
        match &told {
            Some(text) => output::print_exact(format!("{text}\n").as_bytes())?,
            None => output::remark("a gate would tell the model nothing: the call goes to the tool\n"),
        }
        return Ok(exit(told.is_none()));
    }
    let mut tape = Tape::new();
    let judged = match tape.read(text, &Limits::default().arguments_text()) {
        Err(fault) => {
            let at = fault.offset.min(text.len());
            Judged {
                findings: vec![(fault.finding(), at..(at + 1).min(text.len()).max(at))],
                truncated: false,
            }
        }
        Ok(node) => judge(&tool.input, node),
    };
    match args.format {
        Format::Text => output::print(&drawn(&judged, name, text, &tool.name))?,
        Format::Json => output::print_exact(&json(&judged, name, text, &tool.name))?,
    }
    Ok(exit(judged.findings.is_empty()))
}

fn judge(program: &callgate_schema::Program, node: Node<'_>) -> Judged {
    let placed = |finding: Finding| {
        let holder = finding.instance_location.as_ref().map_or(node, |place| value_at(node, place));
        let name = if finding.code == Code::PropertyUnexpected { name_in(holder, &finding) } else { None };
        let span = name.unwrap_or_else(|| holder.span());
        (finding, span)
    };
    if node.kind() != Kind::Object {
        return Judged { findings: vec![placed(no_object(node.kind()))], truncated: false };
    }
    match program.check(node) {
        Verdict::Valid => Judged { findings: Vec::new(), truncated: false },
        Verdict::Failed(finding) => Judged { findings: vec![placed(*finding)], truncated: false },
        Verdict::Invalid(violations) => Judged {
            findings: violations.findings.into_iter().map(placed).collect(),
            truncated: violations.truncated,
        },
    }
}

/// Arguments are an object, whatever a schema says.
pub(super) fn no_object(found: Kind) -> Finding {
    let message = format!("expected an object as the arguments, found {}", found.name());
    Finding::new(Code::ArgumentsShape, message).at_instance(Location::default()).at_schema("type", "")
}

/// Where the name stands that should not be there.
fn name_in(object: Node<'_>, finding: &Finding) -> Option<Range<usize>> {
    let name = finding.details.iter().find_map(|(_, detail)| match detail {
        Detail::Text(text) => Some(text),
        Detail::Count(_) | Detail::Json(_) => None,
    })?;
    object.members().find(|member| member.name_is(name)).map(Member::name_span)
}

/// The value at this place; of what is not there, what would hold it.
fn value_at<'t>(root: Node<'t>, place: &Location) -> Node<'t> {
    let mut here = root;
    for step in &place.0 {
        let next = match step {
            Step::Name(name) => here.member(name),
            Step::Index(index) => here.items().nth(*index),
        };
        match next {
            Some(next) => here = next,
            None => break,
        }
    }
    here
}

fn drawn(judged: &Judged, name: &str, text: &[u8], tool: &str) -> String {
    let source = SourceText::new(name, text, table::terminal_width());
    let mut out = String::new();
    for (finding, span) in &judged.findings {
        let place = finding.instance_location.as_ref().map(Location::arguments_path).unwrap_or_default();
        let labels = [Label::new(span.clone(), place)];
        let mut notes = Vec::new();
        if let Some(help) = &finding.help {
            notes.push(("help", help.clone()));
        }
        if let Some(location) = finding.schema_location.as_deref().filter(|location| !location.is_empty()) {
            notes.push(("schema", location.to_owned()));
        }
        let code = finding.code.as_str();
        let title = &finding.message;
        source.draw(
            &mut out,
            &Diagnostic { severity: Severity::Error, code, title, labels: &labels, notes: &notes },
        );
    }
    let (name, tool) = (one_line(name), one_line(tool));
    let _ = match judged.findings.as_slice() {
        [] => writeln!(out, "{name}: {GREEN}valid{GREEN:#}, as `{tool}` wants it"),
        [(only, _)] if only.class() == Class::ExecutionFailure => {
            writeln!(out, "{name}: undecided for `{tool}`: a limit came first")
        }
        findings => {
            let more = if judged.truncated { "at least " } else { "" };
            let noun = if findings.len() == 1 { "finding" } else { "findings" };
            writeln!(out, "{name}: invalid for `{tool}`: {more}{} {noun}", findings.len())
        }
    };
    out
}

/// One object on one line.
fn json(judged: &Judged, name: &str, text: &[u8], tool: &str) -> Vec<u8> {
    let source = SourceText::new(name, text, 0);
    let verdict = match judged.findings.first() {
        None => "valid",
        Some((finding, _)) if finding.class() == Class::ExecutionFailure => "undecided",
        Some(_) => "invalid",
    };
    let mut out = b"{\"verdict\":".to_vec();
    write_string(&mut out, verdict);
    out.extend_from_slice(b",\"tool\":");
    write_string(&mut out, tool);
    out.extend_from_slice(b",\"findings\":[");
    for (at, (finding, span)) in judged.findings.iter().enumerate() {
        let position = source.position(span.start);
        let before = if at == 0 { "" } else { "," };
        out.extend_from_slice(
            format!("{before}{{\"line\":{},\"column\":{},\"finding\":", position.line, position.column)
                .as_bytes(),
        );
        finding.write_json(&mut out);
        out.push(b'}');
    }
    out.extend_from_slice(format!("],\"truncated\":{}}}\n", judged.truncated).as_bytes());
    out
}

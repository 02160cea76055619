//! `callgate check --for`: which receivers take a tool's schema as it is, and what the others do to it.

mod print;

use callgate_schema::json::{Kind, Node, Tape};
use callgate_schema::{Finding, Limits};

use super::input::Input;
use super::source::{Slice, Source};
use super::{Args, ReportFormat};
use crate::exit_code::{ExitCode, Failure};
use crate::receivers::{Does, Receiver, Remark, Tree, judge, named};
use crate::render::output;

/// One file's tools, judged.
#[derive(Debug)]
struct Judged {
    file: String,
    tools: Vec<Tool>,
}

#[derive(Debug)]
struct Tool {
    /// Its name, or how else to call it.
    label: String,
    /// JSON Pointer to its schema in the file.
    pointer: String,
    verdicts: Result<Vec<Verdict>, Box<Finding>>,
}

/// What one receiver does to one tool's schema.
#[derive(Debug)]
struct Verdict {
    receiver: &'static Receiver,
    remarks: Vec<Placed>,
}

/// A remark with its line in the file, from 1.
#[derive(Debug)]
struct Placed {
    remark: Remark,
    line: usize,
}

impl Verdict {
    fn count(&self, does: Does) -> usize {
        self.remarks.iter().filter(|placed| placed.remark.rule.does == does).count()
    }

    fn refuses(&self) -> bool {
        self.count(Does::Refuses) > 0
    }
}

impl Tool {
    /// Whether some receiver does not take it.
    fn is_refused(&self) -> bool {
        self.verdicts.as_ref().map_or(true, |verdicts| verdicts.iter().any(Verdict::refuses))
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let receivers: Vec<&'static Receiver> = args.receivers.iter().filter_map(|name| named(name)).collect();
    let mut judged = Vec::new();
    for Input { name, text } in super::inputs(args)? {
        judged.push(Judged { file: name, tools: tools(&text, &receivers) });
    }
    let is_good = !judged.iter().flat_map(|file| &file.tools).any(Tool::is_refused);
    match args.format {
        ReportFormat::Text => output::print(&print::text(&judged, &receivers))?,
        ReportFormat::Json => output::print_exact(&print::json(&judged, &receivers))?,
        ReportFormat::Sarif | ReportFormat::Github => {
            return Err(Failure::usage("expected `--format text` or `--format json` beside `--for`"));
        }
    }
    Ok(if is_good { ExitCode::Success } else { ExitCode::Findings })
}

fn tools(text: &[u8], receivers: &[&'static Receiver]) -> Vec<Tool> {
    let lines = Lines::of(text);
    let root = Slice::whole(text);
    match Source::of(text) {
        Source::Schema => vec![tool("(schema)".into(), Some(root), text, receivers, &lines)],
        Source::Catalog { tools, .. } => tools
            .iter()
            .enumerate()
            .map(|(index, slice)| {
                let label = name(slice, text).unwrap_or_else(|| format!("#{index}"));
                tool(label, slice.member(text, "inputSchema"), text, receivers, &lines)
            })
            .collect(),
    }
}

fn name(slice: &Slice, text: &[u8]) -> Option<String> {
    let mut tape = Tape::new();
    let raw = slice.member(text, "name")?;
    let node = tape.read(raw.text(text), &Limits::default().schema_text()).ok()?;
    node.as_str().map(std::borrow::Cow::into_owned)
}

fn tool(
    label: String,
    schema: Option<Slice>,
    text: &[u8],
    receivers: &[&'static Receiver],
    lines: &Lines,
) -> Tool {
    let Some(slice) = schema else {
        let finding = Finding::new(
            callgate_schema::Code::SchemaMissing,
            "expected a schema for the tool's arguments, found none",
        );
        return Tool { label, pointer: String::new(), verdicts: Err(Box::new(finding)) };
    };
    let mut tape = Tape::new();
    let verdicts = match tape.read(slice.text(text), &Limits::default().schema_text()) {
        Ok(node) if node.kind() == Kind::Object => Ok(verdicts(node, &slice, receivers, lines)),
        Ok(node) => {
            let message = format!("expected a schema as an object, found {}", node.kind().name());
            Err(Box::new(Finding::new(callgate_schema::Code::SchemaShape, message)))
        }
        Err(fault) => Err(Box::new(fault.finding())),
    };
    Tool { label, pointer: slice.pointer, verdicts }
}

fn verdicts(node: Node<'_>, slice: &Slice, receivers: &[&'static Receiver], lines: &Lines) -> Vec<Verdict> {
    let schema = Tree::of(node);
    let place = |remark: Remark| {
        let offset = slice.span.start + nearest(node, &remark.pointer).span().start;
        Placed { line: lines.of_offset(offset), remark }
    };
    receivers
        .iter()
        .map(|receiver| Verdict {
            receiver,
            remarks: judge(&schema, receiver).into_iter().map(place).collect(),
        })
        .collect()
}

/// The value at a pointer, or what would hold it.
fn nearest<'t>(root: Node<'t>, pointer: &str) -> Node<'t> {
    let mut pointer = pointer;
    loop {
        if let Some(node) = root.pointer(pointer) {
            return node;
        }
        let Some((holder, _)) = pointer.rsplit_once('/') else { return root };
        pointer = holder;
    }
}

/// Where lines begin, so that many places of one file cost one walk over it.
#[derive(Debug)]
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &[u8]) -> Lines {
        let breaks = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        Lines(breaks.map(|(at, _)| at + 1).collect())
    }

    fn of_offset(&self, offset: usize) -> usize {
        self.0.partition_point(|start| *start <= offset) + 1
    }
}

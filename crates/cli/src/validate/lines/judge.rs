//! What is wrong with each line of a chunk.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use callgate_gateway::catalog::Lookup;
use callgate_schema::json::{Kind, Node, ReadLimits, Tape};
use callgate_schema::{Class, Code, Detail, Finding, Limits, Options, Program, Verdict};

use super::LINE_BYTES_MAX;
use super::chunk::Chunk;
use super::tally::Tally;
use crate::validate::Format;
use crate::validate::contract::Contract;
use crate::validate::one::no_object;

/// Bytes of the schemas' texts whose programs are kept, where each line brings its own. Programs take several times their
/// text.
const SCHEMAS_BYTES_MAX: usize = 2 << 20;

/// Findings of one line that are told and counted.
const FINDINGS_MAX: usize = 8;

/// What came of one chunk.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) sequence: u64,
    pub(super) tally: Tally,
    /// The lines with findings, as many as may be shown.
    pub(super) told: Vec<Told>,
    pub(super) bytes: usize,
    /// Empty, to be used again.
    pub(super) buffer: Vec<u8>,
}

/// A line with findings.
#[derive(Debug)]
pub(super) struct Told {
    /// From 1, within the chunk.
    pub(super) line: u64,
    pub(super) tool: Option<String>,
    pub(super) findings: Vec<Finding>,
}

/// One worker's state.
pub(super) struct Judge<'c> {
    contract: &'c Contract,
    /// Lines of a chunk that are told; the others are only counted.
    told_max: usize,
    tape: Tape,
    limits: Limits,
    programs: Programs,
}

impl<'c> Judge<'c> {
    pub(super) fn new(contract: &'c Contract, format: Format, show: u64) -> Judge<'c> {
        let told_max = match format {
            Format::Json => usize::MAX,
            Format::Text => usize::try_from(show).unwrap_or(usize::MAX),
        };
        let options = match contract {
            Contract::Own(settings) => {
                Options { limits: settings.limits.clone(), ..Options::tool(settings.profile) }
            }
            Contract::Tool { .. } | Contract::Catalog(_) => Options::tool(callgate_schema::Profile::Standard),
        };
        let limits = options.limits.clone();
        let programs = Programs { options, known: HashMap::new(), bytes: 0 };
        Judge { contract, told_max, tape: Tape::new(), limits, programs }
    }

    pub(super) fn chunk(&mut self, chunk: Chunk) -> Outcome {
        let Chunk { sequence, bytes, read, first_is_overlong } = chunk;
        let (mut tally, mut told) = (Tally::default(), Vec::new());
        let mut start = 0;
        while start < bytes.len() || start == 0 && first_is_overlong {
            let end = memchr::memchr(b'\n', bytes.get(start..).unwrap_or_default());
            let end = end.map_or(bytes.len(), |end| start + end);
            let line = bytes.get(start..end).unwrap_or_default();
            tally.lines += 1;
            if first_is_overlong && start == 0 || line.len() > LINE_BYTES_MAX {
                self.tell(&mut tally, &mut told, None, vec![overlong()]);
            } else if line.trim_ascii().is_empty() {
                tally.blank += 1;
            } else {
                let (tool, findings) = self.line(line);
                if findings.is_empty() {
                    tally.valid += 1;
                } else {
                    self.tell(&mut tally, &mut told, tool, findings);
                }
            }
            start = end + 1;
        }
        let mut buffer = bytes;
        buffer.clear();
        Outcome { sequence, tally, told, bytes: read, buffer }
    }

    fn tell(
        &self,
        tally: &mut Tally,
        told: &mut Vec<Told>,
        tool: Option<String>,
        mut findings: Vec<Finding>,
    ) {
        findings.truncate(FINDINGS_MAX);
        tally.count(tool.as_deref(), &findings);
        if told.len() < self.told_max {
            told.push(Told { line: tally.lines, tool, findings });
        }
    }

    /// The tool's name, where the line says it, and what is wrong.
    fn line(&mut self, line: &[u8]) -> (Option<String>, Vec<Finding>) {
        match self.contract {
            Contract::Tool { tool, .. } => {
                let read = self.tape.read(line, &self.limits.arguments_text());
                (None, read.map_or_else(|fault| vec![fault.finding()], |node| findings(&tool.input, node)))
            }
            Contract::Catalog(catalog) => {
                let root = match self.tape.read(line, &around(&self.limits)) {
                    Ok(root) => root,
                    Err(fault) => return (None, vec![fault.finding()]),
                };
                let call =
                    root.member("params").filter(|params| params.kind() == Kind::Object).unwrap_or(root);
                let Some(name) = call.member("name").and_then(Node::as_str) else {
                    return (None, vec![malformed("expected the tool's `name`, found none")]);
                };
                let findings = match catalog.tool(&name) {
                    Lookup::Admitted(tool) => call
                        .member("arguments")
                        .map_or_else(|| without_arguments(&tool.input), |node| findings(&tool.input, node)),
                    Lookup::Quarantined(_) => {
                        vec![malformed("expected a tool that is admitted, found one that is not")]
                    }
                    Lookup::Unknown => {
                        vec![malformed("expected the name of a tool that is listed, found another")]
                    }
                };
                let name = if findings.is_empty() { None } else { Some(Cow::into_owned(name)) };
                (name, findings)
            }
            Contract::Own(_) => {
                let root = match self.tape.read(line, &around(&self.limits)) {
                    Ok(root) => root,
                    Err(fault) => return (None, vec![fault.finding()]),
                };
                let Some(schema) = root.member("schema") else {
                    return (None, vec![malformed("expected `schema` and `arguments`, found no `schema`")]);
                };
                let findings = match self.programs.of(schema.raw()).as_ref() {
                    Err(findings) => findings.clone(),
                    Ok(program) => root
                        .member("arguments")
                        .map_or_else(|| without_arguments(program), |node| findings(program, node)),
                };
                (None, findings)
            }
        }
    }
}

fn findings(program: &Program, arguments: Node<'_>) -> Vec<Finding> {
    if arguments.kind() != Kind::Object {
        return vec![no_object(arguments.kind())];
    }
    match program.check(arguments) {
        Verdict::Valid => Vec::new(),
        Verdict::Invalid(violations) => violations.findings,
        Verdict::Failed(finding) => vec![*finding],
    }
}

/// A call without arguments has none of them.
fn without_arguments(program: &Program) -> Vec<Finding> {
    let mut tape = Tape::new();
    let read = tape.read(b"{}", &Limits::default().arguments_text());
    read.map_or_else(|fault| vec![fault.finding()], |node| findings(program, node))
}

/// The limits of a line: those of arguments, with what is around them.
fn around(limits: &Limits) -> ReadLimits {
    let arguments = limits.arguments_text();
    ReadLimits {
        subject: "line",
        bytes_max: LINE_BYTES_MAX as u64,
        depth_max: arguments.depth_max + 2,
        nodes_max: arguments.nodes_max + limits.schema_nodes_max,
        ..arguments
    }
}

fn overlong() -> Finding {
    Finding::new(
        Code::LimitExceeded,
        format!("expected at most {LINE_BYTES_MAX} bytes (line_bytes), found more"),
    )
    .with("limit", Detail::Text("line_bytes".into()))
    .with("maximum", Detail::Count(LINE_BYTES_MAX as u64))
}

fn malformed(message: &str) -> Finding {
    debug_assert_eq!(Code::RequestMalformed.class(), Class::Validation);
    Finding::new(Code::RequestMalformed, message)
}

/// A program, or why there is none.
type Compiled = Arc<Result<Program, Vec<Finding>>>;

/// The programs of the schemas that lines bring with them.
struct Programs {
    options: Options,
    known: HashMap<Box<[u8]>, Compiled>,
    bytes: usize,
}

impl Programs {
    fn of(&mut self, schema: &[u8]) -> Compiled {
        if let Some(known) = self.known.get(schema) {
            return Arc::clone(known);
        }
        let compiled = Program::compile(schema, &self.options).map_err(|error| error.findings);
        let compiled = Arc::new(compiled);
        if self.bytes + schema.len() > SCHEMAS_BYTES_MAX {
            self.known.clear();
            self.bytes = 0;
        }
        self.bytes += schema.len();
        self.known.insert(schema.into(), Arc::clone(&compiled));
        compiled
    }
}

//! What is found in a file. Tools are judged by the gate's own judgement, so that `check` and `wrap` agree.

use std::collections::BTreeMap;
use std::ops::Range;

use callgate_gateway::catalog::{
    Admission, AdmissionSettings, AdmittedTool, Catalog, OutputContract, QuarantinedTool, admit_tools,
};
use callgate_schema::json::{ReadFault, ReadLimits, Tape};
use callgate_schema::{
    Code as SchemaCode, Finding, Options, Profile, Program, Root, UnknownKeywords, open_root,
};
use callgate_wire::Code;
use indicatif::{ProgressBar, ProgressStyle};

use super::input::Input;
use super::labels::labels;
use super::source::{Slice, Source};
use crate::render::diagnostic::{Label, Severity};
use crate::render::escape::one_line;

/// Findings of one schema that are told. A hundred are enough for a caller; an author wants to see all of them at once.
const FINDINGS_MAX: u64 = 10_000;

/// Tools from which on a check takes long enough to show how far it is.
const PROGRESS_TOOLS_MIN: usize = 500;

/// Other tools of the same name that are shown.
const OTHERS_MAX: usize = 3;

/// What was found in one file.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) file: String,
    pub(super) text: Vec<u8>,
    pub(super) verdict: Verdict,
    /// In the order of the file.
    pub(super) lines: Vec<Line>,
}

/// What is said of the whole file.
#[derive(Debug, Clone, Copy)]
pub(super) enum Verdict {
    Schema {
        is_admitted: bool,
    },
    Catalog {
        tools: usize,
        admitted: usize,
    },
    /// Something is wrong outside of the tools that were found: nobody can take any of them.
    Malformed {
        tools: usize,
    },
}

/// One finding with its place in the file.
#[derive(Debug)]
pub(super) struct Line {
    /// The tool's name, or how else to call what the finding is about.
    pub(super) subject: String,
    pub(super) pointer: String,
    /// The places of the file that it is about, the one at fault first; never none.
    pub(super) labels: Vec<Label>,
    pub(super) is_error: bool,
    /// What the gate says of the tool because of this.
    pub(super) gate_code: Option<Code>,
    pub(super) finding: Finding,
    /// Why it is not shown, if it is not.
    pub(super) known: Option<Known>,
}

/// Why a finding is not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    /// Its code is allowed.
    Allowed,
    /// The baseline has it.
    Baseline,
}

impl Line {
    /// The place at fault.
    pub(super) fn span(&self) -> Range<usize> {
        self.labels.first().map_or(0..0, |label| label.span.clone())
    }

    /// The place within the tool: the pointer without the way to the tool.
    pub(super) fn pointer_below(&self) -> &str {
        let steps = self.pointer.match_indices("/properties/").next();
        steps.map_or("", |(at, _)| self.pointer.get(at..).unwrap_or_default())
    }

    pub(super) fn severity(&self) -> Severity {
        if self.is_error { Severity::Error } else { Severity::Warning }
    }

    /// The code to look up: the finding's, but for a tool without a name, with another's, or that is no object: of these
    /// the gate's code says more.
    pub(super) fn code(&self) -> &'static str {
        let is_about_name = matches!(
            self.finding.code,
            SchemaCode::TypeMismatch | SchemaCode::PropertyMissing | SchemaCode::StringTooShort
        );
        match self.gate_code {
            Some(code @ Code::ToolNameRepeated) => code.as_str(),
            Some(code @ Code::ToolDefinitionMalformed) if is_about_name => code.as_str(),
            _ => self.finding.code.as_str(),
        }
    }
}

/// How texts are checked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reporter {
    pub(super) profile: Profile,
    /// Whether arguments that say nothing of undeclared members are taken as closed.
    pub(super) close_open_objects: bool,
}

impl Reporter {
    /// Checks a text.
    pub(super) fn report(self, input: Input) -> Report {
        let Input { name: file, text } = input;
        let mut settings = AdmissionSettings::new(self.profile);
        settings.limits.findings_max = FINDINGS_MAX;
        let mut draft = Draft { text: &text, reporter: self, settings: &settings, lines: Vec::new() };
        let verdict = match Source::of(&text) {
            Source::Schema => draft.schema(),
            Source::Catalog { tools, fault } => draft.catalog(&file, &tools, fault),
        };
        let mut lines = draft.lines;
        lines.sort_by_key(|line| line.span().start);
        Report { file, text, verdict, lines }
    }
}

impl Report {
    /// The findings that are neither allowed nor known.
    pub(super) fn shown(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(|line| line.known.is_none())
    }

    /// How many of them are errors.
    pub(super) fn errors(&self) -> usize {
        self.shown().filter(|line| line.is_error).count()
    }

    /// How many of them are warnings.
    pub(super) fn warnings(&self) -> usize {
        self.shown().filter(|line| !line.is_error).count()
    }

    /// Whether the text is one schema.
    pub(super) fn is_schema(&self) -> bool {
        matches!(self.verdict, Verdict::Schema { .. })
    }
}

/// A bar for a long catalog. It is drawn on standard error, and only if that is a terminal.
fn progress(file: &str, tools: usize) -> ProgressBar {
    if tools < PROGRESS_TOOLS_MIN {
        return ProgressBar::hidden();
    }
    let template = "{msg} {wide_bar} {pos}/{len} tools, {eta} left";
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(tools as u64).with_style(style).with_message(one_line(file))
}

/// A report that is being made.
struct Draft<'a> {
    text: &'a [u8],
    reporter: Reporter,
    settings: &'a AdmissionSettings,
    lines: Vec<Line>,
}

/// What lines have in common that are about one part of the file.
struct About<'a> {
    subject: &'a str,
    part: &'a Slice,
    is_error: bool,
    gate_code: Option<Code>,
}

impl Draft<'_> {
    fn schema(&mut self) -> Verdict {
        let part = Slice { pointer: String::new(), span: 0..self.text.len(), key: None };
        let about = About { subject: "(schema)", part: &part, is_error: true, gate_code: None };
        self.compile(&about, Options::tool(self.settings.profile));
        Verdict::Schema { is_admitted: !self.lines.iter().any(|line| line.is_error) }
    }

    fn catalog(&mut self, file: &str, tools: &[Slice], fault: Option<ReadFault>) -> Verdict {
        let progress = progress(file, tools.len());
        let definitions = tools.iter().inspect(|_| progress.inc(1)).map(|tool| tool.text(self.text));
        let admissions = admit_tools(definitions, self.settings);
        progress.finish_and_clear();
        for (slice, admission) in tools.iter().zip(&admissions) {
            match admission {
                Admission::Admitted(tool) => self.admitted(slice, tool),
                Admission::Quarantined(tool) => self.quarantined(slice, tool),
            }
        }
        let catalog = Catalog::publish(0, file, admissions);
        self.repeated(tools, &catalog);
        match fault {
            None => Verdict::Catalog { tools: tools.len(), admitted: catalog.admitted().len() },
            Some(fault) => {
                let part = Slice { pointer: fault.pointer.clone(), span: 0..self.text.len(), key: None };
                let about = About { subject: "(file)", part: &part, is_error: true, gate_code: None };
                self.add(&about, &[fault.finding()]);
                Verdict::Malformed { tools: tools.len() }
            }
        }
    }

    /// Tools that share a name, each with the places of the others.
    fn repeated(&mut self, tools: &[Slice], catalog: &Catalog) {
        let repeated = catalog.quarantined().iter().filter(|tool| tool.code == Code::ToolNameRepeated);
        let repeated: Vec<&QuarantinedTool> = repeated.collect();
        let mut names: BTreeMap<String, Vec<Range<usize>>> = BTreeMap::new();
        for tool in &repeated {
            let name = tools.get(tool.index).and_then(|slice| slice.member(self.text, "name"));
            names.entry(tool.label()).or_default().extend(name.map(|name| name.span));
        }
        for tool in repeated {
            let Some(slice) = tools.get(tool.index) else { continue };
            self.definition(slice, tool);
            let places = names.get(&tool.label()).map_or(&[][..], Vec::as_slice);
            if let Some(line) = self.lines.last_mut() {
                let own = line.span().start;
                line.labels.iter_mut().for_each(|label| label.text.clear());
                let others = places.iter().filter(|place| place.start != own).take(OTHERS_MAX);
                line.labels.extend(others.map(|place| Label::new(place.clone(), "has the name too")));
            }
        }
    }

    fn admitted(&mut self, slice: &Slice, tool: &AdmittedTool) {
        let input = slice.member(self.text, "inputSchema").unwrap_or_else(|| slice.clone());
        let output = slice.member(self.text, "outputSchema").unwrap_or_else(|| slice.clone());
        let about = |part, gate_code| About { subject: &tool.name, part, is_error: false, gate_code };
        match self.closed(&input, tool.input.warnings()) {
            Some(findings) => self.add(&about(&input, None), &findings),
            None => self.add(&about(&input, None), tool.input.warnings()),
        }
        match &tool.output {
            OutputContract::Undeclared => {}
            OutputContract::Enforced(program) => self.add(&about(&output, None), program.warnings()),
            OutputContract::Unchecked(findings) => {
                self.add(&about(&output, Some(Code::ToolOutputSchemaUnchecked)), findings);
            }
        }
    }

    /// The gate stops at what refuses a tool; here the schemas that it did not come to are looked at too.
    fn quarantined(&mut self, slice: &Slice, tool: &QuarantinedTool) {
        let label = tool.label();
        let input = slice.member(self.text, "inputSchema");
        let mut about = About { subject: &label, part: slice, is_error: true, gate_code: Some(tool.code) };
        if tool.code == Code::ToolInputSchemaRefused {
            about.part = input.as_ref().unwrap_or(slice);
            self.add(&about, &tool.findings);
            self.doubts_beside(&about, &tool.findings, Options::tool(self.settings.profile));
        } else {
            self.definition(slice, tool);
            if self.definition_fault(slice).is_some() {
                return;
            }
            if let Some(part) = &input {
                self.compile(&About { part, ..about }, Options::tool(self.settings.profile));
            }
        }
        if let Some(part) = &slice.member(self.text, "outputSchema") {
            let gate_code = Some(Code::ToolOutputSchemaUnchecked);
            let about = About { subject: &label, part, is_error: false, gate_code };
            self.compile(&about, Options::value());
        }
    }

    /// What is wrong with a definition as a whole, or with its name.
    fn definition(&mut self, slice: &Slice, tool: &QuarantinedTool) {
        let mut part = slice.clone();
        match self.definition_fault(slice) {
            // Offsets are from the start of the definition.
            Some(fault) => part.pointer += &fault.pointer,
            None => part = slice.member(self.text, "name").unwrap_or(part),
        }
        let about = About { subject: &tool.label(), part: &part, is_error: true, gate_code: Some(tool.code) };
        self.add(&about, &tool.findings);
    }

    /// Why the definition cannot be read, which the gate says without the place.
    fn definition_fault(&self, slice: &Slice) -> Option<ReadFault> {
        let limits = ReadLimits { subject: "definition", ..self.settings.limits.schema_text() };
        Tape::new().read(slice.text(self.text), &limits).err()
    }

    /// Findings that refuse the schema are what `about` says; doubts are warnings, of which the gate says nothing.
    fn compile(&mut self, about: &About<'_>, options: Options) {
        let options = Options { limits: self.settings.limits.clone(), ..options };
        match Program::compile(about.part.text(self.text), &options) {
            Ok(program) => {
                let about = About { is_error: false, gate_code: None, ..*about };
                match self.closed(about.part, program.warnings()) {
                    Some(findings) => self.add(&about, &findings),
                    None => self.add(&about, program.warnings()),
                }
            }
            Err(error) => {
                self.add(about, &error.findings);
                self.doubts_beside(about, &error.findings, options);
            }
        }
    }

    /// The doubts about a schema whose only faults are keywords that nobody knows: those say nothing of the others. What
    /// is malformed or leads nowhere leaves no schema that a value could be tried on, but one can see whether its root is
    /// open.
    fn doubts_beside(&mut self, about: &About<'_>, faults: &[Finding], options: Options) {
        if !faults.iter().all(|fault| fault.code == SchemaCode::SchemaUnknownKeyword) {
            let no_root = |fault: &Finding| {
                matches!(
                    fault.code,
                    SchemaCode::SchemaMissing | SchemaCode::SchemaRoot | SchemaCode::SchemaShape
                )
            };
            let has_root = !faults.iter().any(no_root);
            if options.root == Root::Tool && has_root && !self.reporter.close_open_objects {
                let mut tape = Tape::new();
                let doubt = about.part.read(self.text, &mut tape).and_then(open_root);
                self.add(&About { is_error: false, gate_code: None, ..*about }, doubt.as_slice());
            }
            return;
        }
        let limits = self.settings.limits.clone();
        let options = Options { limits, unknown_keywords: UnknownKeywords::Annotate, ..options };
        let Ok(program) = Program::compile(about.part.text(self.text), &options) else { return };
        let mut doubts = program.warnings().to_vec();
        doubts.retain(|doubt| match doubt.code {
            // It has been said, as a fault.
            SchemaCode::SchemaNotEnforced => false,
            SchemaCode::SchemaOpenRoot => !self.reporter.close_open_objects,
            _ => true,
        });
        self.add(&About { is_error: false, gate_code: None, ..*about }, &doubts);
    }

    /// The doubts about an open schema as they are when it is closed, if that is how it is taken. What is added stands
    /// before the last brace, so that all places stay where they are.
    fn closed(&self, part: &Slice, warnings: &[Finding]) -> Option<Vec<Finding>> {
        let is_open = warnings.iter().any(|finding| finding.code == SchemaCode::SchemaOpenRoot);
        if !self.reporter.close_open_objects || !is_open {
            return None;
        }
        let text = part.text(self.text).trim_ascii_end();
        let members = text.strip_suffix(b"}")?;
        let comma: &[u8] = if members.trim_ascii_end().ends_with(b"{") { b"" } else { b"," };
        let closed = [members, comma, b"\"additionalProperties\":false}"].concat();
        let options =
            Options { limits: self.settings.limits.clone(), ..Options::tool(self.settings.profile) };
        Some(match Program::compile(&closed, &options) {
            Ok(program) => program.warnings().to_vec(),
            Err(error) => error.findings,
        })
    }

    fn add(&mut self, about: &About<'_>, findings: &[Finding]) {
        let mut tape = Tape::new();
        let root = if findings.is_empty() { None } else { about.part.read(self.text, &mut tape) };
        for finding in findings {
            let below = finding.schema_location.as_deref().unwrap_or_default();
            self.lines.push(Line {
                subject: about.subject.to_owned(),
                pointer: format!("{}{below}", about.part.pointer),
                labels: labels(self.text, about.part, root, finding),
                is_error: about.is_error,
                gate_code: about.gate_code,
                finding: finding.clone(),
                known: None,
            });
        }
    }
}

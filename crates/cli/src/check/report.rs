//! What is found in a file. Tools are judged by the gate's own judgement, so that `check` and `wrap` agree.

use callgate_gateway::catalog::{
    Admission, AdmissionSettings, AdmittedTool, Catalog, OutputContract, QuarantinedTool, admit_tools,
};
use callgate_schema::json::{Position, ReadFault, ReadLimits, Tape};
use callgate_schema::{Finding, Options, Profile, Program};
use callgate_wire::Code;

use super::place::Places;
use super::source::{Slice, Source};

/// What was found in one file.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) file: String,
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
    offset: usize,
    pub(super) position: Position,
    pub(super) is_error: bool,
    /// What the gate says of the tool because of this.
    pub(super) gate_code: Option<Code>,
    pub(super) finding: Finding,
}

impl Line {
    /// The code to look up: the finding's, but for a repeated name, of which the gate's code says more.
    pub(super) fn code(&self) -> &'static str {
        match self.gate_code {
            Some(code @ Code::ToolNameRepeated) => code.as_str(),
            _ => self.finding.code.as_str(),
        }
    }
}

impl Report {
    /// Checks a file's text.
    pub(super) fn of(file: &str, text: &[u8], profile: Profile) -> Report {
        let settings = AdmissionSettings::new(profile);
        let mut draft = Draft { text, settings: &settings, lines: Vec::new() };
        let verdict = match Source::of(text) {
            Source::Schema => draft.schema(),
            Source::Catalog { tools, fault } => draft.catalog(file, &tools, fault),
        };
        let mut lines = draft.lines;
        lines.sort_by_key(|line| line.offset);
        let mut places = Places::of(text);
        for line in &mut lines {
            line.position = places.at(line.offset);
        }
        Report { file: file.to_owned(), verdict, lines }
    }

    /// Whether nothing is refused; doubts alone are good.
    pub(super) fn is_good(&self) -> bool {
        self.errors() == 0
    }

    /// How many lines are errors; the others are warnings.
    pub(super) fn errors(&self) -> usize {
        self.lines.iter().filter(|line| line.is_error).count()
    }
}

/// A report that is being made.
struct Draft<'a> {
    text: &'a [u8],
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
        let part = Slice { pointer: String::new(), span: 0..self.text.len() };
        let about = About { subject: "(schema)", part: &part, is_error: true, gate_code: None };
        self.compile(&about, Options::tool(self.settings.profile));
        Verdict::Schema { is_admitted: !self.lines.iter().any(|line| line.is_error) }
    }

    fn catalog(&mut self, file: &str, tools: &[Slice], fault: Option<ReadFault>) -> Verdict {
        let admissions = admit_tools(tools.iter().map(|tool| tool.text(self.text)), self.settings);
        for (slice, admission) in tools.iter().zip(&admissions) {
            match admission {
                Admission::Admitted(tool) => self.admitted(slice, tool),
                Admission::Quarantined(tool) => self.quarantined(slice, tool),
            }
        }
        let catalog = Catalog::publish(0, file, admissions);
        let repeated = catalog.quarantined().iter().filter(|tool| tool.code == Code::ToolNameRepeated);
        for tool in repeated {
            if let Some(slice) = tools.get(tool.index) {
                self.definition(slice, tool);
            }
        }
        match fault {
            None => Verdict::Catalog { tools: tools.len(), admitted: catalog.admitted().len() },
            Some(fault) => {
                let part = Slice { pointer: fault.pointer.clone(), span: 0..self.text.len() };
                let about = About { subject: "(file)", part: &part, is_error: true, gate_code: None };
                self.add(&about, &[fault.finding()]);
                Verdict::Malformed { tools: tools.len() }
            }
        }
    }

    fn admitted(&mut self, slice: &Slice, tool: &AdmittedTool) {
        let input = slice.member(self.text, "inputSchema").unwrap_or_else(|| slice.clone());
        let output = slice.member(self.text, "outputSchema").unwrap_or_else(|| slice.clone());
        let about = |part, gate_code| About { subject: &tool.name, part, is_error: false, gate_code };
        self.add(&about(&input, None), tool.input.warnings());
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
                self.add(&About { is_error: false, gate_code: None, ..*about }, program.warnings());
            }
            Err(error) => self.add(about, &error.findings),
        }
    }

    fn add(&mut self, about: &About<'_>, findings: &[Finding]) {
        for finding in findings {
            let below = finding.schema_location.as_deref().unwrap_or_default();
            self.lines.push(Line {
                subject: about.subject.to_owned(),
                pointer: format!("{}{below}", about.part.pointer),
                offset: about.part.span.start + finding.offset.unwrap_or(0),
                position: Position { line: 1, column: 1 },
                is_error: about.is_error,
                gate_code: about.gate_code,
                finding: finding.clone(),
            });
        }
    }
}

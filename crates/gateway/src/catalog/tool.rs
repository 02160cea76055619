//! What is known of one tool after it was judged.

use callgate_schema::json::Digest;
use callgate_schema::{Finding, Program};
use callgate_wire::Code;

use crate::AdmissionRow;

/// The judgement on one tool's definition.
#[derive(Debug, Clone)]
pub enum Admission {
    /// Its contract can be enforced.
    Admitted(AdmittedTool),
    /// It cannot be called, and says why.
    Quarantined(QuarantinedTool),
}

/// A tool whose whole input contract is enforced.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AdmittedTool {
    /// The name.
    pub name: String,
    /// The definition, byte for byte as the upstream sent it.
    pub definition: Box<[u8]>,
    /// The digest of the whole definition.
    pub contract_digest: Digest,
    /// The input schema.
    pub input: Program,
    /// What is enforced of its results.
    pub output: OutputContract,
    /// Doubts about the schemas, which refuse nothing.
    pub warnings: Vec<Finding>,
}

/// What is enforced of a tool's results.
#[derive(Debug, Clone)]
pub enum OutputContract {
    /// The tool declares no output schema.
    Undeclared,
    /// Its output schema.
    Enforced(Program),
    /// It declares an output schema that cannot be enforced, for these reasons: its results are not checked.
    Unchecked(Vec<Finding>),
}

/// A tool that was not admitted.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct QuarantinedTool {
    /// The name, if one can be read.
    pub name: Option<String>,
    /// Its place in the upstream's list, from 0.
    pub index: usize,
    /// Why.
    pub code: Code,
    /// The digest of the definition, if it can be read.
    pub contract_digest: Option<Digest>,
    /// The definition, byte for byte as the upstream sent it, so that an operator can compare it with the pinned one.
    pub definition: Box<[u8]>,
    /// The remarks behind the code; places are within the definition's part that they are about.
    pub findings: Vec<Finding>,
}

impl AdmittedTool {
    /// Bytes of memory of its patterns, compiled.
    pub(super) fn patterns_bytes(&self) -> u64 {
        let output = match &self.output {
            OutputContract::Enforced(program) => program.patterns_bytes(),
            OutputContract::Undeclared | OutputContract::Unchecked(_) => 0,
        };
        self.input.patterns_bytes().saturating_add(output)
    }

    /// The tool as one that is quarantined after all: its schema is good, but it cannot be called the way it is reached.
    pub fn quarantined(self, index: usize, code: Code, findings: Vec<Finding>) -> QuarantinedTool {
        QuarantinedTool {
            name: Some(self.name),
            index,
            code,
            contract_digest: Some(self.contract_digest),
            definition: self.definition,
            findings,
        }
    }

    /// The row that the store keeps.
    pub fn admission_row(&self) -> AdmissionRow {
        let unchecked = match &self.output {
            OutputContract::Unchecked(findings) => findings.first(),
            OutputContract::Undeclared | OutputContract::Enforced(_) => None,
        };
        AdmissionRow {
            tool: self.name.clone(),
            contract_digest: Some(self.contract_digest),
            code: None,
            detail: unchecked
                .map(|finding| format!("{}: {}", Code::ToolOutputSchemaUnchecked, finding.message)),
        }
    }
}

impl QuarantinedTool {
    /// The name, or the place in the list where there is none.
    pub fn label(&self) -> String {
        self.name.clone().unwrap_or_else(|| format!("#{}", self.index))
    }

    /// Why, in a line: the code's meaning and the first finding.
    pub fn reason(&self) -> String {
        match self.findings.first() {
            Some(finding) => match &finding.schema_location {
                Some(place) if !place.is_empty() => format!("{} at `{place}`", finding.message),
                _ => finding.message.clone(),
            },
            None => self.code.summary().to_owned(),
        }
    }

    /// The row that the store keeps.
    pub fn admission_row(&self) -> AdmissionRow {
        AdmissionRow {
            tool: self.label(),
            contract_digest: self.contract_digest,
            code: Some(self.code),
            detail: Some(self.reason()),
        }
    }
}

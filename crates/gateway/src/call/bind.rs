//! The arguments are read, checked against the tool's input schema and digested. Nothing after this stage can see
//! arguments that were not.

use std::sync::Arc;

use callgate_schema::json::{Digest, Document, Kind, ReadFault, ReadLimits, Tape, digest, write_string};
use callgate_schema::{Class, Code as SchemaCode, Finding, Limits, Verdict};
use callgate_wire::Code;

use super::{Call, Resolved};
use crate::Refusal;
use crate::catalog::AdmittedTool;

/// A call whose arguments keep the tool's input schema.
#[derive(Debug)]
pub struct Bound<'a> {
    pub(super) call: Call<'a>,
    pub(super) upstream: String,
    pub(super) tool: Arc<AdmittedTool>,
    /// The bytes that were checked, with their tape.
    pub(super) arguments: Document,
    pub(super) arguments_digest: Digest,
    pub(super) call_digest: Digest,
}

impl<'a> Resolved<'a> {
    /// Reads and checks the arguments.
    ///
    /// # Errors
    ///
    /// `call-malformed` if they are not an object, `call-arguments-invalid` with the violations,
    /// `call-arguments-undecided` if a limit came first.
    pub fn bind(self, limits: &Limits) -> Result<Bound<'a>, Refusal> {
        let Resolved { call, upstream, tool } = self;
        let arguments = Document::read(call.arguments, &limits.arguments_text())
            .map_err(|fault| unreadable(&tool.name, &fault))?;
        let root = arguments.root();
        if root.kind() != Kind::Object {
            return Err(not_an_object(&tool.name, root.kind()));
        }
        match tool.input.check(root) {
            Verdict::Valid => {}
            Verdict::Invalid(violations) => {
                return Err(invalid(&tool.name).with_findings(violations.findings, violations.truncated));
            }
            Verdict::Failed(finding) => return Err(undecided(&tool.name, *finding)),
        }
        let arguments_digest = digest("arguments", root);
        let call_digest = call_digest(&upstream, &tool, arguments_digest)?;
        Ok(Bound { call, upstream, tool, arguments, arguments_digest, call_digest })
    }
}

impl Bound<'_> {
    /// The digest of the arguments.
    pub fn arguments_digest(&self) -> Digest {
        self.arguments_digest
    }

    /// The digest over upstream, tool, contract and arguments.
    pub fn call_digest(&self) -> Digest {
        self.call_digest
    }

    /// The tool.
    pub fn tool(&self) -> &AdmittedTool {
        &self.tool
    }
}

fn unreadable(tool: &str, fault: &ReadFault) -> Refusal {
    let finding = fault.finding();
    match finding.class() {
        Class::ExecutionFailure => undecided(tool, finding),
        Class::Validation | Class::UnsupportedCapability => invalid(tool).with_findings(vec![finding], false),
    }
}

fn not_an_object(tool: &str, found: Kind) -> Refusal {
    let message = format!("expected the arguments of `{tool}` to be an object, found {}", found.name());
    let finding = Finding::new(SchemaCode::ArgumentsShape, message.clone());
    Refusal::new(Code::CallMalformed, message).with_findings(vec![finding], false)
}

fn invalid(tool: &str) -> Refusal {
    Refusal::new(Code::CallArgumentsInvalid, format!("the arguments break the input schema of `{tool}`"))
        .with_help("mend the arguments and call again")
}

fn undecided(tool: &str, finding: Finding) -> Refusal {
    let message = format!("the arguments for `{tool}` could not be judged within the limits");
    Refusal::new(Code::CallArgumentsUndecided, message)
        .with_help("send smaller or simpler arguments")
        .with_findings(vec![finding], false)
}

/// The digest that stands for the call: equal for equal calls, whoever makes them and when.
fn call_digest(upstream: &str, tool: &AdmittedTool, arguments: Digest) -> Result<Digest, Refusal> {
    let mut text = Vec::new();
    let members = [
        ("arguments", arguments.to_string()),
        ("contract", tool.contract_digest.to_string()),
        ("tool", tool.name.clone()),
        ("upstream", upstream.to_owned()),
    ];
    for (i, (name, value)) in members.iter().enumerate() {
        text.push(if i == 0 { b'{' } else { b',' });
        write_string(&mut text, name);
        text.push(b':');
        write_string(&mut text, value);
    }
    text.push(b'}');
    // The names come from texts that were read already; the bound is only there because every reading has one.
    let limits = ReadLimits {
        subject: "call",
        bytes_max: 64 << 20,
        depth_max: 1,
        nodes_max: 5,
        number_digits_max: 1,
        number_exponent_max: 1,
    };
    let mut tape = Tape::new();
    let root = tape.read(&text, &limits).map_err(|fault| unreadable(&tool.name, &fault))?;
    Ok(digest("call", root))
}

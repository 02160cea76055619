//! The judgement on one tool's definition: its own slice of the upstream's list and nothing else, so that a bad tool
//! never hides a good one.

use callgate_schema::json::{Digest, Document, Kind, Node, ReadLimits, Tape, skim_members};
use callgate_schema::{Code as SchemaCode, Detail, Finding, Limits, Options, Profile, Program};
use callgate_wire::Code;

use super::{Admission, AdmittedTool, OutputContract, PinIgnore, QuarantinedTool};

/// Characters of a tool's name. The protocol asks servers for names of at most so many, and the longest of thousands of
/// public tools has 57.
pub const TOOL_NAME_CHARS_MAX: usize = 128;

/// How tools are judged.
#[derive(Debug, Clone)]
pub struct AdmissionSettings {
    /// What of a schema is enforced, and what refuses it.
    pub profile: Profile,
    /// The engine's maxima.
    pub limits: Limits,
    /// Bytes of the compiled patterns of all tools of one upstream together: a pattern of some twenty bytes can take a
    /// megabyte. The largest public catalogs need a few hundred kilobytes.
    pub catalog_patterns_bytes_max: u64,
    /// What of a definition its digest leaves out, so that it may change without an operator's acceptance.
    pub pin_ignore: PinIgnore,
}

impl AdmissionSettings {
    /// The defaults for this profile.
    pub fn new(profile: Profile) -> AdmissionSettings {
        AdmissionSettings {
            profile,
            limits: Limits::default(),
            catalog_patterns_bytes_max: 64 << 20,
            pin_ignore: PinIgnore::default(),
        }
    }
}

/// Judges all definitions that an upstream lists, each by itself. Only the patterns have a maximum together: a tool
/// whose patterns do not fit in any more is quarantined, and so is one whose name is too long for a list.
pub fn admit_tools<'a>(
    definitions: impl IntoIterator<Item = &'a [u8]>,
    settings: &AdmissionSettings,
) -> Vec<Admission> {
    let mut patterns_bytes = 0_u64;
    let judge = |(index, raw)| match admit_tool(raw, index, settings) {
        Admission::Admitted(tool) if tool.name.chars().count() > TOOL_NAME_CHARS_MAX => {
            Admission::Quarantined(long_name(tool, index))
        }
        Admission::Admitted(tool) => {
            let together = patterns_bytes.saturating_add(tool.patterns_bytes());
            if together > settings.catalog_patterns_bytes_max {
                return Admission::Quarantined(beyond_patterns(tool, index, settings));
            }
            patterns_bytes = together;
            Admission::Admitted(tool)
        }
        quarantined @ Admission::Quarantined(_) => quarantined,
    };
    definitions.into_iter().enumerate().map(judge).collect()
}

fn long_name(tool: AdmittedTool, index: usize) -> QuarantinedTool {
    let found = tool.name.chars().count();
    let message =
        format!("expected a tool's `name` to have at most {TOOL_NAME_CHARS_MAX} characters, found {found}");
    QuarantinedTool {
        name: Some(tool.name),
        index,
        code: Code::ToolDefinitionMalformed,
        contract_digest: Some(tool.contract_digest),
        definition: tool.definition,
        findings: vec![Finding::new(SchemaCode::StringTooLong, message).with_help("give it a shorter name")],
    }
}

fn beyond_patterns(tool: AdmittedTool, index: usize, settings: &AdmissionSettings) -> QuarantinedTool {
    let maximum = settings.catalog_patterns_bytes_max;
    let message =
        format!("expected patterns of at most {maximum} bytes in all tools together, compiled, found more");
    let finding = Finding::new(SchemaCode::LimitExceeded, message)
        .with_help("use smaller counts in the patterns of this tool or of those before it")
        .with("limit", Detail::Text("catalog_patterns_bytes".into()))
        .with("maximum", Detail::Count(maximum));
    QuarantinedTool {
        name: Some(tool.name),
        index,
        code: Code::ToolInputSchemaRefused,
        contract_digest: Some(tool.contract_digest),
        definition: tool.definition,
        findings: vec![finding],
    }
}

/// Judges by itself the definition `raw`, which stands at `index` in the upstream's list.
///
/// `raw` is read by the strict reader with the limits of a schema. What is admitted keeps these bytes.
pub fn admit_tool(raw: &[u8], index: usize, settings: &AdmissionSettings) -> Admission {
    match admit(raw, settings) {
        Ok(tool) => Admission::Admitted(tool),
        Err(fault) => {
            let Fault { name, code, contract_digest, findings } = fault;
            let definition = raw.into();
            Admission::Quarantined(QuarantinedTool {
                name,
                index,
                code,
                contract_digest,
                definition,
                findings,
            })
        }
    }
}

struct Fault {
    name: Option<String>,
    code: Code,
    contract_digest: Option<Digest>,
    findings: Vec<Finding>,
}

fn admit(raw: &[u8], settings: &AdmissionSettings) -> Result<AdmittedTool, Fault> {
    let limits = ReadLimits { subject: "definition", ..settings.limits.schema_text() };
    let document = Document::read(raw, &limits)
        .map_err(|fault| malformed(skimmed_name(raw, &limits), None, fault.finding()))?;
    let root = document.root();
    if root.kind() != Kind::Object {
        let found = format!("expected a tool's definition to be an object, found {}", root.kind().name());
        return Err(malformed(None, None, Finding::new(SchemaCode::TypeMismatch, found)));
    }
    let contract_digest = settings.pin_ignore.contract_digest(root);
    let name = name(root).map_err(|(code, message)| {
        let finding = Finding::new(code, message).with_help("name it, as in `\"name\": \"search\"`");
        malformed(None, Some(contract_digest), finding)
    })?;
    let mut options = Options::tool(settings.profile);
    options.limits = settings.limits.clone();
    let input = compile_input(root, &options).map_err(|findings| Fault {
        name: Some(name.clone()),
        code: Code::ToolInputSchemaRefused,
        contract_digest: Some(contract_digest),
        findings,
    })?;
    let (output, output_warnings) = compile_output(root, &settings.limits);
    let mut warnings = input.warnings().to_vec();
    warnings.extend(output_warnings);
    Ok(AdmittedTool { name, definition: raw.into(), contract_digest, input, output, warnings })
}

fn malformed(name: Option<String>, contract_digest: Option<Digest>, finding: Finding) -> Fault {
    Fault { name, code: Code::ToolDefinitionMalformed, contract_digest, findings: vec![finding] }
}

fn name(root: Node<'_>) -> Result<String, (SchemaCode, String)> {
    let expected = |code, what: &str| Err((code, format!("expected a tool's {what}")));
    let Some(node) = root.member("name") else {
        return expected(SchemaCode::PropertyMissing, "definition to have a `name`, found none");
    };
    match node.as_str() {
        Some(name) if !name.is_empty() => Ok(name.into_owned()),
        Some(_) => expected(SchemaCode::StringTooShort, "`name` to have a character, found none"),
        None => {
            let what = format!("`name` to be a string, found {}", node.kind().name());
            expected(SchemaCode::TypeMismatch, &what)
        }
    }
}

fn compile_input(root: Node<'_>, options: &Options) -> Result<Program, Vec<Finding>> {
    let program = match root.member("inputSchema") {
        Some(schema) => Program::compile(schema.raw(), options),
        None => Program::absent(),
    };
    program.map_err(|error| error.findings)
}

fn compile_output(root: Node<'_>, limits: &Limits) -> (OutputContract, Vec<Finding>) {
    let Some(schema) = root.member("outputSchema") else {
        return (OutputContract::Undeclared, Vec::new());
    };
    let mut options = Options::value();
    options.limits = limits.clone();
    match Program::compile(schema.raw(), &options) {
        Ok(program) => {
            let warnings = program.warnings().to_vec();
            (OutputContract::Enforced(program), warnings)
        }
        Err(error) => (OutputContract::Unchecked(error.findings), Vec::new()),
    }
}

/// The name in a definition that as a whole cannot be read, so that the operator learns which tool it is. Only a name
/// that stands once and can be read by itself is one.
fn skimmed_name(raw: &[u8], limits: &ReadLimits) -> Option<String> {
    let start = raw.iter().position(|b| !b.is_ascii_whitespace())?;
    let raw = raw.get(start..)?;
    let mut tape = Tape::new();
    let mut found = None;
    for (name, value) in skim_members(raw).ok()? {
        let is_name = match tape.read(raw.get(name)?, limits) {
            Ok(node) => node.as_str().is_some_and(|text| text == "name"),
            Err(_) => false,
        };
        if is_name && found.replace(value).is_some() {
            return None;
        }
    }
    let name = tape.read(raw.get(found?)?, limits).ok()?.as_str()?.into_owned();
    (!name.is_empty()).then_some(name)
}

//! What arguments are checked against: tools as a gate admits them.

use std::path::Path;
use std::sync::Arc;

use callgate_gateway::call::{Call, resolve};
use callgate_gateway::catalog::{Admission, AdmissionSettings, AdmittedTool, Catalog, Lookup, admit_tools};
use callgate_wire::Principal;

use super::Args;
use crate::check::read;
use crate::check::source::Source;
use crate::exit_code::{ExitCode, Failure};
use crate::render::escape::one_line;

/// What a schema's tool is called where nobody named it.
const UNNAMED: &str = "tool";

/// What arguments are checked against.
#[derive(Debug)]
pub(super) enum Contract {
    /// One tool.
    Tool { tool: Arc<AdmittedTool>, catalog: Catalog },
    /// The tool that each call names.
    Catalog(Catalog),
    /// The schema that each line brings with it.
    Own(AdmissionSettings),
}

impl Contract {
    pub(super) fn of(args: &Args) -> anyhow::Result<Contract> {
        let settings = AdmissionSettings::new(args.profile.into());
        match (&args.schema, &args.catalog) {
            (Some(file), _) => {
                let name = args.tool.as_deref().unwrap_or(UNNAMED);
                one_tool(catalog_of_schema(file, name, &settings)?, name, file)
            }
            (None, Some(file)) => {
                let catalog = catalog(file, &settings)?;
                match &args.tool {
                    Some(name) => one_tool(catalog, name, file),
                    None if args.jsonl.is_some() => Ok(Contract::Catalog(catalog)),
                    None => Err(Failure::usage("expected `--tool` with the name of a tool, found none")),
                }
            }
            (None, None) if args.jsonl.is_some() => Ok(Contract::Own(settings)),
            (None, None) => Err(Failure::usage("expected `--schema` or `--catalog`, found neither")),
        }
    }

    /// What a gate would tell the model of this call; nothing if it would let it pass.
    pub(super) fn told_to_model(catalog: &Catalog, tool: &str, arguments: &[u8]) -> Option<String> {
        let principal = Principal::local("validate");
        let call = Call { principal: &principal, run: None, tool, arguments };
        let limits = callgate_schema::Limits::default();
        let refusal = resolve(catalog, call).and_then(|resolved| resolved.bind(&limits)).err()?;
        Some(refusal.text_for_model(callgate_mcp::outcome::FINDINGS_SHOWN_MAX))
    }
}

/// The catalog of one tool that has this schema.
fn catalog_of_schema(file: &Path, name: &str, settings: &AdmissionSettings) -> anyhow::Result<Catalog> {
    let schema = read(file)?;
    let mut definition = b"{\"name\":".to_vec();
    callgate_schema::json::write_string(&mut definition, name);
    definition.extend_from_slice(b",\"inputSchema\":");
    definition.extend_from_slice(&schema);
    definition.push(b'}');
    Ok(published(file, admit_tools([definition.as_slice()], settings)))
}

fn catalog(file: &Path, settings: &AdmissionSettings) -> anyhow::Result<Catalog> {
    let text = read(file)?;
    let shown = one_line(&file.display().to_string());
    match Source::of(&text) {
        Source::Schema => Err(Failure::usage(format!(
            "expected tools in `{shown}`, found something else; a schema is given as `--schema`"
        ))),
        Source::Catalog { fault: Some(fault), .. } => {
            Err(Failure::usage(format!("failed to read `{shown}`: {}", one_line(&fault.finding().message))))
        }
        Source::Catalog { tools, fault: None } => {
            Ok(published(file, admit_tools(tools.iter().map(|tool| tool.text(&text)), settings)))
        }
    }
}

fn published(file: &Path, admissions: Vec<Admission>) -> Catalog {
    Catalog::publish(1, &file.display().to_string(), admissions)
}

fn one_tool(catalog: Catalog, name: &str, file: &Path) -> anyhow::Result<Contract> {
    let shown = one_line(&file.display().to_string());
    match catalog.tool(name) {
        Lookup::Admitted(tool) => {
            let tool = Arc::clone(tool);
            Ok(Contract::Tool { tool, catalog })
        }
        Lookup::Quarantined(tool) => {
            let why =
                tool.findings.first().map_or_else(String::new, |finding| format!(": {}", finding.message));
            Err(Failure::usage(format!(
                "expected a schema that can be enforced in `{shown}`, found another{}; `callgate check {shown}` has the \
                 places",
                one_line(&why)
            )))
        }
        Lookup::Unknown => {
            let principal = Principal::local("validate");
            let call = Call { principal: &principal, run: None, tool: name, arguments: b"{}" };
            let help = resolve(&catalog, call).err().and_then(|refusal| refusal.help).unwrap_or_default();
            Err(Failure::usage(format!(
                "expected a tool of `{shown}`, found `{}`; {}",
                one_line(name),
                one_line(&help)
            )))
        }
    }
}

/// How a verdict ends the program.
pub(super) const fn exit(is_valid: bool) -> ExitCode {
    if is_valid { ExitCode::Success } else { ExitCode::Findings }
}

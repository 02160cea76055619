//! `callgate explain-call`: a call played again, without a gate and without a tool server, to see which rules decided.

mod question;
mod text;

use std::path::{Path, PathBuf};

use callgate_gateway::Refusal;
use callgate_gateway::call::{Call, resolve};
use callgate_gateway::catalog::{AdmissionSettings, Catalog, admit_tools};
use callgate_gateway::policy::{Judgement, RuleReason};
use callgate_server::config::Config;
use callgate_wire::Charge;

use crate::check::Format;
use crate::config::ConfigArg;
use crate::exit_code::{ExitCode, Failure};
use crate::render::escape::one_line;
use crate::render::output::{print, print_exact};
use question::CallFile;

/// Bytes of a file. It has a catalog and a call.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// Show how the gate decides about a call, and which rules decide: nothing is sent and nothing is recorded.
///
/// FILE is a JSON object: `tool` and `arguments`; the definitions as `tools` (an array, as `tools/list` has it) or one as
/// `definition`; and, where they matter, `upstream`, `principal` (local:user where it has none), `claims`, `run`, and `now`,
/// a time by RFC 3339 for the windows of budgets. Counters of budgets are in the store and are not looked at.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  callgate explain-call call.json --config gate.toml\n\n\
                        Exit codes: 0 the call may be made, at once or with an approval, 2 a file cannot be read, \
                        3 the call is refused.")]
pub(crate) struct Args {
    /// The call
    file: PathBuf,
    #[command(flatten)]
    config: ConfigArg,
    /// How to print it; for programs: an object
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// What came of each stage; a stage that was not reached has nothing.
#[derive(Default)]
struct Explained<'r> {
    contract_digest: Option<String>,
    call_digest: Option<String>,
    judgement: Option<(Judgement, Vec<RuleReason<'r>>)>,
    charges: Option<Vec<Charge>>,
    refusal: Option<Refusal>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let config = args.config.load()?;
    let content = read(&args.file)?;
    let call = CallFile::read(&content)
        .map_err(|what| Failure::usage(format!("{}: {what}", one_line(&args.file.display().to_string()))))?;
    let explained = explain(&call, &config);
    match args.format {
        Format::Text => print(&text::text(&call, &config.rules, &explained))?,
        Format::Json => print_exact(text::json(&call, &config.rules, &explained).as_bytes())?,
    }
    Ok(if explained.refusal.is_some() { ExitCode::Refused } else { ExitCode::Success })
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    let failed = |what: String| {
        Failure::usage(format!("failed to read `{}`: {what}", one_line(&path.display().to_string())))
    };
    let size = std::fs::metadata(path).map_err(|error| failed(error.to_string()))?.len();
    if size > FILE_BYTES_MAX {
        return Err(failed(format!("expected at most {FILE_BYTES_MAX} bytes, found {size}")));
    }
    std::fs::read(path).map_err(|error| failed(error.to_string()))
}

/// The stages of the gate, in their order, as far as the call comes.
fn explain<'r>(file: &CallFile, config: &'r Config) -> Explained<'r> {
    let mut explained = Explained::default();
    if let Err(refusal) = pass(file, config, &mut explained) {
        explained.refusal = Some(refusal);
    }
    explained
}

fn pass<'r>(file: &CallFile, config: &'r Config, explained: &mut Explained<'r>) -> Result<(), Refusal> {
    let upstream = config.upstreams.iter().find(|upstream| upstream.name == file.upstream);
    let settings = AdmissionSettings::new(upstream.map_or(config.gate.profile, |upstream| upstream.profile));
    let definitions = file.definitions.iter().map(Vec::as_slice);
    let catalog = Catalog::publish(1, &file.upstream, admit_tools(definitions, &settings));
    let call = Call {
        principal: &file.principal,
        run: file.run.as_deref(),
        tool: &file.tool,
        arguments: &file.arguments,
    };
    let claims = file.claims.clone().unwrap_or_else(|| config.claims(&file.principal));
    let bound = resolve(&catalog, call)?.bind(&settings.limits)?;
    explained.contract_digest = Some(bound.tool().contract_digest.to_string());
    explained.call_digest = Some(bound.call_digest().to_string());
    explained.judgement = Some(bound.explain(&config.rules, &claims));
    let authorized = bound.authorize(&config.rules, &claims)?;
    explained.charges = Some(authorized.charges(&config.budgets, file.now)?);
    Ok(())
}

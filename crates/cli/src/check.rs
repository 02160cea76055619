//! `callgate check`: every fault of a catalog or a schema, before an agent meets it.

mod labels;
mod portability;
mod print;
mod report;
pub(crate) mod source;

use std::io::Read as _;
use std::path::{Path, PathBuf};

use callgate_schema::Profile;
use clap::ValueEnum;
use clap::builder::PossibleValuesParser;

use crate::exit_code::{ExitCode, Failure};
use crate::receivers;
use crate::render::escape::one_line;
use crate::render::output;

/// The largest file that is read.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// Find every fault in the schemas of a catalog of tools, or in one schema.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "FILE holds an array of tools, an object with `tools`, an answer to `tools/list`, or one \
                        schema; `-` is standard input.\n\n\
                        Examples:\n  callgate check tools.json\n  callgate check --format json tools.json\n  \
                        callgate check --for openai-strict,gemini tools.json\n\n\
                        Exit codes: 0 nothing is wrong, 1 there are findings, 2 a file cannot be read."
)]
pub(crate) struct Args {
    /// The files to check
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// How much of JSON Schema is admitted
    #[arg(long, value_enum, default_value_t)]
    profile: ProfileArg,
    /// Say instead which of these receivers take each tool's schema as it is, and what the others do to it
    #[arg(long = "for", value_name = "RECEIVER", value_delimiter = ',',
          value_parser = PossibleValuesParser::new(receivers::names()))]
    receivers: Vec<String>,
    /// How to print what was found
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// A profile by name.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub(crate) enum ProfileArg {
    /// All of the dialect that `$schema` names, 2020-12 or draft-07
    #[default]
    Standard,
    /// A small subset that every receiver of tool schemas can take
    Portable,
    /// What text-map transports assert; every constraint that is not among it is a warning
    Wire,
}

impl From<ProfileArg> for Profile {
    fn from(profile: ProfileArg) -> Self {
        match profile {
            ProfileArg::Standard => Profile::Standard,
            ProfileArg::Portable => Profile::Portable,
            ProfileArg::Wire => Profile::Wire,
        }
    }
}

/// For whom to print.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if !args.receivers.is_empty() {
        return portability::run(args);
    }
    let mut reports = Vec::new();
    for file in &args.files {
        let text = read(file)?;
        reports.push(report::Report::of(&file.display().to_string(), text, args.profile.into()));
    }
    let good = reports.iter().all(report::Report::is_good);
    match args.format {
        Format::Text => output::print(&print::text(&reports))?,
        Format::Json => output::print_exact(&print::json(&reports))?,
    }
    Ok(if good { ExitCode::Success } else { ExitCode::Findings })
}

/// The whole text of a file, `-` being standard input.
///
/// # Errors
/// It cannot be read, is too large or holds nothing.
pub(crate) fn read(file: &Path) -> anyhow::Result<Vec<u8>> {
    let name = one_line(&file.display().to_string());
    let unreadable = |error: std::io::Error| Failure::usage(format!("failed to read `{name}`: {error}"));
    let mut text = Vec::new();
    if file == Path::new("-") {
        std::io::stdin().lock().take(FILE_BYTES_MAX + 1).read_to_end(&mut text).map_err(unreadable)?;
    } else {
        let opened = std::fs::File::open(file).map_err(unreadable)?;
        opened.take(FILE_BYTES_MAX + 1).read_to_end(&mut text).map_err(unreadable)?;
    }
    if text.len() as u64 > FILE_BYTES_MAX {
        let message = format!("expected at most {FILE_BYTES_MAX} bytes in `{name}`, found more");
        return Err(Failure::usage(message));
    }
    if text.trim_ascii().is_empty() {
        return Err(Failure::usage(format!("expected JSON text in `{name}`, found nothing")));
    }
    Ok(text)
}

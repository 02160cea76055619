//! `callgate check`: every fault of a catalog or a schema, before an agent meets it.

mod baseline;
mod fix;
mod github;
mod input;
mod json;
mod labels;
mod portability;
mod report;
mod sarif;
pub(crate) mod source;
mod text;

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use callgate_schema::Profile;
use clap::ValueEnum;
use clap::builder::PossibleValuesParser;

use self::baseline::Baseline;
use self::input::Input;
use self::report::{Known, Report, Reporter};
use crate::exit_code::{ExitCode, Failure};
use crate::live::LiveArgs;
use crate::pages::page;
use crate::receivers;
use crate::render::escape::one_line;
use crate::render::output::{self, replace_file};

/// The largest file that is read.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// Find every fault in the schemas of a catalog of tools, of a live server's tools, or in one schema.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "FILE holds an array of tools, an object with `tools`, an answer to `tools/list`, or one \
                        schema; `-` is standard input.\n\n\
                        Examples:\n  \
                        callgate check tools.json\n  \
                        callgate check --deny warnings --allow schema-open-root tools.json\n  \
                        callgate check --format sarif tools.json > callgate.sarif\n  \
                        callgate check --write-baseline known.json tools.json\n  \
                        callgate check --baseline known.json tools.json\n  \
                        callgate check --for openai-strict,gemini tools.json\n  \
                        callgate check --fix --write tools.json\n  \
                        callgate check --url https://example.com/mcp\n  \
                        callgate check --deny warnings --command npx -y @modelcontextprotocol/server-everything\n\n\
                        Exit codes: 0 nothing is wrong, 1 there are findings, 2 a file cannot be read, 4 the server \
                        failed."
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Args {
    /// The files to check
    #[arg(value_name = "FILE", required_unless_present_any = ["url", "command"], conflicts_with_all = ["url", "command"])]
    files: Vec<PathBuf>,
    /// List the tools of the server that CMD starts; takes all words that follow
    #[arg(long, num_args = 1.., value_names = ["CMD", "ARG"], allow_hyphen_values = true, conflicts_with = "url")]
    command: Vec<OsString>,
    #[command(flatten)]
    live: LiveArgs,
    /// How much of JSON Schema is admitted
    #[arg(long, value_enum, default_value_t)]
    profile: ProfileArg,
    /// Say instead which of these receivers take each tool's schema as it is, and what the others do to it
    #[arg(long = "for", value_name = "RECEIVER", value_delimiter = ',',
          conflicts_with_all = ["deny", "allow", "baseline", "write_baseline", "fix"],
          value_parser = PossibleValuesParser::new(receivers::names()))]
    receivers: Vec<String>,
    /// Take arguments that say nothing of undeclared members as closed, as if `additionalProperties` were `false`
    #[arg(long)]
    close_open_objects: bool,
    /// Have warnings fail the check too
    #[arg(long, value_enum, value_name = "WHAT")]
    deny: Vec<Deny>,
    /// Leave findings of this code out
    #[arg(long, value_name = "CODE")]
    allow: Vec<String>,
    /// Leave the findings out that FILE has
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write all findings to FILE, for `--baseline`, and end well
    #[arg(long, value_name = "FILE", conflicts_with = "baseline")]
    write_baseline: Option<PathBuf>,
    /// Show how to mend what has one plain meaning, and check what is left
    #[arg(long, conflicts_with_all = ["url", "command", "write_baseline"])]
    fix: bool,
    /// Write what `--fix` shows to the files
    #[arg(long, requires = "fix")]
    write: bool,
    /// Show every finding with its place in the text, not just the first few of each code
    #[arg(long)]
    full: bool,
    /// How to print what was found
    #[arg(long, value_enum, default_value_t)]
    format: ReportFormat,
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

/// For whom to print findings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum ReportFormat {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
    /// For code scanning: SARIF 2.1.0
    Sarif,
    /// For the annotations of a GitHub workflow
    Github,
}

/// What fails the check beside errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Deny {
    /// Every warning
    Warnings,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if !args.receivers.is_empty() {
        return portability::run(args);
    }
    if args.write && args.files.iter().any(|file| file == Path::new("-")) {
        return Err(Failure::usage("expected files to write to, found standard input"));
    }
    if let Some(code) = args.allow.iter().find(|code| page(code).is_none()) {
        return Err(crate::explain::unknown(code));
    }
    let known = args.baseline.as_deref().map(Baseline::read).transpose()?;
    let reporter = Reporter { profile: args.profile.into(), close_open_objects: args.close_open_objects };
    let mut reports: Vec<Report> = inputs(args)?.into_iter().map(|input| reporter.report(input)).collect();
    if let Some(file) = &args.write_baseline {
        return write_baseline(file, &reports);
    }
    let is_pending = args.fix && fix(args, reporter, &mut reports)?;
    let stale = hide(&mut reports, &args.allow, known);
    print(args, &reports, stale)?;
    let denies_warnings = !args.deny.is_empty();
    let fails = |report: &Report| report.errors() > 0 || (denies_warnings && report.warnings() > 0);
    let good = !is_pending && !reports.iter().any(fails);
    Ok(if good { ExitCode::Success } else { ExitCode::Findings })
}

/// The whole text of a file, `-` being standard input.
///
/// # Errors
/// It cannot be read, is too large or holds nothing.
pub(crate) fn read(file: &Path) -> anyhow::Result<Vec<u8>> {
    input::file(file).map(|input| input.text)
}

/// The texts that are to be checked.
fn inputs(args: &Args) -> anyhow::Result<Vec<Input>> {
    match (&args.live.url, args.command.split_first()) {
        (Some(url), _) => Ok(vec![input::url(&args.live, url)?]),
        (None, Some((command, words))) => Ok(vec![input::command(&args.live, command, words)?]),
        (None, None) => args.files.iter().map(|file| input::file(file)).collect(),
    }
}

/// Mends the texts, shows what that changes, and writes it if asked to. The reports are those of what is left. True if
/// there is something that was not written.
fn fix(args: &Args, reporter: Reporter, reports: &mut [Report]) -> anyhow::Result<bool> {
    let mut shown = String::new();
    let mut is_pending = false;
    for (report, file) in reports.iter_mut().zip(&args.files) {
        let fix::Fixed { report: fixed, mended } = fix::fix(reporter, report);
        let name = one_line(&report.file);
        if mended.is_empty() {
            let _ = writeln!(shown, "{name}: nothing that can be mended safely\n");
            continue;
        }
        let _ = writeln!(shown, "{}", fix::diff(&report.file, &report.text, &fixed.text));
        for what in &mended {
            let _ = writeln!(shown, "{name}: {}", one_line(what));
        }
        if args.write {
            replace_file(file, &fixed.text)?;
            let _ = writeln!(shown, "{name}: written\n");
        } else {
            is_pending = true;
            let _ = writeln!(shown, "{name}: not written; `--write` does that\n");
        }
        *report = fixed;
    }
    // Programs get the findings on standard output, and nothing else.
    match args.format {
        ReportFormat::Text => output::print(&shown)?,
        ReportFormat::Json | ReportFormat::Sarif | ReportFormat::Github => output::remark(&shown),
    }
    Ok(is_pending)
}

/// Marks what is allowed or known, and says how much of the baseline was not found any more.
fn hide(reports: &mut [Report], allow: &[String], known: Option<Baseline>) -> usize {
    let mut known = known.unwrap_or_default();
    for report in reports {
        let is_schema = report.is_schema();
        for line in &mut report.lines {
            if allow.iter().any(|code| code == line.code()) {
                line.known = Some(Known::Allowed);
            } else if known.take(line, is_schema) {
                line.known = Some(Known::Baseline);
            }
        }
    }
    known.left()
}

fn print(args: &Args, reports: &[Report], stale: usize) -> anyhow::Result<()> {
    match args.format {
        ReportFormat::Text => output::print(&text::text(reports, stale, args.full)),
        ReportFormat::Json => output::print_exact(&json::json(reports)),
        ReportFormat::Sarif => output::print_exact(&sarif::sarif(reports)),
        ReportFormat::Github => output::print_exact(github::annotations(reports).as_bytes()),
    }
}

fn write_baseline(file: &Path, reports: &[Report]) -> anyhow::Result<ExitCode> {
    let baseline = Baseline::of(reports);
    let name = one_line(&file.display().to_string());
    std::fs::write(file, baseline.to_json())
        .map_err(|error| Failure::usage(format!("failed to write `{name}`: {error}")))?;
    output::print(&format!("{name}: {}\n", text::several(baseline.left(), "known finding")))?;
    Ok(ExitCode::Success)
}

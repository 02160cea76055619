//! `callgate config`: the configuration file, checked, shown, and described.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use callgate_server::config::{Config, ConfigError, ConfigFault, schema_text};
use clap::Subcommand;

use crate::exit_code::{ExitCode, Failure};
use crate::render::escape::one_line;
use crate::render::output::{complain, print, print_exact};

/// Check, show or describe the configuration file.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  callgate config check gate.toml\n  callgate config show gate.toml\n  \
                        callgate config schema > gate.schema.json\n\n\
                        Exit codes: 0 it is good, 1 it has faults, 2 it cannot be read.")]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Name every fault of a configuration, with its line, its key and the remedy
    Check(FileArg),
    /// Print what is in force with a configuration: its own values and the defaults, and where secrets are
    Show(FileArg),
    /// Print the JSON Schema of the configuration, for editors
    Schema,
}

#[derive(Debug, clap::Args)]
struct FileArg {
    /// The configuration file
    file: PathBuf,
}

/// The flag of every verb that a configuration governs.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ConfigArg {
    /// The configuration file: rules, budgets, what you say of tools, settings
    #[arg(long, value_name = "FILE", env = "CALLGATE_CONFIG")]
    pub(crate) config: Option<PathBuf>,
}

impl ConfigArg {
    /// Whether a file is named.
    pub(crate) fn is_given(&self) -> bool {
        self.config.is_some()
    }

    /// What is in force: the file's, or the defaults where none is named.
    ///
    /// # Errors
    /// That the file cannot be read, or every fault of it; both are the caller's to mend.
    pub(crate) fn load(&self) -> anyhow::Result<Config> {
        match &self.config {
            None => Ok(Config::defaults()),
            Some(path) => read(path)?.map_err(|error| Failure::usage(told(&error))),
        }
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.verb {
        Verb::Check(args) => check(&args.file),
        Verb::Show(args) => show(&args.file),
        Verb::Schema => {
            print_exact(schema_text().as_bytes())?;
            Ok(ExitCode::Success)
        }
    }
}

fn check(path: &Path) -> anyhow::Result<ExitCode> {
    let config = match read(path)? {
        Ok(config) => config,
        Err(error) => {
            let faults = error.faults.len();
            let noun = if faults == 1 { "fault" } else { "faults" };
            print(&format!("{}\n{}: {faults} {noun}\n", told(&error), name(path)))?;
            return Ok(ExitCode::Findings);
        }
    };
    let mut text = String::new();
    for warning in &config.warnings {
        let _ = writeln!(text, "{}", doubt(path, warning));
    }
    let rules = match config.rules.len() {
        0 => "no rules: every admitted tool is permitted".to_owned(),
        1 => "1 rule".to_owned(),
        rules => format!("{rules} rules"),
    };
    let _ = writeln!(
        text,
        "{}: good; {rules}, {}, {}",
        name(path),
        counted(config.budgets.specs().count(), "budget"),
        counted(config.upstreams.len(), "upstream"),
    );
    print(&text)?;
    Ok(ExitCode::Success)
}

fn show(path: &Path) -> anyhow::Result<ExitCode> {
    match read(path)? {
        Ok(config) => {
            // Whether a secret is there is all that is ever said of it.
            print(&config.show(|secret| secret.read().is_ok()))?;
            Ok(ExitCode::Success)
        }
        Err(error) => {
            complain(&told(&error));
            Ok(ExitCode::Findings)
        }
    }
}

fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// The content of the file, or its faults.
fn read(path: &Path) -> anyhow::Result<Result<Config, ConfigError>> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("failed to read `{}`: {error}", name(path))))?;
    Ok(Config::parse(&path.display().to_string(), &text))
}

fn name(path: &Path) -> String {
    one_line(&path.display().to_string())
}

/// Every fault, each in a line that can be seen as it is.
fn told(error: &ConfigError) -> String {
    error.to_string().lines().map(one_line).collect::<Vec<_>>().join("\n")
}

fn doubt(path: &Path, warning: &ConfigFault) -> String {
    let ConfigFault { line, column, key, message, .. } = warning;
    one_line(&format!("{}:{line}:{column}: {key}: warning: {message}", path.display()))
}

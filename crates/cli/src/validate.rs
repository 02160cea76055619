//! `callgate validate`: whether arguments keep a tool's schema, for one call or for millions.

mod contract;
mod lines;
mod one;

use std::path::{Path, PathBuf};

use clap::ValueEnum;

use crate::check::{ProfileArg, read};
use crate::exit_code::ExitCode;
use contract::Contract;

/// Check arguments against a tool's schema: one call's, or one on each line of a file.
#[derive(Debug, clap::Args)]
#[command(
    group = clap::ArgGroup::new("input").required(true).args(["inline", "file", "stdin", "jsonl"]),
    group = clap::ArgGroup::new("contract").args(["schema", "catalog"]),
    after_help = "With --jsonl each line is the arguments of one call. With --catalog and without --tool a line is \
                  {\"name\": …, \"arguments\": …}, or has these under `params`, as a request has. With neither --schema nor \
                  --catalog a line has its own `schema` and `arguments`.\n\n\
                  Examples:\n  \
                  callgate validate --catalog tools.json --tool search --args '{\"query\": \"rust\"}'\n  \
                  callgate validate --schema search.json --for-model - < arguments.json\n  \
                  callgate validate --catalog tools.json --jsonl calls.jsonl\n  \
                  callgate validate --catalog tools.json --format json --jsonl calls.jsonl > refused.jsonl\n\n\
                  Exit codes: 0 valid, 1 there are findings, 2 a file cannot be read or a schema cannot be enforced."
)]
pub(crate) struct Args {
    /// The file with the tool's input schema
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// The file with the tools
    #[arg(long, value_name = "FILE")]
    catalog: Option<PathBuf>,
    /// Which tool of the catalog is called
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// The arguments
    #[arg(long = "args", value_name = "JSON")]
    inline: Option<String>,
    /// The file with the arguments
    #[arg(long = "args-file", value_name = "FILE")]
    file: Option<PathBuf>,
    /// `-`: the arguments are on standard input
    #[arg(value_name = "-", value_parser = ["-"])]
    stdin: Option<String>,
    /// The file with one call on each line; `-` is standard input
    #[arg(long, value_name = "FILE")]
    jsonl: Option<PathBuf>,
    /// Print exactly what a gate would tell the model
    #[arg(long, conflicts_with_all = ["jsonl", "format"])]
    for_model: bool,
    /// Lines with findings that are shown one by one as text
    #[arg(long, value_name = "COUNT", default_value_t = 20, requires = "jsonl")]
    show: u64,
    /// How much of JSON Schema is admitted
    #[arg(long, value_enum, default_value_t)]
    profile: ProfileArg,
    /// How to print the verdict
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// For whom to print.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let contract = Contract::of(args)?;
    if let Some(file) = &args.jsonl {
        return lines::run(args, file, &contract);
    }
    let (name, text) = match (&args.inline, &args.file) {
        (Some(text), _) => ("arguments".to_owned(), text.clone().into_bytes()),
        (None, Some(file)) => (file.display().to_string(), read(file)?),
        (None, None) => ("-".to_owned(), read(Path::new("-"))?),
    };
    one::run(args, &contract, &name, &text)
}

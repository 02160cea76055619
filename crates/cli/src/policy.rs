//! `callgate policy test`: a table of calls, each with the decision that is expected of the rules.

mod row;
mod table;

use std::path::{Path, PathBuf};

use callgate_gateway::policy::{Claims, Question, RuleReason, RuleSet, Target};
use callgate_server::config::Config;
use clap::Subcommand;

use crate::check::Format;
use crate::config::ConfigArg;
use crate::exit_code::{ExitCode, Failure};
use crate::render::escape::one_line;
use crate::render::output::{print, print_exact};

use row::Row;
pub(crate) use row::{members, quoted};

/// Bytes of a table. A call has some hundred.
const TABLE_BYTES_MAX: u64 = 64 << 20;

/// Try out the rules.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Test(Test),
}

/// Run a table of calls against the rules, and compare each decision with the expected one.
///
/// The table has a JSON object on each line, or is a TOML file with [[calls]]. Each call has `tool` (UPSTREAM/TOOL, or
/// resource:, prompt: or method: and UPSTREAM/NAME) and `expect` (permit, ask or forbid), and may have `name`, `principal`
/// (local:user where it has none), `claims`, `arguments`, and `rules`, the ids that have to determine the decision.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  callgate policy test calls.jsonl --config gate.toml\n\n\
                        Exit codes: 0 every decision is the expected one, 1 one is not, 2 a file cannot be read.")]
struct Test {
    /// The table
    file: PathBuf,
    #[command(flatten)]
    config: ConfigArg,
    /// How to print what came of it; for programs: an array of objects
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// What came of one call.
struct Tried<'r> {
    row: Row,
    effect: &'static str,
    determining: Vec<String>,
    reasons: Vec<RuleReason<'r>>,
    good: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let Verb::Test(args) = &args.verb;
    let config = args.config.load()?;
    let rows = rows(&args.file)?;
    let tried: Vec<Tried<'_>> =
        rows.into_iter().map(|row| try_row(row, &config, &config.rules)).collect::<anyhow::Result<_>>()?;
    match args.format {
        Format::Text => print(&table::text(&tried, &config.rules))?,
        Format::Json => print_exact(table::json(&tried).as_bytes())?,
    }
    Ok(if tried.iter().all(|tried| tried.good) { ExitCode::Success } else { ExitCode::Findings })
}

fn rows(path: &Path) -> anyhow::Result<Vec<Row>> {
    let name = one_line(&path.display().to_string());
    let failed = |what: String| Failure::usage(format!("{name}: {what}"));
    let size = std::fs::metadata(path).map_err(|error| failed(error.to_string()))?.len();
    if size > TABLE_BYTES_MAX {
        return Err(failed(format!("expected at most {TABLE_BYTES_MAX} bytes, found {size}")));
    }
    let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    let is_toml = path.extension().is_some_and(|extension| extension == "toml");
    let rows = if is_toml { Row::of_toml(&text) } else { Row::of_lines(&text) }.map_err(failed)?;
    if rows.is_empty() { Err(failed("expected a call at least, found none".to_owned())) } else { Ok(rows) }
}

fn try_row<'r>(row: Row, config: &Config, rules: &'r RuleSet) -> anyhow::Result<Tried<'r>> {
    let claims: Claims = match &row.claims {
        Some(claims) => claims.clone(),
        None => config.claims(&row.principal),
    };
    let Some(target) = Target::parse(&row.target) else {
        let what = format!("{}: expected UPSTREAM/NAME, found `{}`", row.place, one_line(&row.target));
        return Err(Failure::usage(what));
    };
    let question =
        Question { principal: &row.principal, claims: &claims, target, arguments: row.arguments.root() };
    let judgement = rules.judge(&question);
    let reasons = rules.reasons(&question, &judgement);
    let decision = judgement.decision;
    let same_rules = row.rules.as_ref().is_none_or(|wanted| {
        let sorted = |ids: &[String]| {
            let mut ids = ids.to_vec();
            ids.sort();
            ids
        };
        sorted(wanted) == sorted(&decision.determining)
    });
    let good = decision.effect == row.expect && same_rules;
    Ok(Tried { effect: decision.effect.as_str(), determining: decision.determining, reasons, good, row })
}

//! `callgate store`: copies, checks and shortens the store's file.

use std::path::PathBuf;

use callgate_store::{CheckReport, Forgotten, backup_store, check_store};
use callgate_wire::Timestamp;
use clap::Subcommand;

use crate::ExitCode;
use crate::operator::{OperatorArgs, missing};
use crate::render::escape::one_line;
use crate::render::output::{complain, print};
use crate::store_path::RecordsArg;

/// Milliseconds of a day.
const DAY_MS: i64 = 86_400_000;
/// The most days that a record can be kept.
const DAYS_MAX: u32 = 36_500;

/// Copy, check and shorten the store, beside gates that run.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  callgate store backup /backups/callgate.sqlite\n  callgate store check\n  \
                        callgate store prune --older-than-days 90\n\n\
                        Exit codes: 0 it is done and good, 1 the store is damaged (of check), 2 there is no such store, \
                        3 it was declined: the token is wrong, 5 the store cannot be read or written, or the copy is \
                        there already."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Copy the store, as it is at one moment, to a new file
    Backup(Backup),
    /// Read all of the store, and say what in it is broken
    Check(Check),
    /// Delete what ended long ago: calls with a known outcome, approvals, windows of budgets, history
    Prune(Prune),
}

#[derive(Debug, clap::Args)]
struct Backup {
    /// The new file
    file: PathBuf,
    #[command(flatten)]
    store: RecordsArg,
}

#[derive(Debug, clap::Args)]
struct Check {
    #[command(flatten)]
    store: RecordsArg,
}

#[derive(Debug, clap::Args)]
struct Prune {
    /// How many days a record is kept after it has ended. Keys of calls that are deleted are free for other calls
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(DAYS_MAX)))]
    older_than_days: u32,
    #[command(flatten)]
    operator: OperatorArgs,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.verb {
        Verb::Backup(args) => backup(args),
        Verb::Check(args) => check(args),
        Verb::Prune(args) => prune(args),
    }
}

fn backup(args: &Backup) -> anyhow::Result<ExitCode> {
    let bytes = backup_store(&args.store.path()?, &args.file).map_err(missing)?;
    print(&format!("copied {bytes} bytes to {}\n", one_line(&args.file.display().to_string())))?;
    Ok(ExitCode::Success)
}

fn check(args: &Check) -> anyhow::Result<ExitCode> {
    let report = check_store(&args.store.path()?).map_err(missing)?;
    let CheckReport { faults, more_faults, intents, in_doubt, open, gates, gates_gone, open_of_gone, .. } =
        &report;
    for fault in faults {
        complain(&one_line(fault));
    }
    if *more_faults > 0 {
        complain(&format!("and {more_faults} more"));
    }
    print(&format!(
        "{intents} intents, of which {in_doubt} in doubt and {open} without an outcome\n\
         {gates} gates that run, {gates_gone} that have ended and that no gate has looked after since ({open_of_gone} of \
         their intents have no outcome)\n"
    ))?;
    if report.is_sound() {
        print("the store is good\n")?;
        Ok(ExitCode::Success)
    } else {
        complain("the store is damaged; keep the file, and go back to a copy");
        Ok(ExitCode::Findings)
    }
}

fn prune(args: &Prune) -> anyhow::Result<ExitCode> {
    let operator = args.operator.open()?;
    let kept_ms = i64::from(args.older_than_days).saturating_mul(DAY_MS);
    let before = Timestamp(operator.now.0.saturating_sub(kept_ms));
    let forgotten = operator.forget(before)?;
    let Forgotten { intents, approvals, counters, events } = forgotten;
    print(&format!(
        "deleted {intents} intents, {approvals} approvals, {counters} counters of budgets, {events} lines of history\n"
    ))?;
    Ok(ExitCode::Success)
}

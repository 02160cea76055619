//! `callgate intents`: the record of the calls that were let through, and what an operator makes of those in doubt.

mod decide;
mod export;
mod text;

use callgate_gateway::IntentFilter;
use callgate_gateway::journal::{EventFilter, Records};
use callgate_server::records::intents as json;
use callgate_wire::{Code, IntentId, IntentRecord};
use clap::Subcommand;

use crate::ExitCode;
use crate::check::Format;
use crate::exit_code::Failure;
use crate::operator::{reader, refusal};
use crate::render::escape::one_line;
use crate::render::output::{print, print_exact};
use crate::store_path::RecordsArg;

/// Lines of an intent's history that are shown.
const HISTORY_MAX: u32 = 100;

/// Show the record of the calls that were let through, and decide about those in doubt.
///
/// A call is in doubt if it left and nobody can say whether the tool ran. The same call of the same principal is refused
/// until an operator has found out (adopt), permits one more try (retry), or gives up finding out (abandon).
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  callgate intents list --in-doubt\n  callgate intents show 2b7d5a4c8e11\n  \
                  callgate intents adopt 2b7d5a4c8e11 --effect done --reason \"the booking is there\"\n  \
                  callgate intents export > intents.jsonl\n\n\
                  Exit codes: 0 it is done, 1 there is no such intent, 2 there is no such store, or several intents \
                  are meant, 3 it was declined: the intent is not in doubt, or the token is wrong, 5 the store cannot \
                  be read or written."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List intents, the last one opened first
    List(List),
    /// Show one intent and its history
    Show(Show),
    /// Say what became of an intent in doubt: it took effect, or it did not
    Adopt(decide::Adopt),
    /// Permit one more try of an intent in doubt: the same call may leave again, once
    Retry(decide::Decide),
    /// Give up finding out what became of an intent in doubt
    Abandon(decide::Decide),
    /// Write all intents as lines of JSON, the last one opened first
    Export(export::Export),
}

#[derive(Debug, clap::Args)]
struct List {
    /// Only those in doubt
    #[arg(long)]
    in_doubt: bool,
    /// How many at most
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,
    /// Only those opened before this one, for the next page
    #[arg(long, value_name = "ID")]
    before: Option<String>,
    /// How to print them; for programs: an array of objects
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    store: RecordsArg,
}

#[derive(Debug, clap::Args)]
struct Show {
    /// The intent's id, or the beginning or the end of it
    id: String,
    /// Print the exact text of the call's arguments too, which can hold secrets
    #[arg(long)]
    arguments: bool,
    /// How to print it; for programs: an object
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    store: RecordsArg,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.verb {
        Verb::List(args) => list(args),
        Verb::Show(args) => show(args),
        Verb::Adopt(args) => decide::adopt(args),
        Verb::Retry(args) => decide::retry(args),
        Verb::Abandon(args) => decide::abandon(args),
        Verb::Export(args) => export::export(args),
    }
}

fn list(args: &List) -> anyhow::Result<ExitCode> {
    let reader = reader(&args.store)?;
    let before = args.before.as_deref().map(|id| known(&*reader, id)).transpose()?;
    let intents = reader.list(&IntentFilter { limit: args.limit, in_doubt: args.in_doubt, before })?;
    match args.format {
        Format::Text if intents.is_empty() && args.in_doubt => print("No call is in doubt.\n")?,
        Format::Text => print(&text::list(&intents))?,
        Format::Json => print_exact(json::list(&intents).as_bytes())?,
    }
    Ok(ExitCode::Success)
}

fn show(args: &Show) -> anyhow::Result<ExitCode> {
    let reader = reader(&args.store)?;
    let record = find(&*reader, &args.id)?;
    let arguments = args.arguments.then(|| String::from_utf8_lossy(&record.arguments));
    let filter = EventFilter { limit: HISTORY_MAX, intent: Some(record.intent.id.clone()) };
    let history = reader.history(&filter)?;
    match args.format {
        Format::Text => print(&text::show(&record.intent, &history, arguments.as_deref()))?,
        Format::Json => {
            print_exact(json::show(&record.intent, &history, arguments.as_deref()).as_bytes())?;
        }
    }
    Ok(ExitCode::Success)
}

/// The intent with this id, or the only one whose id begins or ends so.
fn find(records: &dyn Records, id: &str) -> anyhow::Result<IntentRecord> {
    records.show(id).map_err(refusal)?.ok_or_else(|| {
        let (id, code) = (one_line(id), Code::IntentNotFound);
        Failure::with(
            ExitCode::Findings,
            format!("no intent has the id `{id}`, or one that begins or ends so ({code})"),
        )
    })
}

fn known(records: &dyn Records, id: &str) -> anyhow::Result<IntentId> {
    find(records, id).map(|record| record.intent.id)
}

//! `callgate intents`: shows the record of the calls that were let through. Looks and changes nothing.

mod json;
mod text;

use callgate_gateway::journal::{IntentFilter, Records};
use callgate_wire::{Code, Timestamp};
use clap::Subcommand;

use crate::ExitCode;
use crate::check::Format;
use crate::exit_code::Failure;
use crate::render::escape::one_line;
use crate::render::output::{complain, print, print_exact};
use crate::store_path::StoreArg;

/// Show the record of the calls that were let through.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  callgate intents list --limit 20\n  callgate intents show 2b7d5a4c8e11\n\n\
                  Exit codes: 0 it is shown, 1 there is no such intent, 2 there is no such store, or several intents \
                  are meant, 5 the store cannot be read."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List intents, the last one opened first
    List(List),
    /// Show one intent
    Show(Show),
}

#[derive(Debug, clap::Args)]
struct List {
    /// How many at most
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,
    /// How to print them; for programs: an array of objects
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    store: StoreArg,
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
    store: StoreArg,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.verb {
        Verb::List(args) => list(args),
        Verb::Show(args) => show(args),
    }
}

fn list(args: &List) -> anyhow::Result<ExitCode> {
    let intents = open(&args.store)?.list(&IntentFilter::last(args.limit))?;
    match args.format {
        Format::Text => print(&text::list(&intents))?,
        Format::Json => print_exact(json::list(&intents).as_bytes())?,
    }
    Ok(ExitCode::Success)
}

fn show(args: &Show) -> anyhow::Result<ExitCode> {
    let found = open(&args.store)?.show(&args.id).map_err(|error| match error.code() {
        Code::IntentAmbiguous => {
            Failure::usage(format!("{error}; give more of the id ({})", Code::IntentAmbiguous))
        }
        _ => error.into(),
    })?;
    let Some(record) = found else {
        let place = args.store.place()?;
        complain(&format!(
            "no intent in `{}` has the id `{}`, or one that begins or ends so ({})",
            one_line(&place.to_string()),
            one_line(&args.id),
            Code::IntentNotFound
        ));
        return Ok(ExitCode::Findings);
    };
    let arguments = args.arguments.then(|| String::from_utf8_lossy(&record.arguments));
    match args.format {
        Format::Text => print(&text::show(&record.intent, arguments.as_deref()))?,
        Format::Json => print_exact(json::show(&record.intent, arguments.as_deref()).as_bytes())?,
    }
    Ok(ExitCode::Success)
}

fn open(store: &StoreArg) -> anyhow::Result<Box<dyn Records>> {
    store.open_records(Timestamp(jiff::Timestamp::now().as_millisecond()))
}

/// A time by RFC 3339, in UTC.
fn time(at: Timestamp) -> String {
    match jiff::Timestamp::from_millisecond(at.0) {
        Ok(time) => format!("{time:.3}"),
        Err(_) => format!("{} ms", at.0),
    }
}

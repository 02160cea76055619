//! `callgate catalog`: what is pinned of the tools, how a changed definition differs, and accepting it.

mod diff;
mod effect;
mod list;

use callgate_gateway::journal::{AcceptRequest, Held, PinRecord};
use clap::Subcommand;

use crate::ExitCode;
use crate::check::Format;
use crate::exit_code::Failure;
use crate::operator::{Operator, OperatorArgs, reader, refusal};
use crate::render::escape::one_line;
use crate::render::output::{complain, print, print_exact};
use crate::store_path::RecordsArg;

/// Digits of a digest that say which one is meant.
const DIGEST_DIGITS_MIN: usize = 12;

/// Show what is pinned of the tools, and accept changed definitions.
///
/// A tool's whole definition is pinned when it is first seen. When it changes, the tool is held: it is neither listed nor
/// called until an operator accepts the change. A gate that runs takes that up at the next call.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  callgate catalog list\n  callgate catalog diff\n  \
                        callgate catalog accept notes read_note --digest 4f3a9c1b22d0\n\n\
                        Exit codes: 0 it is done, or nothing has changed, 1 there are changes (of diff), 2 there is no \
                        such store or tool, 3 it was declined: another definition waits than the digest says, or the \
                        token is wrong, 5 the store cannot be read or written.")]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List the tools that are pinned, and which of them are held
    List(List),
    /// Show how the definitions that wait differ from the pinned ones
    Diff(Diff),
    /// Accept a changed definition: it is the pinned one from now on
    Accept(Accept),
}

#[derive(Debug, clap::Args)]
struct List {
    /// The tool server's name in the records [default: all]
    upstream: Option<String>,
    /// How to print them; for programs: an array of objects
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    store: RecordsArg,
}

#[derive(Debug, clap::Args)]
struct Diff {
    /// The tool server's name in the records [default: all]
    upstream: Option<String>,
    /// The tool's name [default: all that are held]
    tool: Option<String>,
    #[command(flatten)]
    store: RecordsArg,
}

#[derive(Debug, clap::Args)]
struct Accept {
    /// The tool server's name in the records
    upstream: String,
    /// The tool's name
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    tool: Option<String>,
    /// Accept only this definition: the digest that diff shows, or 12 or more digits of its beginning
    #[arg(long, value_name = "DIGEST", conflicts_with = "all")]
    digest: Option<String>,
    /// Accept all changed definitions of this tool server
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    operator: OperatorArgs,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.verb {
        Verb::List(args) => list(args),
        Verb::Diff(args) => diff(args),
        Verb::Accept(args) => accept(args),
    }
}

fn list(args: &List) -> anyhow::Result<ExitCode> {
    let pins = reader(&args.store)?.pinned(args.upstream.as_deref())?;
    match args.format {
        Format::Text => print(&list::text(&pins))?,
        Format::Json => print_exact(callgate_server::records::catalog::list(&pins).as_bytes())?,
    }
    Ok(ExitCode::Success)
}

fn diff(args: &Diff) -> anyhow::Result<ExitCode> {
    let mut pins = reader(&args.store)?.pinned(args.upstream.as_deref())?;
    if let Some(tool) = &args.tool {
        pins.retain(|record| record.pin.tool == *tool);
        known(&pins, tool)?;
    } else if let Some(upstream) = &args.upstream {
        known(&pins, upstream)?;
    }
    let changes: Vec<String> = held(&pins).map(|(record, held)| diff::diff(record, held)).collect();
    if changes.is_empty() {
        print("No definition waits for an acceptance.\n")?;
        return Ok(ExitCode::Success);
    }
    print(&changes.join("\n"))?;
    Ok(ExitCode::Findings)
}

fn held(pins: &[PinRecord]) -> impl Iterator<Item = (&PinRecord, &Held)> {
    pins.iter().filter_map(|record| record.pin.held.as_ref().map(|held| (record, held)))
}

fn known(pins: &[PinRecord], name: &str) -> anyhow::Result<()> {
    if pins.is_empty() {
        let name = one_line(name);
        return Err(Failure::usage(format!(
            "nothing is pinned of `{name}`; `callgate catalog list` shows what is"
        )));
    }
    Ok(())
}

fn accept(args: &Accept) -> anyhow::Result<ExitCode> {
    let operator = args.operator.open()?;
    let mut pins = operator.ledger().pinned(Some(&args.upstream))?;
    known(&pins, &args.upstream)?;
    if let Some(tool) = &args.tool {
        pins.retain(|record| record.pin.tool == *tool);
        known(&pins, tool)?;
        let record = pins.first().map(|record| (record, chosen(record, args.digest.as_deref())));
        if let Some((record, held)) = record {
            accept_one(&operator, record, &held?)?;
        }
        return Ok(ExitCode::Success);
    }
    let waiting: Vec<(&PinRecord, &Held)> = held(&pins).collect();
    if waiting.is_empty() {
        print("No definition waits for an acceptance.\n")?;
    }
    let mut declined = false;
    for (record, held) in waiting {
        if let Err(error) = accept_one(&operator, record, held) {
            if error.downcast_ref::<Failure>().is_none_or(|failure| failure.code != ExitCode::Refused) {
                return Err(error);
            }
            complain(&format!("{error:#}"));
            declined = true;
        }
    }
    Ok(if declined { ExitCode::Refused } else { ExitCode::Success })
}

/// The definition that waits, if it is the one that is meant.
fn chosen(record: &PinRecord, digest: Option<&str>) -> anyhow::Result<Held> {
    let tool = one_line(&record.pin.tool);
    let code = callgate_wire::Code::ContractNotHeld;
    let Some(held) = &record.pin.held else {
        let message = format!("no change of `{tool}` waits for an acceptance ({code})");
        return Err(Failure::with(ExitCode::Refused, message));
    };
    let Some(digest) = digest else { return Ok(held.clone()) };
    let digits = digest.len() >= DIGEST_DIGITS_MIN && digest.bytes().all(|digit| digit.is_ascii_hexdigit());
    if !digits {
        let message = format!("expected a digest, or at least {DIGEST_DIGITS_MIN} digits of its beginning");
        return Err(Failure::usage(format!("{message}, found `{}`", one_line(digest))));
    }
    if !held.digest.to_string().starts_with(&digest.to_lowercase()) {
        let now = held.digest;
        let message = format!(
            "the definition of `{tool}` that waits is {now}, and not the one that is named; look at it with \
             `callgate catalog diff` ({code})"
        );
        return Err(Failure::with(ExitCode::Refused, message));
    }
    Ok(held.clone())
}

fn accept_one(operator: &Operator, record: &PinRecord, held: &Held) -> anyhow::Result<()> {
    let request = AcceptRequest {
        upstream: record.upstream.clone(),
        tool: record.pin.tool.clone(),
        digest: held.digest,
        by: operator.by.clone(),
        at: operator.now,
    };
    operator.ledger().accept(request).map_err(refusal)?;
    let (upstream, tool) = (one_line(&record.upstream), one_line(&record.pin.tool));
    print(&format!("accepted {upstream} {tool} {}\n", held.digest))
}

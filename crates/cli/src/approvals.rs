//! `callgate approvals`: the calls that wait for a person, and deciding about them, beside a gate that runs.

mod text;

use callgate_gateway::journal::{ApprovalFilter, DecideRequest, Records};
use callgate_server::records::approvals::{self as json, VALID_MS_MAX};
use callgate_wire::{Approval, ApprovalRecord, Code, Timestamp};
use clap::Subcommand;

use crate::ExitCode;
use crate::check::Format;
use crate::exit_code::Failure;
use crate::operator::{Operator, OperatorArgs, reader, refusal};
use crate::render::escape::one_line;
use crate::render::output::{print, print_exact};
use crate::render::record::time;
use crate::store_path::RecordsArg;

/// Show the calls that wait for a person, and approve or deny them.
///
/// An approval is good for one call with exactly these arguments, once, and until it expires. The caller makes the same
/// call again, unchanged.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  callgate approvals list\n  callgate approvals show 4c8e112b7d5a\n  \
                        callgate approvals approve 4c8e112b7d5a --reason \"agreed with bob\"\n\n\
                        Exit codes: 0 it is done, 1 there is no such approval, 2 there is no such store, or several \
                        approvals are meant, 3 it was declined: it is decided or has expired, or the token is wrong, \
                        5 the store cannot be read or written.")]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List the calls that wait, the last one asked for first
    List(List),
    /// Show one with its exact arguments, marked where they differ from those of the last approved call
    Show(Show),
    /// Permit the call, once
    Approve(Approve),
    /// Do not permit the call
    Deny(Deny),
}

#[derive(Debug, clap::Args)]
struct List {
    /// Those that are decided or have expired, too
    #[arg(long)]
    all: bool,
    /// How many at most
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,
    /// How to print them; for programs: an array of objects
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    store: RecordsArg,
}

#[derive(Debug, clap::Args)]
struct Show {
    /// The approval's id, or the beginning or the end of it
    id: String,
    /// How to print it; for programs: an object, with the arguments as a string
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    store: RecordsArg,
}

#[derive(Debug, clap::Args)]
struct Approve {
    /// The approval's id, or the beginning or the end of it
    id: String,
    /// How long the call may use it, in milliseconds [default: as long as the request could wait]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=VALID_MS_MAX))]
    valid_ms: Option<u64>,
    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    operator: OperatorArgs,
}

#[derive(Debug, clap::Args)]
struct Deny {
    /// The approval's id, or the beginning or the end of it
    id: String,
    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    operator: OperatorArgs,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.verb {
        Verb::List(args) => list(args),
        Verb::Show(args) => show(args),
        Verb::Approve(args) => approve(args),
        Verb::Deny(args) => deny(args),
    }
}

fn list(args: &List) -> anyhow::Result<ExitCode> {
    let now = callgate_server::now();
    let filter = ApprovalFilter { limit: args.limit, pending_at: (!args.all).then_some(now) };
    let approvals = reader(&args.store)?.approvals(&filter)?;
    match args.format {
        Format::Text => print(&text::list(&approvals, now, args.all))?,
        Format::Json => print_exact(json::list(&approvals, now).as_bytes())?,
    }
    Ok(ExitCode::Success)
}

fn show(args: &Show) -> anyhow::Result<ExitCode> {
    let now = callgate_server::now();
    let reader = reader(&args.store)?;
    let record = find(&*reader, &args.id)?;
    let Approval { principal, upstream, tool, .. } = &record.approval;
    match args.format {
        Format::Text => {
            let last = reader.last_approved(principal, upstream, tool)?;
            // What was approved is compared with what was approved before it, and not with itself.
            let last = last.filter(|last| last.approval.id != record.approval.id);
            print(&text::show(&record, last.as_ref(), now))?;
        }
        Format::Json => print_exact(json::show(&record, now).as_bytes())?,
    }
    Ok(ExitCode::Success)
}

fn find(records: &dyn Records, id: &str) -> anyhow::Result<ApprovalRecord> {
    records.approval_record(id).map_err(refusal)?.ok_or_else(|| {
        let (id, code) = (one_line(id), Code::ApprovalNotFound);
        Failure::with(
            ExitCode::Findings,
            format!("no approval has the id `{id}`, or one that begins or ends so ({code})"),
        )
    })
}

fn approve(args: &Approve) -> anyhow::Result<ExitCode> {
    let operator = args.operator.open()?;
    let asked = find(operator.ledger(), &args.id)?.approval;
    let valid_ms = match args.valid_ms {
        Some(ms) => i64::try_from(ms).unwrap_or(i64::MAX),
        None => asked.expires_at.0.saturating_sub(asked.asked_at.0).max(1),
    };
    let expires_at = Timestamp(operator.now.0.saturating_add(valid_ms));
    let approval = decide(&operator, &asked, true, args.reason.as_ref(), expires_at)?;
    print(&format!(
        "approved {} for {}: `{}` of {}, once, until {}\nThe caller has to make the same call again, unchanged.\n",
        approval.id,
        one_line(approval.principal.as_str()),
        one_line(&approval.tool),
        one_line(&approval.upstream),
        time(approval.expires_at),
    ))?;
    Ok(ExitCode::Success)
}

fn deny(args: &Deny) -> anyhow::Result<ExitCode> {
    let operator = args.operator.open()?;
    let asked = find(operator.ledger(), &args.id)?.approval;
    let approval = decide(&operator, &asked, false, args.reason.as_ref(), asked.expires_at)?;
    print(&format!(
        "denied {} for {}: `{}` of {}; the same call does not ask again before {}\n",
        approval.id,
        one_line(approval.principal.as_str()),
        one_line(&approval.tool),
        one_line(&approval.upstream),
        time(approval.expires_at),
    ))?;
    Ok(ExitCode::Success)
}

fn decide(
    operator: &Operator,
    asked: &Approval,
    approve: bool,
    reason: Option<&String>,
    expires_at: Timestamp,
) -> anyhow::Result<Approval> {
    let request = DecideRequest {
        id: asked.id.clone(),
        approve,
        by: operator.by.clone(),
        reason: reason.cloned(),
        at: operator.now,
        expires_at,
    };
    operator.ledger().decide(request).map_err(refusal)
}

//! `callgate demo`: a gate before a real tool server, a few calls, and what became of each.
//!
//! Everything is what a user would have: the gate and the notes server are child processes, the demo is a client that
//! writes lines to the gate and reads lines from it, and the intents are read by `callgate intents list`.

mod connection;
mod outcome;
mod page;
mod plays;

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::Value;

use connection::Connection;
use outcome::Outcome;
use plays::{PLAYS, Play};

use crate::render::output::print;

/// Play a dozen calls through a gate before a small tool server, and see what becomes of each.
///
/// Needs nothing and leaves nothing: the server is part of this program, the store is a temporary file.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

/// A play that was played.
struct Played {
    play: &'static Play,
    outcome: Outcome,
    taken: Duration,
}

pub(crate) fn run(_args: &Args) -> anyhow::Result<crate::ExitCode> {
    let program = std::env::current_exe().context("cannot find this program")?;
    let folder = tempfile::tempdir().context("no folder for the store")?;
    let store = folder.path().join("store.sqlite");

    print(&page::opening(&store))?;
    let mut connection = Connection::start(&program, &store)?;
    let mut played = Vec::new();
    for (id, play) in PLAYS.iter().enumerate() {
        let (answer, taken) = connection.ask(&play.frame(id), id)?;
        played.push(Played { play, outcome: Outcome::read(&answer), taken });
    }
    connection.finish()?;
    print(&page::calls(&played))?;

    let left = left_out(&intents(&program, &store)?, &played);
    print(&page::intents(&intents_table(&program, &store)?))?;
    for fault in &left {
        print(&page::fault(fault))?;
    }
    print(&page::closing(&program))?;

    let as_expected = played.iter().all(|played| played.outcome == played.play.expected) && left.is_empty();
    Ok(if as_expected { crate::ExitCode::Success } else { crate::ExitCode::Internal })
}

/// What the store should hold and does not, or the other way round.
fn left_out(intents: &[Value], played: &[Played]) -> Vec<String> {
    let ran: Vec<&str> =
        played.iter().filter(|played| played.play.expected.ran()).map(|played| played.play.tool).collect();
    let mut found: Vec<(&str, &str, &str)> = intents
        .iter()
        .map(|intent| {
            let text = |name: &str| intent.get(name).and_then(Value::as_str).unwrap_or_default();
            (text("id"), text("tool"), text("state"))
        })
        .collect();
    // Ids begin with the time.
    found.sort_unstable();
    let mut faults = Vec::new();
    if found.iter().map(|&(_, tool, _)| tool).ne(ran.iter().copied()) {
        faults.push(format!("expected an intent of each call that ran ({}), no more", ran.join(", ")));
    }
    for (id, tool, state) in found {
        if state != "settled" {
            faults.push(format!("expected the intent {id} of {tool} to be settled, it is {state}"));
        }
    }
    faults
}

fn intents(program: &Path, store: &Path) -> anyhow::Result<Vec<Value>> {
    serde_json::from_str(&list(program, store, &["--format", "json"])?)
        .context("`intents list` wrote no JSON")
}

fn intents_table(program: &Path, store: &Path) -> anyhow::Result<String> {
    list(program, store, &[])
}

fn list(program: &Path, store: &Path, flags: &[&str]) -> anyhow::Result<String> {
    let output = Command::new(program)
        .args(["intents", "list", "--store"])
        .arg(store)
        .args(flags)
        .output()
        .context("cannot start `intents list`")?;
    anyhow::ensure!(output.status.success(), "`intents list`: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).context("`intents list` wrote no text")
}

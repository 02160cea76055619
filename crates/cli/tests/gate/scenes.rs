//! Scenes that need more than one process at a time, or more than the protocol.

use std::process::Command;

use anyhow::{Context as _, ensure};
use callgate_testing::fixture;
use callgate_testing::peer::{PATIENCE, Peer, until};
use callgate_testing::report::Report;
use callgate_testing::torture::kill::Kills;
use callgate_testing::torture::{Ground, kill, order};
use libtest_mimic::Trial;
use serde_json::Value;

use crate::{BINARY, play, trial};

/// A few kills, so that the proof itself is kept whole; the chore makes hundreds.
const KILLS: u32 = 8;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("scene: three gates and the command line share one store".into(), three_gates_share_one_store),
        trial("scene: the demo ends well".into(), the_demo_ends_well),
        trial("scene: the demo says nothing in colour into a file".into(), the_demo_is_plain_in_a_file),
        trial("scene: what a killed gate leaves is in doubt, and nothing is lost".into(), a_killed_gate),
        trial("scene: a tool is called by hand through a gate that runs".into(), a_call_by_hand),
        trial("scene: a log for programs is an object a line".into(), a_log_for_programs),
        trial("scene: a command that cannot be started ends the gate with 4".into(), no_such_command),
        trial("scene: an intent is synced before its call is sent".into(), synced_before_sent),
    ]
}

/// Calls of each gate; each waits for its answer, so that the gates take turns at the store.
const CALLS: usize = 20;

fn three_gates_share_one_store() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let store = folder.path().join("store.sqlite");
    let mut gates = Vec::new();
    for _ in 0..3 {
        let mut command = Command::new(BINARY);
        command.arg("wrap").arg("--store").arg(&store).arg("--");
        command.arg(std::env::current_exe()?).arg(fixture::ASKED);
        gates.push(Peer::spawn(&mut command)?);
    }
    for gate in &mut gates {
        gate.initialize()?;
    }
    for id in 0..CALLS {
        for gate in &mut gates {
            gate.send(format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{}}}}}}"#
            ))?;
        }
        // The command line reads while all three write.
        let seen = play::intents(&store)?;
        ensure!(seen.iter().all(|intent| intent["in_doubt"] == false), "a gate that lives is taken for dead");
        for gate in &mut gates {
            let answer: Value = serde_json::from_slice(&gate.answer(&id.to_string(), PATIENCE)?)?;
            ensure!(answer["result"].get("isError").is_none(), "{answer}");
        }
    }
    for gate in &mut gates {
        gate.close();
        let status = gate.wait(PATIENCE)?;
        ensure!(status.success(), "{status}; {}", gate.stderr());
    }
    let intents = play::intents(&store)?;
    ensure!(intents.len() == 3 * CALLS, "{} intents", intents.len());
    ensure!(intents.iter().all(|intent| intent["state"] == "settled"), "{intents:#?}");
    Ok(())
}

fn demo() -> anyhow::Result<String> {
    let output = Command::new(BINARY).arg("demo").env("COLUMNS", "100").output()?;
    let text = String::from_utf8(output.stdout)?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "it ended with {}: {text}{errors}", output.status);
    ensure!(errors.is_empty(), "standard error has {errors}");
    Ok(text)
}

fn the_demo_ends_well() -> anyhow::Result<()> {
    let text = demo()?;
    for part in ["bind", "resolve", "property-unexpected", "callgate wrap --", "mcpServers"] {
        ensure!(text.contains(part), "`{part}` is not in the demo: {text}");
    }
    Ok(())
}

fn the_demo_is_plain_in_a_file() -> anyhow::Result<()> {
    let text = demo()?;
    ensure!(!text.contains('\u{1b}'), "there are escapes in {text}");
    let widest = text.lines().map(|line| line.chars().count()).max().context("nothing was printed")?;
    ensure!(widest <= 100, "a line has {widest} columns: {text}");
    Ok(())
}

fn a_killed_gate() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let ground = Ground { binary: BINARY.into(), folder: folder.path().to_owned(), store: None };
    let mut report = Report::default();
    let kills = Kills { rounds: KILLS, server_kills: 0, seed: 1 };
    kill::run(&ground, kills, &mut report)?;
    ensure!(report.close(), "a promise is broken");
    Ok(())
}

fn a_log_for_programs() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let mut command = Command::new(BINARY);
    command.args(["serve", "--stdio", "--store"]).arg(folder.path().join("store.sqlite"));
    command.env("CALLGATE_LOG_FORMAT", "json").env("XDG_DATA_HOME", folder.path());
    let mut gate = Peer::spawn(&mut command)?;
    gate.initialize()?;
    gate.close();
    gate.wait(PATIENCE)?;
    let log = gate.stderr();
    ensure!(log.contains("\"message\":\"the gate serves\""), "the event is not there: {log}");
    for line in log.lines() {
        let event: serde_json::Value =
            serde_json::from_str(line).with_context(|| format!("no object: {line}"))?;
        for member in ["timestamp", "level", "message"] {
            ensure!(event[member].is_string(), "no `{member}` in {line}");
        }
    }
    Ok(())
}

fn a_call_by_hand() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let mut command = Command::new(BINARY);
    command.args(["serve", "--listen", "127.0.0.1:0", "--store"]).arg(folder.path().join("store.sqlite"));
    command.env("XDG_DATA_HOME", folder.path());
    let mut gate = Peer::spawn(&mut command)?;
    until("the gate listens", PATIENCE, || gate.stderr().contains("/mcp"))?;
    let log = gate.stderr();
    let url = log.split_whitespace().find(|word| word.starts_with("http://")).context("no address")?;
    let call = |words: &[&str]| -> anyhow::Result<(Option<i32>, String)> {
        let output = Command::new(BINARY).args(["call", "--url", url]).args(words).output()?;
        let text = [output.stdout, output.stderr].concat();
        Ok((output.status.code(), String::from_utf8(text)?))
    };
    for (words, code, part) in [
        (&["write_note", "--title", "a", "body=b c"][..], 0, ""),
        (&["--args", r#"{"titel":"a"}"#, "write_note"], 3, "call-arguments-invalid"),
        (&["write_note", "--titel", "a"], 2, "titel"),
        (&["write_notes", "--title", "a"], 2, "did you mean `write_note`?"),
        (&["--args", "{}", "nothing"], 3, "nothing"),
    ] {
        let (found, text) = call(words)?;

        ensure!(found == Some(code) && text.contains(part), "{words:?} ended with {found:?}: {text}");
    }
    gate.terminate()?;
    gate.wait(PATIENCE)?;
    let (found, text) = call(&["write_note"])?;
    ensure!(found == Some(4) && text.contains(url), "without a gate it ended with {found:?}: {text}");
    Ok(())
}

fn no_such_command() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let mut command = Command::new(BINARY);
    command.arg("wrap").arg("--store").arg(folder.path().join("store.sqlite"));
    command.args(["--", "/no/such/command"]);
    let mut gate = Peer::spawn(&mut command)?;
    let status = gate.wait(PATIENCE)?;
    ensure!(status.code() == Some(4), "it ended with {status}");
    let shown = gate.stderr();
    ensure!(shown.contains("/no/such/command"), "the command is not named: {shown}");
    Ok(())
}

#[expect(clippy::print_stdout, reason = "a test that does not look says so")]
fn synced_before_sent() -> anyhow::Result<()> {
    let traced = Command::new("strace").arg("-V").output().is_ok_and(|output| output.status.success());
    if !traced {
        ensure!(
            std::env::var_os("CI").is_none_or(|ci| ci != "true"),
            "strace is missing, and nothing may be skipped here"
        );
        println!("skipped: strace is missing");
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let ground = Ground { binary: BINARY.into(), folder: folder.path().to_owned(), store: None };
    let mut report = Report::default();
    order::run(&ground, &mut report)?;
    ensure!(report.close(), "a promise is broken");
    Ok(())
}

//! Plays the rows of `cases/gate.jsonl`.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use callgate_testing::fixture;
use callgate_testing::peer::{PATIENCE, Peer, until};
use libtest_mimic::Trial;
use serde_json::Value;

use crate::expectation::Expectation;
use crate::row::{Row, Step};
use crate::{BINARY, trial};

pub(crate) fn trials() -> Vec<Trial> {
    let file = crate::cases().join("gate.jsonl");
    let text = std::fs::read_to_string(&file).expect("the rows are there");
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.is_empty())
        .map(|(index, line)| {
            let row = Row::read(line).with_context(|| format!("gate.jsonl, line {}", index + 1));
            let name = row.as_ref().map_or_else(|_| format!("line {}", index + 1), |row| row.name.clone());
            trial(format!("gate: {name}"), move || play(&row?))
        })
        .collect()
}

fn play(row: &Row) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let store = folder.path().join("store.sqlite");
    let log = folder.path().join("log");
    let effects = folder.path().join("effects");
    let mut gate = Peer::spawn(&mut gate_command(row, folder.path())?)?;
    if row.handshake {
        gate.initialize().with_context(|| gate.stderr())?;
    }
    let mut last_id = String::from("null");
    for step in &row.exchange {
        match step {
            Step::Send(line) => {
                last_id = id_of(line).unwrap_or_else(|| String::from("null"));
                gate.send(line)?;
            }
            Step::Expect(expectation) => {
                judge(&mut gate, expectation, &last_id).with_context(|| gate.stderr())?;
            }
            Step::Reached(count) => {
                until("the calls reach the tool server", PATIENCE, || calls(&log).len() >= *count)?;
            }
        }
    }
    if let Some((max, held)) = row.memory_mib_max.zip(memory_mib(gate.pid())) {
        ensure!(held <= max, "the gate has held {held} MiB, expected at most {max}");
    }
    gate.close();
    let status = gate.wait(PATIENCE)?;
    let stderr = gate.stderr();
    ensure!(status.code() == Some(row.exit), "it ended with {status}, expected {}; {stderr}", row.exit);
    for text in &row.log {
        ensure!(stderr.contains(text), "`{text}` is not in the log: {stderr}");
    }
    if let Some(numbers) = &row.upstream {
        let sends = row.sends();
        let expected: Vec<&[u8]> = numbers.iter().map(|&number| sends[number]).collect();
        let reached = calls(&log);
        ensure!(
            reached == expected,
            "the tool server received {:?}",
            reached.iter().map(|line| String::from_utf8_lossy(line)).collect::<Vec<_>>()
        );
    }
    if let Some(count) = row.effects {
        let found = std::fs::read_to_string(&effects).unwrap_or_default().lines().count();
        ensure!(found == count, "{found} effects, expected {count}");
    }
    if let Some(expected) = &row.intents {
        judge_intents(&intents(&store)?, expected)?;
    }
    row.commands.iter().try_for_each(|command| judge_command(&store, command))
}

fn gate_command(row: &Row, folder: &Path) -> anyhow::Result<Command> {
    let mut command = Command::new(BINARY);
    command.arg("wrap").arg("--store").arg(folder.join("store.sqlite")).args(&row.flags);
    if let Some(config) = &row.config {
        let file = folder.join("gate.toml");
        std::fs::write(&file, config)?;
        command.arg("--config").arg(file);
    }
    command.arg("--");
    command.arg(std::env::current_exe()?).arg(fixture::ASKED);
    command.arg("--log").arg(folder.join("log")).arg("--effects").arg(folder.join("effects"));
    if let Some(tools) = &row.tools {
        // The pages of a later list stand below a line of dashes.
        for (number, list) in tools.split("\n---\n").enumerate() {
            let file = folder.join(format!("tools-{number}"));
            std::fs::write(&file, list)?;
            command.arg("--tools").arg(file);
        }
    }
    for (name, script) in &row.scripts {
        command.arg("--script").arg(format!("{name}={script}"));
    }
    Ok(command)
}

fn judge(gate: &mut Peer, expectation: &Expectation, last_id: &str) -> anyhow::Result<()> {
    if expectation.nothing() {
        // Whatever was to come has come when a later request is answered.
        gate.send(r#"{"jsonrpc":"2.0","id":"barrier","method":"ping"}"#)?;
        gate.answer("\"barrier\"", PATIENCE)?;
        let line = gate.line(Duration::ZERO).ok().flatten();
        ensure!(line.is_none(), "there is {}", String::from_utf8_lossy(&line.unwrap_or_default()));
        return Ok(());
    }
    let line = if expectation.notification().is_some() {
        gate.line(PATIENCE)?.context("the output ended")?
    } else {
        gate.answer(expectation.id.as_deref().unwrap_or(last_id), PATIENCE)?
    };
    expectation.judge(&line)
}

/// The id of a request as JSON text.
fn id_of(line: &[u8]) -> Option<String> {
    use std::collections::BTreeMap;
    let members: BTreeMap<String, &serde_json::value::RawValue> = serde_json::from_slice(line).ok()?;
    members.get("id").map(|id| id.get().to_owned())
}

/// The calls that the tool server received, byte for byte.
fn calls(log: &Path) -> Vec<Vec<u8>> {
    let text = std::fs::read(log).unwrap_or_default();
    text.split(|&byte| byte == b'\n')
        .filter(|line| line.windows(10).any(|window| window == b"tools/call"))
        .map(<[u8]>::to_vec)
        .collect()
}

/// What the store holds, oldest first.
pub(crate) fn intents(store: &Path) -> anyhow::Result<Vec<Value>> {
    let output = Command::new(BINARY)
        .args(["intents", "list", "--limit", "100000", "--format", "json", "--store"])
        .arg(store)
        .output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut intents: Vec<Value> = serde_json::from_slice(&output.stdout)?;
    // The ids begin with the time.
    intents.sort_by(|left, right| left["id"].as_str().cmp(&right["id"].as_str()));
    Ok(intents)
}

fn judge_intents(found: &[Value], expected: &[Value]) -> anyhow::Result<()> {
    let met = found.len() == expected.len()
        && found.iter().zip(expected).all(|(found, expected)| {
            expected
                .as_object()
                .is_some_and(|members| members.iter().all(|(name, value)| found[name] == *value))
        });
    ensure!(met, "the store holds {found:#?}");
    Ok(())
}

/// The most memory that a process has ever held, on Linux.
fn memory_mib(pid: u32) -> Option<usize> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<usize>().ok()? / 1024)
}

/// Runs the command line on the store that the gate has left.
fn judge_command(store: &Path, command: &Value) -> anyhow::Result<()> {
    let words = |name: &str| -> Vec<&str> {
        command[name].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
    };
    let arguments = words("arguments");
    // What follows `--` is the tool server's.
    let own = arguments.iter().position(|word| *word == "--").unwrap_or(arguments.len());
    let (own, others) = arguments.split_at(own);
    let output = Command::new(BINARY).args(own).arg("--store").arg(store).args(others).output()?;
    let shown = [output.stdout, output.stderr].concat();
    let shown = String::from_utf8_lossy(&shown);
    ensure!(
        output.status.code().map(i64::from) == command["exit"].as_i64(),
        "{command} ended with {}: {shown}",
        output.status
    );
    for text in words("shows") {
        ensure!(shown.contains(text), "{command} does not show `{text}`: {shown}");
    }
    Ok(())
}

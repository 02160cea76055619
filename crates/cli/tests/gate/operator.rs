//! Plays the rows of `cases/operator.jsonl`: what operators do with the built program, beside a gate's journal that this
//! process holds open all the while.
//!
//! A row has a `name` and `steps`. A step is one of `cases/durable.jsonl`, played on the journal, or
//!
//! | member | says |
//! |---|---|
//! | `run` | run the program with these words; the store is named by the environment |
//! | `exit` | its exit code; 0 when absent |
//! | `shows` | texts that are on one of its outputs |
//! | `lacks` | texts that are on none |
//! | `lines` | how many lines of standard output are JSON objects, and all are |
//! | `token` | what it is given as the operator's token by the environment |
//! | `chmod` | instead of `run`: the mode of the token's file from now on |
//! | `write` | instead of `run`: the text of the file `given` in the store's folder; `@GIVEN@` in `run` is its name |
//!
//! The calls of a row have the ids 1, 2, … in the order in which they are named, every byte of an id being its number.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, ensure};
use callgate_server::{OperatorToken, TOKEN_FILE};
use callgate_store::SqliteJournal;
use callgate_testing::durable::Stage;
use callgate_wire::{Incarnation, Timestamp};
use libtest_mimic::Trial;
use serde_json::Value;

use crate::{BINARY, trial};

pub(crate) fn trials() -> Vec<Trial> {
    let file = crate::cases().join("operator.jsonl");
    let text = std::fs::read_to_string(&file).expect("the rows are there");
    text.lines()
        .map(|line| {
            let row: Value = serde_json::from_str(line).expect("a row is JSON");
            let name = row["name"].as_str().expect("a row has a name").to_owned();
            trial(format!("operator: {name}"), move || play(&row))
        })
        .collect()
}

fn play(row: &Value) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let store = folder.path().join("store.sqlite");
    let fence = Incarnation::from_bytes([0xee; 16]);
    let journal = SqliteJournal::open_gate(&store, fence, std::process::id(), Timestamp(1))?;
    let mut stage = Stage::new(&journal);
    for (at, step) in row["steps"].as_array().into_iter().flatten().enumerate() {
        let played = if let Some(mode) = step["chmod"].as_str() {
            chmod(&folder.path().join(TOKEN_FILE), mode)
        } else if let Some(text) = step["write"].as_str() {
            let file = folder.path().join("given");
            std::fs::write(&file, text)?;
            chmod(&file, "600")
        } else if step["run"].is_array() {
            run(&store, step)
        } else {
            stage.play(step).map_err(anyhow::Error::msg)
        };
        played.with_context(|| format!("step {}", at + 1))?;
    }
    // Whatever was done, the token is nowhere but in its file.
    drop(stage);
    drop(journal);
    let records = std::fs::read(&store)?;
    if let Ok(token) = std::fs::read_to_string(OperatorToken::file(&store)) {
        let held = records.windows(64).any(|window| window == token.trim().as_bytes());
        ensure!(!held, "the token is in the store");
    }
    Ok(())
}

/// A command of the program on this store, in an environment without settings of its own.
pub(crate) fn command(store: &Path) -> Command {
    let mut command = Command::new(BINARY);
    for variable in ["CALLGATE_OPERATOR_TOKEN", "CALLGATE_STORE", "CALLGATE_LOG"] {
        command.env_remove(variable);
    }
    command.env("COLUMNS", "100").env("CALLGATE_STORE", store);
    command
}

fn run(store: &Path, step: &Value) -> anyhow::Result<()> {
    let texts = |name: &str| -> Vec<&str> {
        step[name].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
    };
    let mut command = command(store);
    let given = store.with_file_name("given").display().to_string();
    command.args(texts("run").iter().map(|word| word.replace("@GIVEN@", &given)));
    if let Some(token) = step["token"].as_str() {
        command.env("CALLGATE_OPERATOR_TOKEN", token);
    }
    let output = command.output()?;
    let (stdout, stderr) = (String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?);
    let shown = format!("{stdout}{stderr}");
    let exit = step["exit"].as_i64().unwrap_or_default();
    ensure!(
        output.status.code().map(i64::from) == Some(exit),
        "{step} ended with {}: {shown}",
        output.status
    );
    for text in texts("shows") {
        ensure!(shown.contains(text), "`{text}` is not shown: {shown}");
    }
    for text in texts("lacks") {
        ensure!(!shown.contains(text), "`{text}` is shown: {shown}");
    }
    ensure!(!shown.contains('\u{1b}'), "there are escapes in {shown}");
    if let Some(count) = step["lines"].as_u64() {
        let objects = stdout
            .lines()
            .filter(|line| serde_json::from_str::<Value>(line).is_ok_and(|value| value.is_object()));
        let (objects, lines) = (objects.count(), stdout.lines().count());
        ensure!(objects == lines && lines as u64 == count, "{lines} lines, {objects} objects: {shown}");
    }
    if let Ok(token) = std::fs::read_to_string(OperatorToken::file(store)) {
        ensure!(token.trim().is_empty() || !shown.contains(token.trim()), "the token is shown");
    }
    Ok(())
}

#[cfg(unix)]
fn chmod(file: &Path, mode: &str) -> anyhow::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = u32::from_str_radix(mode, 8)?;
    Ok(std::fs::set_permissions(file, std::fs::Permissions::from_mode(mode))?)
}

#[cfg(not(unix))]
fn chmod(_file: &Path, _mode: &str) -> anyhow::Result<()> {
    Ok(())
}

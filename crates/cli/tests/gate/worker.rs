//! The rows of `cases/worker/*.jsonl`, through `callgate worker`.
//!
//! A row has a `name`, a `request` (sent as the bytes that stand in the file) and `expect`. With `"ok": true`, every
//! member of `expect` must be in the answer, equal. Otherwise its members are those of the first error; `class` must
//! be the answer's too. In `details`, only what stands in the row is compared.

use std::collections::BTreeMap;
use std::process::Command;

use anyhow::{Context as _, ensure};
use callgate_testing::peer::{PATIENCE, Peer};
use libtest_mimic::Trial;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::{BINARY, trial};

pub(crate) fn trials() -> Vec<Trial> {
    let mut files: Vec<_> = std::fs::read_dir(crate::cases().join("worker"))
        .expect("the rows are there")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .collect();
    files.sort();
    files
        .into_iter()
        .flat_map(|file| {
            let topic = file.file_stem().expect("a name").to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&file).expect("the file is text");
            text.lines()
                .enumerate()
                .filter(|(_, line)| !line.is_empty())
                .map(|(index, line)| row(&topic, index + 1, line.to_owned()))
                .collect::<Vec<_>>()
        })
        .collect()
}

fn row(topic: &str, number: usize, line: String) -> Trial {
    let named =
        serde_json::from_str::<Value>(&line).ok().and_then(|row| row["name"].as_str().map(str::to_owned));
    let name = named.unwrap_or_else(|| format!("line {number}"));
    trial(format!("worker {topic}: {name}"), move || {
        let members: BTreeMap<String, &RawValue> = serde_json::from_str(&line)?;
        let request = members.get("request").context("no `request`")?.get();
        let expect: Value = serde_json::from_str(members.get("expect").context("no `expect`")?.get())?;
        let answer = ask(request)?;
        judge(&answer, &expect).with_context(|| format!("{answer}"))
    })
}

/// The worker's answer to one line.
fn ask(request: &str) -> anyhow::Result<Value> {
    let mut worker = Peer::spawn(Command::new(BINARY).arg("worker"))?;
    worker.send(request)?;
    worker.close();
    let lines = worker.rest(PATIENCE)?;
    ensure!(lines.len() == 1, "{} answers to one request; {}", lines.len(), worker.stderr());
    let status = worker.wait(PATIENCE)?;
    ensure!(status.success(), "it ended with {status}; {}", worker.stderr());
    Ok(serde_json::from_slice(&lines[0])?)
}

fn judge(answer: &Value, expect: &Value) -> anyhow::Result<()> {
    let wanted = expect.as_object().context("`expect` is no object")?;
    if expect["ok"] == true {
        for (name, value) in wanted {
            ensure!(answer[name] == *value, "`{name}` is {}, expected {value}", answer[name]);
        }
        return Ok(());
    }
    ensure!(answer["ok"] == false, "it is fine");
    let first = &answer["errors"][0];
    for (name, value) in wanted {
        let found = &first[name];
        match (name.as_str(), value.as_object()) {
            ("ok", _) => {}
            ("details", Some(details)) => {
                for (detail, value) in details {
                    ensure!(found[detail] == *value, "`details.{detail}` is {}", found[detail]);
                }
            }
            ("class", _) => {
                ensure!(*found == *value && answer["class"] == *value, "the class is {found}");
            }
            _ => ensure!(found == value, "`{name}` is {found}, expected {value}"),
        }
    }
    Ok(())
}

//! The rows of `cases/worker/*.jsonl`, through `callgate worker`.
//!
//! A row has a `name`, a `request` (sent as the bytes that stand in the file) and `expect`. With `"ok": true`, every
//! member of `expect` must be in the answer, equal. Otherwise its members are those of the first error; `class` must
//! be the answer's too. In `details`, only what stands in the row is compared. Numbers are compared as they are spelled.

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
    let members = serde_json::from_str::<BTreeMap<String, &RawValue>>(&line).unwrap_or_default();
    let named = members.get("name").map(|name| exact(name));
    let name = match named {
        Some(Value::String(name)) => name,
        _ => format!("line {number}"),
    };
    trial(format!("worker {topic}: {name}"), move || {
        let members: BTreeMap<String, &RawValue> = serde_json::from_str(&line)?;
        let request = members.get("request").context("no `request`")?.get();
        let expect = exact(members.get("expect").context("no `expect`")?);
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
    Ok(exact(serde_json::from_slice(&lines[0])?))
}

/// A value with each number as a text of its spelling: the library's own numbers are doubles.
fn exact(raw: &RawValue) -> Value {
    let text = raw.get();
    match text.as_bytes().first() {
        Some(b'{') => {
            let members: BTreeMap<String, &RawValue> = serde_json::from_str(text).unwrap_or_default();
            members.into_iter().map(|(name, value)| (name, exact(value))).collect()
        }
        Some(b'[') => {
            let items: Vec<&RawValue> = serde_json::from_str(text).unwrap_or_default();
            items.into_iter().map(exact).collect()
        }
        Some(b'-' | b'0'..=b'9') => Value::String(format!("number {text}")),
        _ => serde_json::from_str(text).unwrap_or_default(),
    }
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

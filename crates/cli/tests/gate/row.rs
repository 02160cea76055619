//! A row of `cases/gate.jsonl`: what the tool server lists and does, what the client sends, and what must come of it.
//!
//! Values under `tools` and `send` are used as the bytes that stand in the file, so that numbers, orders and escapes
//! are what the row says. Where a text is itself broken, it stands as a JSON string (`tools_text`, `send` with a text).
//!
//! | member | says |
//! |---|---|
//! | `name` | the test's name, a sentence |
//! | `tools` or `tools_text` | the tools that are listed; `tools_text` has a page a line; absent: one tool, `echo`, that takes any object |
//! | `scripts` | tool or method → steps of the fixture |
//! | `flags` | further flags of `wrap` |
//! | `config` | the text of a configuration for `wrap --config` |
//! | `handshake` | false: no `initialize` before the exchange |
//! | `exchange` | steps: `{"send": …}`, `{"send_parts": […]}`, `{"expect": {…}}`, `{"reached": N}` |
//! | `upstream` | numbers of the sends (from 0) that reached the tool server as they were sent, calls only, in order |
//! | `effects` | how many calls had an effect |
//! | `intents` | what the store holds in the end, oldest first; of each, the members that stand here |
//! | `log` | texts that standard error contains |
//! | `memory_mib_max` | the most memory that the gate may ever have held, where the system says it |
//! | `exit` | the exit code after the client has closed; 0 when absent |
//! | `commands` | then run on the store: `{"arguments": [...], "exit": N, "shows": [...]}`, the texts on either output |
//!
//! `send_parts` is for texts that are too long for a file: texts, `{"repeat": TEXT, "times": N}`, `{"hex": "ff"}` and
//! `{"lines": N, "text": TEXT}`: N lines, each TEXT with its number, from 0, for `@N@`.
//! `reached` waits until the tool server has received N calls.

use std::collections::BTreeMap;

use anyhow::{Context as _, bail};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::expectation::Expectation;

pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) tools: Option<String>,
    pub(crate) scripts: BTreeMap<String, String>,
    pub(crate) flags: Vec<String>,
    pub(crate) config: Option<String>,
    pub(crate) handshake: bool,
    pub(crate) exchange: Vec<Step>,
    pub(crate) upstream: Option<Vec<usize>>,
    pub(crate) effects: Option<usize>,
    pub(crate) intents: Option<Vec<Value>>,
    pub(crate) log: Vec<String>,
    pub(crate) memory_mib_max: Option<usize>,
    pub(crate) exit: i32,
    pub(crate) commands: Vec<Value>,
}

pub(crate) enum Step {
    Send(Vec<u8>),
    Expect(Expectation),
    Reached(usize),
}

impl Row {
    pub(crate) fn read(line: &str) -> anyhow::Result<Row> {
        let mut members: BTreeMap<String, &RawValue> = serde_json::from_str(line)?;
        let mut take = |name: &str| members.remove(name);
        let tools = match (take("tools"), take("tools_text")) {
            (Some(tools), _) => Some(tools.get().to_owned()),
            (None, Some(text)) => Some(value(text)?),
            (None, None) => None,
        };
        let exchange: Vec<&RawValue> = value(take("exchange").context("no `exchange`")?)?;
        let row = Row {
            name: value(take("name").context("no `name`")?)?,
            tools,
            scripts: take("scripts").map(value).transpose()?.unwrap_or_default(),
            flags: take("flags").map(value).transpose()?.unwrap_or_default(),
            config: take("config").map(value).transpose()?,
            handshake: take("handshake").map(value).transpose()?.unwrap_or(true),
            exchange: exchange.into_iter().map(Step::read).collect::<anyhow::Result<_>>()?,
            upstream: take("upstream").map(value).transpose()?,
            effects: take("effects").map(value).transpose()?,
            intents: take("intents").map(value).transpose()?,
            log: take("log").map(value).transpose()?.unwrap_or_default(),
            memory_mib_max: take("memory_mib_max").map(value).transpose()?,
            exit: take("exit").map(value).transpose()?.unwrap_or(0),
            commands: take("commands").map(value).transpose()?.unwrap_or_default(),
        };
        match members.keys().next() {
            None => Ok(row),
            Some(unknown) => bail!("no member `{unknown}` is known"),
        }
    }

    /// The lines that are sent, in order.
    pub(crate) fn sends(&self) -> Vec<&[u8]> {
        self.exchange
            .iter()
            .filter_map(|step| match step {
                Step::Send(line) => Some(line.as_slice()),
                Step::Expect(_) | Step::Reached(_) => None,
            })
            .collect()
    }
}

impl Step {
    fn read(step: &RawValue) -> anyhow::Result<Step> {
        let members: BTreeMap<String, &RawValue> = value(step)?;
        let (name, content) = members.into_iter().next().context("an empty step")?;
        Ok(match name.as_str() {
            "send" if content.get().starts_with('"') => Step::Send(value::<String>(content)?.into_bytes()),
            "send" => Step::Send(content.get().as_bytes().to_vec()),
            "send_parts" => Step::Send(parts(&value::<Vec<Value>>(content)?)?),
            "expect" => Step::Expect(Expectation::read(content)?),
            "reached" => Step::Reached(value(content)?),
            _ => bail!("no step `{name}` is known"),
        })
    }
}

fn parts(parts: &[Value]) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for part in parts {
        if let Some(text) = part.as_str() {
            bytes.extend_from_slice(text.as_bytes());
        } else if let Some(text) = part["repeat"].as_str() {
            let times = usize::try_from(part["times"].as_u64().context("no `times`")?)?;
            bytes.extend_from_slice(text.repeat(times).as_bytes());
        } else if let Some(text) = part["text"].as_str() {
            let lines: Vec<String> = (0..part["lines"].as_u64().context("no `lines`")?)
                .map(|number| text.replace("@N@", &number.to_string()))
                .collect();
            bytes.extend_from_slice(lines.join("\n").as_bytes());
        } else {
            let hex = part["hex"].as_str().context("no part that is known")?;
            for index in (0..hex.len()).step_by(2) {
                bytes.push(u8::from_str_radix(&hex[index..index + 2], 16)?);
            }
        }
    }
    Ok(bytes)
}

fn value<'a, T: FromJson<'a>>(raw: &'a RawValue) -> anyhow::Result<T> {
    T::from_json(raw.get()).with_context(|| raw.get().chars().take(200).collect::<String>())
}

/// The types that members of a row have. (The library's own trait would ask for a dependency of its own.)
trait FromJson<'a>: Sized {
    fn from_json(text: &'a str) -> serde_json::Result<Self>;
}

macro_rules! from_json {
    ($($type_:ty,)*) => {$(
        impl<'a> FromJson<'a> for $type_ {
            fn from_json(text: &'a str) -> serde_json::Result<Self> {
                serde_json::from_str(text)
            }
        }
    )*};
}

from_json! {
    String, bool, usize, i32, Vec<usize>, Vec<String>, Vec<Value>, Vec<&'a RawValue>,
    BTreeMap<String, String>, BTreeMap<String, &'a RawValue>,
}

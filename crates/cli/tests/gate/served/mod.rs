//! The gate before many servers: the rows of `cases/serve.jsonl`, each over every transport that it names.
//!
//! A step is one request: `modern` and `legacy` are completed to what a client of that era sends, with what `headers` says
//! in place of the usual headers (`null` for none). The gate's questions meanwhile are compared with `asked` and get `answers`;
//! `@STATE@` is the state that the client was given last. `raw` is a body as it is, `get` another request. `operator` is a
//! request for the operator's address, with their token unless `token` says otherwise; `@ID@` in its path or body is the id, or
//! the digest that waits, of such an answer's first item. `reload` is a new configuration, of which the log says `logs`. To a request that is
//! `unanswered` for now nothing is awaited; `hears` is every message that comes then, in any order. What comes back is compared with `status` and with `expect`: objects may have more members, and a text that begins with `~` is a part.

mod client;
mod compare;
mod far;

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail, ensure};
use callgate_testing::fixture;
use libtest_mimic::Trial;
use serde_json::{Value, json};

use self::client::{Client, Transport};
use crate::{BINARY, cases, trial};

/// One test a row and transport.
pub(crate) fn trials() -> Vec<Trial> {
    let text = std::fs::read_to_string(cases().join("serve.jsonl")).expect("the rows are there");
    let name = "serve: a gate is another gate's tool server over HTTP".to_owned();
    let mut trials = vec![trial(name, a_gate_behind_a_gate)];
    let name =
        "serve: a newer server over HTTP is asked again, listened to, and judged by its marks for headers";
    trials.push(trial(name.to_owned(), far::a_newer_server));
    let name =
        "serve: the stream of a call that an older server cut is taken up, and the call is not sent again";
    trials.push(trial(name.to_owned(), far::an_older_server));
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).expect("a row is JSON");
        let name = row["name"].as_str().expect("a row has a name").to_owned();
        let over = row["over"].as_array().cloned().unwrap_or_else(|| vec![json!("http"), json!("stdio")]);
        for transport in over {
            let (face, transport) = match transport.as_str() {
                Some("http") => (Face::Serve, Transport::Http),
                Some("wrap") => (Face::Wrap, Transport::Stdio),
                _ => (Face::Serve, Transport::Stdio),
            };
            let row = row.clone();
            let by = if face == Face::Wrap { "wrap" } else { transport.name() };
            trials.push(trial(format!("serve: {name} (over {by})"), move || play(&row, face, transport)));
        }
    }
    trials
}

/// A gate that is another gate's tool server, over HTTP in the newer era.
fn a_gate_behind_a_gate() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let start = |name: &str, config: &str| {
        let file = folder.path().join(format!("{name}.toml"));
        std::fs::write(&file, config)?;
        let mut command = Command::new(BINARY);
        command.args(["serve", "--store"]).arg(folder.path().join(format!("{name}.sqlite")));
        command.arg("--config").arg(file);
        Client::start(command, Transport::Http)
    };
    let row = json!({"upstreams": [{"name": "a", "scripts": ["echo=effect progress:1 answer"]}]});
    let far = start("far", &configuration(&row, folder.path())?)?;
    let url = format!("[[upstreams]]\nname = \"far\"\nurl = \"http://{}/mcp\"\n", far.address());
    let mut near = start("near", &url)?;
    let call = |arguments: Value, wanted: Value| {
        json!({"modern": {"method": "tools/call", "params": {"name": "echo", "arguments": arguments,
            "_meta": {"progressToken": 5}}}, "expect": {"result": wanted}})
    };
    let mut step = call(json!({"n": 1}), json!({"content": [{"text": "{\"n\":1}"}]}));
    step["told"] = json!([{"method": "notifications/progress", "params": {"progressToken": 5}}]);
    near.step(1, &step)?;
    far.end()?;
    let refused = json!({"isError": true, "_meta": {"dev.callgate/refusal": {"code": "upstream-gone", "side_effect": "none"}}});
    near.step(2, &call(json!({"n": 2}), refused))?;
    let log = near.end()?;
    ensure!(log.contains("revision=\"2026-07-28\""), "it speaks in another way: {log}");
    ensure!(calls_that_arrived(&folder.path().join("log-a"))? == ["{\"n\":1}"]);
    Ok(())
}

/// By which verb the gate is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Face {
    Serve,
    /// `wrap --translate` before the row's only server.
    Wrap,
}

fn play(row: &Value, face: Face, transport: Transport) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let config = folder.path().join("gate.toml");
    std::fs::write(&config, configuration(row, folder.path())?)?;
    let mut command = Command::new(BINARY);
    command.arg(if face == Face::Wrap { "wrap" } else { "serve" });
    command.arg("--store").arg(folder.path().join("store.sqlite"));
    command.arg("--config").arg(&config);
    if face == Face::Wrap {
        let upstream = &row["upstreams"][0];
        command.args(["--translate", "--name", upstream["name"].as_str().context("a name")?, "--"]);
        command.arg(std::env::current_exe()?).args(arguments(upstream, folder.path())?);
    }
    let capabilities = row.get("capabilities").cloned().unwrap_or_else(|| json!({}));
    let mut client = Client::able(command, transport, capabilities)?;
    client.know_operator(folder.path().join("operator-token"));
    for (number, step) in (1..).zip(row["steps"].as_array().into_iter().flatten()) {
        let taken = match step.get("reload") {
            Some(new) => reload(&client, new, step, &config, folder.path()),
            None => client.step(number, step),
        };
        taken.with_context(|| format!("step {number}: {step}"))?;
    }
    let log = client.end()?;
    for (name, wanted) in row["arrived"].as_object().into_iter().flatten() {
        let arrived = calls_that_arrived(&folder.path().join(format!("log-{name}")))?;
        ensure!(json!(arrived) == *wanted, "at `{name}` arrived {arrived:?}, expected {wanted}; {log}");
    }
    for unwanted in row["never_logged"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        ensure!(!log.contains(unwanted), "`{unwanted}` is in the log: {log}");
    }
    for wanted in row["logged"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        ensure!(log.contains(wanted), "`{wanted}` is not in the log: {log}");
    }
    Ok(())
}

/// Gives the gate another configuration, and waits until its log says what became of that.
fn reload(client: &Client, new: &Value, step: &Value, file: &Path, folder: &Path) -> anyhow::Result<()> {
    client.serves()?;
    std::fs::write(file, configuration(new, folder)?)?;
    client.hang_up(step["logs"].as_str().unwrap_or("the configuration is in force"))
}

/// The arguments of each call that arrived, byte for byte.
fn calls_that_arrived(log: &Path) -> anyhow::Result<Vec<String>> {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let calls = text.lines().filter(|line| line.contains("\"tools/call\""));
    calls
        .map(|line| {
            let from =
                line.find("\"arguments\":").context("a call without arguments")? + "\"arguments\":".len();
            let rest = line.get(from..).unwrap_or_default();
            let mut values =
                serde_json::Deserializer::from_str(rest).into_iter::<&serde_json::value::RawValue>();
            Ok(values.next().context("no arguments")??.get().to_owned())
        })
        .collect()
}

/// How this program is started to be a server of a row.
fn arguments(upstream: &Value, folder: &Path) -> anyhow::Result<Vec<String>> {
    let name = upstream["name"].as_str().context("a server has a name")?;
    let mut args = vec![fixture::ASKED.to_owned(), "--log".to_owned()];
    args.push(folder.join(format!("log-{name}")).to_str().context("a path")?.to_owned());
    for (number, tools) in upstream["tools"].as_array().into_iter().flatten().enumerate() {
        let file = folder.join(format!("tools-{name}-{number}"));
        std::fs::write(&file, format!("{tools}\n"))?;
        args.extend(["--tools".to_owned(), file.to_str().context("a path")?.to_owned()]);
    }
    for script in upstream["scripts"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        args.extend(["--script".to_owned(), script.to_owned()]);
    }
    match upstream["era"].as_str() {
        None | Some("legacy") => {}
        Some("modern") => {
            let hello = r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}"#;
            args.extend(["--script".to_owned(), format!("server/discover=result:{hello}")]);
        }
        Some(other) => bail!("no era: {other}"),
    }
    Ok(args)
}

/// The configuration of a row: its own text, and its servers, each of which is this program again.
fn configuration(row: &Value, folder: &Path) -> anyhow::Result<String> {
    let own = std::env::current_exe()?;
    let mut text = row["config"].as_str().unwrap_or_default().to_owned() + "\n";
    for upstream in row["upstreams"].as_array().into_iter().flatten() {
        let name = upstream["name"].as_str().context("a server has a name")?;
        if let Some(raw) = upstream["raw"].as_str() {
            writeln!(text, "[[upstreams]]\nname = \"{name}\"\n{raw}")?;
            continue;
        }
        let args = arguments(upstream, folder)?;
        let prefix = upstream["prefix"].as_str().map(|prefix| format!("prefix = {}\n", json!(prefix)));
        writeln!(
            text,
            "[[upstreams]]\nname = \"{name}\"\ncommand = {}\nargs = {}\n{}",
            json!(own.to_str().context("a path")?),
            json!(args),
            prefix.unwrap_or_default()
        )?;
    }
    Ok(text)
}

//! Gates that share one store on PostgreSQL, on a server that the tests start.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use callgate_testing::fixture;
use callgate_testing::peer::{PATIENCE, Peer, until};
use callgate_testing::postgres::Server;
use callgate_testing::report::Report;
use callgate_testing::torture::{Ground, order_postgres};
use libtest_mimic::Trial;
use serde_json::Value;

use crate::{BINARY, trial};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("postgres: an intent is committed before its call is sent".into(), committed_before_sent),
        trial(
            "postgres: a gate that was frozen before its record is fenced".into(),
            frozen_before_the_record,
        ),
        trial(
            "postgres: a call whose gate was frozen after its record is in doubt".into(),
            frozen_after_the_record,
        ),
        trial("postgres: a gate that ends gives its lease back".into(), a_lease_is_given_back),
        trial("postgres: no password is shown".into(), no_password_is_shown),
    ]
}

/// A lease that passes soon.
const SHORT: &str = "&lease_ms=1500&renewal_ms=300";
/// Long enough for it to pass.
const PAST: Duration = Duration::from_millis(2500);

fn committed_before_sent() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let ground = Ground { binary: BINARY.into(), folder: folder.path().to_owned(), store: None };
    let mut report = Report::default();
    order_postgres::run(&ground, &mut report)?;
    ensure!(report.close(), "a promise is broken");
    Ok(())
}

/// Both verbs: whoever comes after a gate that ended in order waits for no lease to pass.
fn a_lease_is_given_back() -> anyhow::Result<()> {
    let Some(server) = Server::shared() else { return Ok(()) };
    for (schema, verb) in [("ends_wrap", "wrap"), ("ends_serve", "serve")] {
        let mut command = Command::new(BINARY);
        command.env("GATES_STORE", server.address(schema, "")).args([verb, "--store", "env:GATES_STORE"]);
        match verb {
            "wrap" => command.arg("--").arg(BINARY).arg("notes-server"),
            _ => command.arg("--stdio"),
        };
        let mut gate = Peer::spawn(&mut command)?;
        gate.initialize().with_context(|| gate.stderr())?;
        gate.close();
        gate.wait(PATIENCE)?;
        let lasting =
            server.query(&format!("SELECT count(*) FROM {schema}.incarnations WHERE lease_until > now()"))?;
        ensure!(lasting.trim() == "0", "`{verb}` has kept its lease: {}", gate.stderr());
    }
    Ok(())
}

/// A gate in front of a fixture of its own, whose tool `echo` takes its time.
struct Gate {
    peer: Peer,
    log: PathBuf,
}

impl Gate {
    fn start(address: &str, folder: &Path, name: &str) -> anyhow::Result<Gate> {
        let log = folder.join(name);
        let mut command = Command::new(BINARY);
        // The address is in the environment, where a password would be.
        command.env("GATES_STORE", address).args([
            "wrap",
            "--store",
            "env:GATES_STORE",
            "--name",
            "notes",
            "--",
        ]);
        command.arg(std::env::current_exe()?).arg(fixture::ASKED).arg("--log").arg(&log);
        command.args(["--script", "echo=wait:300 effect answer"]);
        let mut peer = Peer::spawn(&mut command)?;
        peer.initialize().with_context(|| peer.stderr())?;
        Ok(Gate { peer, log })
    }

    fn call(&mut self, id: u32, word: &str) -> anyhow::Result<()> {
        self.peer.send(format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{"word":"{word}"}}}}}}"#
        ))
    }

    /// The code with which a call was refused.
    fn refusal(&mut self, id: u32) -> anyhow::Result<String> {
        let answer = self.peer.answer(&id.to_string(), PATIENCE)?;
        let answer: Value = serde_json::from_slice(&answer)?;
        ensure!(answer["result"]["isError"] == true, "the call was not refused: {answer}");
        Ok(answer.to_string())
    }

    fn arrived(&self, word: &str) -> bool {
        std::fs::read_to_string(&self.log).is_ok_and(|log| log.contains(&format!("\"{word}\"")))
    }

    fn signal(&self, name: &str) -> anyhow::Result<()> {
        let status = Command::new("kill").args([name, &self.peer.pid().to_string()]).status()?;
        ensure!(status.success(), "the signal {name} was not sent");
        Ok(())
    }
}

fn intents(address: &str) -> anyhow::Result<Vec<Value>> {
    let output = Command::new(BINARY)
        .args(["intents", "list", "--format", "json"])
        .env("CALLGATE_STORE", address)
        .output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn frozen_before_the_record() -> anyhow::Result<()> {
    let Some(server) = Server::shared() else { return Ok(()) };
    let (folder, address) = (tempfile::tempdir()?, server.address("frozen_before", SHORT));
    let mut frozen = Gate::start(&address, folder.path(), "frozen")?;
    frozen.signal("-STOP")?;
    frozen.call(1, "late")?;
    std::thread::sleep(PAST);
    let mut other = Gate::start(&address, folder.path(), "other")?;
    frozen.signal("-CONT")?;
    let refusal = frozen.refusal(1)?;
    ensure!(refusal.contains("intent-fenced"), "{refusal}");
    ensure!(!frozen.arrived("late"), "the call was sent");
    ensure!(intents(&address)?.is_empty(), "the call was recorded");
    // The other gate serves the same call.
    other.call(1, "late")?;
    other.peer.answer("1", PATIENCE)?;
    ensure!(other.arrived("late"), "the call was not sent");
    Ok(())
}

fn frozen_after_the_record() -> anyhow::Result<()> {
    let Some(server) = Server::shared() else { return Ok(()) };
    let (folder, address) = (tempfile::tempdir()?, server.address("frozen_after", SHORT));
    let mut frozen = Gate::start(&address, folder.path(), "frozen")?;
    frozen.call(1, "sent")?;
    until("the call arrives", PATIENCE, || frozen.arrived("sent"))?;
    frozen.signal("-STOP")?;
    std::thread::sleep(PAST);
    let mut other = Gate::start(&address, folder.path(), "other")?;
    let in_doubt = |intents: &[Value]| matches!(intents, [one] if one["in_doubt"] == true);
    let found = intents(&address)?;
    ensure!(in_doubt(&found), "the call is not in doubt: {found:?}");
    // No other gate sends it, also when it is asked to.
    other.call(1, "sent")?;
    let refusal = other.refusal(1)?;
    ensure!(refusal.contains("call-in-doubt"), "{refusal}");
    ensure!(!other.arrived("sent"), "the call was sent again");
    // The frozen gate hears the answer, too late to record it.
    frozen.signal("-CONT")?;
    frozen.peer.answer("1", PATIENCE)?;
    let found = intents(&address)?;
    ensure!(in_doubt(&found), "the doubt is gone: {found:?}");
    frozen.call(2, "after")?;
    ensure!(frozen.refusal(2)?.contains("intent-fenced"), "a gate that was taken over sends calls");
    Ok(())
}

fn no_password_is_shown() -> anyhow::Result<()> {
    let secret = "s3cret-of-the-store";
    let nowhere = format!("postgres://gate:{secret}@%2Fno%2Fsuch%2Ffolder/calls");
    for (flags, variable) in [(&["--store", nowhere.as_str()][..], ""), (&[], nowhere.as_str())] {
        for verb in [&["intents", "list"][..], &["intents", "list", "--help"], &["wrap", "--help"]] {
            let mut command = Command::new(BINARY);
            command.args(verb).args(flags);
            if !variable.is_empty() {
                command.env("CALLGATE_STORE", variable);
            }
            let output = command.output()?;
            for text in [&output.stdout, &output.stderr] {
                let text = String::from_utf8_lossy(text);
                ensure!(!text.contains(secret), "the password is shown: {text}");
            }
        }
    }
    let broken = Command::new(BINARY)
        .args(["intents", "list", "--store", &format!("postgres://gate:{secret}@db/calls?lease_ms={secret}")])
        .output()?;
    let told = String::from_utf8_lossy(&broken.stderr);
    ensure!(broken.status.code() == Some(2) && told.contains("lease_ms") && !told.contains(secret), "{told}");
    Ok(())
}

//! Scenes of an operator beside a gate that runs: a changed contract, calls in doubt. Nothing is started again where the
//! operator's word is enough.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context as _, ensure};
use callgate_testing::fixture;
use callgate_testing::peer::{PATIENCE, Peer};
use libtest_mimic::Trial;
use serde_json::Value;

use crate::{operator, trial};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial(
            "scene: a changed contract is refused, shown, accepted, and called without a restart".into(),
            contract,
        ),
        trial("scene: the first start of a gate makes the operator's token".into(), token_of_first_start),
        trial("scene: what the operator lets change in a definition holds no tool".into(), ignored),
        trial(
            "scene: a call that a rule asks about leaves once it is approved beside the gate, once".into(),
            approved,
        ),
        trial("scene: a call in doubt is refused until an operator adopts it".into(), adopted),
        trial("scene: a permitted retry is try 2 of the same intent".into(), retried),
        trial("scene: a killed gate's call is reconciled before any gate starts again".into(), killed),
    ]
}

struct Ground {
    _folder: tempfile::TempDir,
    path: PathBuf,
    config: Option<PathBuf>,
}

impl Ground {
    fn new() -> anyhow::Result<Ground> {
        let folder = tempfile::tempdir()?;
        Ok(Ground { path: folder.path().to_owned(), config: None, _folder: folder })
    }

    fn store(&self) -> PathBuf {
        self.path.join("store.sqlite")
    }

    /// A gate before the scripted tool server, past the handshake.
    fn gate(&self, fixture: &[&str]) -> anyhow::Result<Peer> {
        let mut command = self.command();
        command.args(["wrap", "--name", "notes", "--"]);
        command.arg(std::env::current_exe()?).arg(fixture::ASKED).args(fixture);
        command.arg("--effects").arg(self.path.join("effects"));
        let mut gate = Peer::spawn(&mut command)?;
        gate.initialize().with_context(|| gate.stderr())?;
        Ok(gate)
    }

    /// A configuration that every gate and every command has from now on.
    fn configure(&mut self, config: &str) -> anyhow::Result<()> {
        let file = self.path.join("gate.toml");
        std::fs::write(&file, config)?;
        self.config = Some(file);
        Ok(())
    }

    fn command(&self) -> Command {
        let mut command = operator::command(&self.store());
        if let Some(config) = &self.config {
            command.env_remove("CALLGATE_STORE").env("CALLGATE_CONFIG", config);
        }
        command
    }

    fn tools(&self, name: &str, tools: &str) -> anyhow::Result<String> {
        let file = self.path.join(name);
        std::fs::write(&file, tools)?;
        Ok(file.display().to_string())
    }

    fn run(&self, words: &[&str], exit: i32) -> anyhow::Result<String> {
        shown(self.command().args(words), exit)
    }

    fn effects(&self) -> usize {
        std::fs::read_to_string(self.path.join("effects")).unwrap_or_default().lines().count()
    }

    fn only_intent(&self) -> anyhow::Result<Value> {
        let intents: Vec<Value> =
            serde_json::from_str(&self.run(&["intents", "list", "--format", "json"], 0)?)?;
        ensure!(intents.len() == 1, "{intents:#?}");
        Ok(intents[0].clone())
    }
}

fn shown(command: &mut Command, exit: i32) -> anyhow::Result<String> {
    let Output { status, stdout, stderr } = command.output()?;
    let shown = String::from_utf8([stdout, stderr].concat())?;
    ensure!(status.code() == Some(exit), "{command:?} ended with {status}: {shown}");
    Ok(shown)
}

/// Calls `echo` and gives the code of the refusal, or nothing if it ran.
fn call(gate: &mut Peer, id: u32) -> anyhow::Result<Option<String>> {
    gate.send(format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{"a":1}}}}}}"#
    ))?;
    let answer: Value = serde_json::from_slice(&gate.answer(&id.to_string(), PATIENCE)?)?;
    Ok(answer["result"]["_meta"]["dev.callgate/refusal"]["code"].as_str().map(str::to_owned))
}

fn is(found: Option<&str>, wanted: Option<&str>) -> anyhow::Result<()> {
    ensure!(found == wanted, "the call gives {found:?}, expected {wanted:?}");
    Ok(())
}

fn end(mut gate: Peer) -> anyhow::Result<()> {
    gate.close();
    let status = gate.wait(PATIENCE)?;
    ensure!(status.code().is_some(), "{status}; {}", gate.stderr());
    Ok(())
}

fn contract() -> anyhow::Result<()> {
    let ground = Ground::new()?;
    let definition = |says: &str| {
        format!(r#"[{{"name":"echo","description":"{says}","inputSchema":{{"type":"object"}}}}]"#)
    };
    let before = ground.tools("before", &definition("Says it again."))?;
    let now = ground.tools("now", &definition("Says it again, and mails it to its author."))?;
    let mut gate = ground.gate(&["--tools", &before])?;
    is(call(&mut gate, 1)?.as_deref(), None)?;
    end(gate)?;

    let mut gate = ground.gate(&["--tools", &now])?;
    is(call(&mut gate, 1)?.as_deref(), Some("tool-contract-changed"))?;
    ground.run(&["catalog", "list"], 0)?;
    let diff = ground.run(&["catalog", "diff"], 1)?;
    ensure!(diff.contains("and mails it to its author.+}"), "{diff}");
    let line = diff
        .lines()
        .map(str::trim)
        .find(|line| line.starts_with("callgate catalog accept "))
        .context("no command")?;
    let words: Vec<&str> = line.split(' ').skip(1).collect();
    ensure!(words.get(2..4) == Some(&["notes", "echo"]), "{line}");
    is(call(&mut gate, 2)?.as_deref(), Some("tool-contract-changed"))?;
    ground.run(&words, 0)?;
    is(call(&mut gate, 3)?.as_deref(), None)?;
    ground.run(&["catalog", "diff"], 0)?;
    // The one that was good before is a change by now.
    end(gate)?;
    let mut gate = ground.gate(&["--tools", &before])?;
    is(call(&mut gate, 1)?.as_deref(), Some("tool-contract-changed"))?;
    end(gate)?;
    ensure!(ground.effects() == 2, "{} effects", ground.effects());
    Ok(())
}

fn ignored() -> anyhow::Result<()> {
    let mut ground = Ground::new()?;
    let store = ground.store().display().to_string();
    ground.configure(&format!(
        "[gate]\nstore = '{store}'\n[[upstreams]]\nname = \"notes\"\ncommand = \"notes\"\npin = {{ ignore = [\"/_meta/build\"] }}\n"
    ))?;
    let definition = |build: u32, owner: &str| {
        format!(
            r#"[{{"name":"echo","inputSchema":{{"type":"object"}},"_meta":{{"build":{build},"owner":"{owner}"}}}}]"#
        )
    };
    for (build, owner, code) in
        [(1, "ada", None), (2, "ada", None), (3, "bob", Some("tool-contract-changed"))]
    {
        let tools = ground.tools(&format!("tools-{build}"), &definition(build, owner))?;
        let mut gate = ground.gate(&["--tools", &tools])?;
        is(call(&mut gate, 1)?.as_deref(), code)?;
        end(gate)?;
    }
    let diff = ground.run(&["catalog", "diff"], 1)?;
    ensure!(diff.contains("[-ada-]{+bob+}"), "{diff}");
    Ok(())
}

fn approved() -> anyhow::Result<()> {
    let mut ground = Ground::new()?;
    let store = ground.store().display().to_string();
    ground.configure(&format!(
        "[gate]\nstore = '{store}'\n[[rules]]\nid = \"ask-first\"\neffect = \"ask\"\ntools = [\"notes/*\"]\n"
    ))?;
    let mut gate = ground.gate(&[])?;
    is(call(&mut gate, 1)?.as_deref(), Some("approval-required"))?;
    let waiting: Vec<Value> =
        serde_json::from_str(&ground.run(&["approvals", "list", "--format", "json"], 0)?)?;
    ensure!(waiting.len() == 1 && waiting[0]["rules"][0] == "ask-first", "{waiting:#?}");
    let id = id(&waiting[0])?;
    let shown = ground.run(&["approvals", "show", &id], 0)?;
    ensure!(shown.contains("ask-first") && shown.contains("\"a\": 1"), "{shown}");
    ground.run(&["approvals", "approve", &id], 0)?;
    is(call(&mut gate, 2)?.as_deref(), None)?;
    is(call(&mut gate, 3)?.as_deref(), Some("approval-required"))?;
    ensure!(ground.only_intent()?["approval"] == id.as_str(), "the intent does not name its approval");
    end(gate)?;
    ensure!(ground.effects() == 1, "{} effects", ground.effects());
    Ok(())
}

/// A gate's first start makes the operator's token, for its owner alone.
fn token_of_first_start() -> anyhow::Result<()> {
    let ground = Ground::new()?;
    end(ground.gate(&[])?)?;
    let file = callgate_server::OperatorToken::file(&ground.store());
    let token = std::fs::read_to_string(&file)?;
    ensure!(token.trim().len() == 64, "the token has {} characters", token.trim().len());
    private(&file)
}

#[cfg(unix)]
fn private(file: &Path) -> anyhow::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::metadata(file)?.permissions().mode() & 0o777;
    ensure!(mode == 0o600, "the mode is {mode:o}");
    Ok(())
}

#[cfg(not(unix))]
fn private(_file: &Path) -> anyhow::Result<()> {
    Ok(())
}

/// A call that had its effect and took the tool server with it, and a new gate before a server that lives.
fn doubt(ground: &Ground) -> anyhow::Result<Peer> {
    let mut gate = ground.gate(&["--script", "echo=effect die"])?;
    call(&mut gate, 1)?;
    end(gate)?;
    let intent = ground.only_intent()?;
    ensure!(intent["in_doubt"] == true && intent["code"] == "upstream-gone", "{intent}");
    let mut gate = ground.gate(&[])?;
    is(call(&mut gate, 1)?.as_deref(), Some("call-in-doubt"))?;
    ensure!(ground.effects() == 1, "{} effects", ground.effects());
    Ok(gate)
}

fn id(intent: &Value) -> anyhow::Result<String> {
    Ok(intent["id"].as_str().context("no id")?.to_owned())
}

fn adopted() -> anyhow::Result<()> {
    let ground = Ground::new()?;
    let mut gate = doubt(&ground)?;
    let id = id(&ground.only_intent()?)?;
    let reason = ["--effect", "done", "--reason", "it is in the log"];
    ground.run(&[&["intents", "adopt", &id], &reason[..]].concat(), 0)?;
    is(call(&mut gate, 2)?.as_deref(), None)?;
    end(gate)?;
    ensure!(ground.effects() == 2, "{} effects", ground.effects());
    let lines = ground.run(&["intents", "export"], 0)?;
    let intents: Vec<Value> = lines.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    ensure!(
        intents.len() == 2 && intents.iter().all(|intent| intent["side_effect"] == "done"),
        "{intents:#?}"
    );
    let declined = ground.run(&[&["intents", "adopt", &id], &reason[..]].concat(), 3)?;
    ensure!(declined.contains("intent-not-in-doubt"), "{declined}");
    Ok(())
}

fn retried() -> anyhow::Result<()> {
    let ground = Ground::new()?;
    let mut gate = doubt(&ground)?;
    let before = id(&ground.only_intent()?)?;
    let shown = ground.run(&["intents", "retry", &before, "--reason", "twice does no harm"], 0)?;
    ensure!(shown.contains("frozen"), "there is no warning: {shown}");
    is(call(&mut gate, 2)?.as_deref(), None)?;
    end(gate)?;
    let intent = ground.only_intent()?;
    ensure!(id(&intent)? == before && intent["attempt"] == 2 && intent["state"] == "settled", "{intent}");
    ensure!(ground.effects() == 2, "{} effects", ground.effects());
    Ok(())
}

fn killed() -> anyhow::Result<()> {
    let ground = Ground::new()?;
    let mut gate = ground.gate(&["--script", "echo=effect wait:60000"])?;
    gate.send(
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"a":1}}}"#,
    )?;
    callgate_testing::peer::until("the call takes effect", PATIENCE, || ground.effects() == 1)?;
    gate.kill()?;
    gate.wait(PATIENCE)?;
    let intent = ground.only_intent()?;
    ensure!(intent["in_doubt"] == true && intent["code"] == "gate-gone", "{intent}");
    ground.run(&["intents", "abandon", &id(&intent)?, "--reason", "nobody knows"], 0)?;
    let mut gate = ground.gate(&[])?;
    is(call(&mut gate, 1)?.as_deref(), None)?;
    end(gate)
}

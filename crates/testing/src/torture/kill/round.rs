//! One round: its tools, its gate, its calls, its end.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use serde_json::Value;

use super::super::lot::Lot;
use super::super::{Ground, call, command, text};
use crate::peer::{PATIENCE, Peer, until};
use crate::postgres::Server;

/// The longest that a scripted tool waits before its effect, and again after it.
const TOOL_WAIT_MS_MAX: u64 = 3;
/// The longest that the server of a store is away.
const SERVER_AWAY_MS_MAX: u64 = 200;
/// Calls that need nothing, and calls that take from the budget.
const EACH: u32 = 3;
/// What the budget has room for in the life of one gate.
pub(super) const BUDGET: usize = 2;

/// Which promises a tool's calls are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    Nothing,
    Budget,
    Approval,
    /// The call that was approved in the round before, made once more after its gate was killed.
    Again,
}

/// One round's plan and files.
pub(super) struct Round {
    pub(super) number: u32,
    pub(super) tools: Vec<(String, Need)>,
    waits: Vec<(u64, u64)>,
    tools_file: PathBuf,
    log: PathBuf,
    effects: PathBuf,
    alive: PathBuf,
}

/// A round that is over.
pub(super) struct Killed {
    pub(super) tools: Vec<(String, Need)>,
    /// The answers that had been written, by the number of the call.
    pub(super) answers: BTreeMap<u32, Value>,
    pub(super) log: PathBuf,
    pub(super) effects: PathBuf,
    /// The server of the store was killed, so that what was owed to it may be lost with the gate.
    pub(super) owed: bool,
}

fn ask(number: u32) -> String {
    format!("ask-{number}")
}

/// Writes the configuration of all gates. One budget is that of each gate's life; the other is that of all of them and
/// has room for `total`.
pub(super) fn configure(ground: &Ground, total: u32) -> anyhow::Result<()> {
    let config = format!(
        "[[rules]]\nid = \"ask\"\neffect = \"ask\"\ntools = [\"*/ask-*\"]\n\n\
         [[rules]]\nid = \"all\"\neffect = \"permit\"\ntools = [\"*\"]\n\n\
         [[budgets]]\nname = \"spend\"\ntools = [\"*/spend-*\"]\nper = [\"run\"]\nlimit = {{ calls = {BUDGET} }}\n\n\
         [[budgets]]\nname = \"all\"\ntools = [\"*/spend-*\"]\nlimit = {{ calls = {total} }}\n"
    );
    Ok(std::fs::write(ground.config(), config)?)
}

impl Round {
    pub(super) fn plan(ground: &Ground, number: u32, lot: &mut Lot) -> anyhow::Result<Round> {
        let before = number.checked_sub(1);
        let named = |kind: &str, need| {
            (0..EACH).map(move |n| (format!("{kind}-{number}-{n}"), need)).collect::<Vec<_>>()
        };
        let mut tools = named("plain", Need::Nothing);
        tools.extend(named("spend", Need::Budget));
        tools.push((ask(number), Need::Approval));
        tools.extend(before.map(|before| (ask(before), Need::Again)));
        let waits =
            tools.iter().map(|_| (lot.up_to(TOOL_WAIT_MS_MAX), lot.up_to(TOOL_WAIT_MS_MAX))).collect();
        let definitions: Vec<String> = tools
            .iter()
            .map(|(tool, _)| {
                format!(
                    r#"{{"name":"{tool}","inputSchema":{{"type":"object","properties":{{"marker":{{"type":"string"}}}}}}}}"#
                )
            })
            .collect();
        let tools_file = ground.path(&format!("tools-{number}"));
        std::fs::write(&tools_file, format!("[{}]\n", definitions.join(",")))?;
        Ok(Round {
            number,
            tools,
            waits,
            tools_file,
            log: ground.path(&format!("log-{number}")),
            effects: ground.path(&format!("effects-{number}")),
            alive: ground.path(&format!("alive-{number}")),
        })
    }

    /// Starts the gate before a fixture of this round, up to the point where it has the list of tools and a person has
    /// approved what has to be.
    pub(super) fn start(&self, ground: &Ground) -> anyhow::Result<Peer> {
        let mut words = Vec::new();
        for (flag, file) in [
            ("--tools", &self.tools_file),
            ("--log", &self.log),
            ("--effects", &self.effects),
            ("--alive", &self.alive),
        ] {
            words.extend([flag.to_owned(), text(file)?]);
        }
        for ((tool, _), (before, after)) in self.tools.iter().zip(&self.waits) {
            let script = format!("{tool}=wait:{before} effect wait:{after} answer");
            words.extend(["--script".to_owned(), script]);
        }
        let mut gate =
            command(&ground.gate_with(&["--config".to_owned(), text(&ground.config())?], &words)?)?;
        // The operator's token of a store on a server is in the user's own folder.
        gate.env("XDG_DATA_HOME", &ground.folder);
        let mut gate = Peer::spawn(&mut gate)?;
        gate.initialize()?;
        gate.send(r#"{"jsonrpc":"2.0","id":"list","method":"tools/list"}"#)?;
        gate.answer("\"list\"", PATIENCE)?;
        self.have_approved(ground, &mut gate)?;
        Ok(gate)
    }

    /// Makes the call that a person has to approve, and approves it.
    fn have_approved(&self, ground: &Ground, gate: &mut Peer) -> anyhow::Result<()> {
        let Some((tool, _)) = self.tools.iter().find(|(_, need)| *need == Need::Approval) else {
            return Ok(());
        };
        gate.send(call(u32::MAX, tool, tool))?;
        let answer = gate.answer(&u32::MAX.to_string(), PATIENCE)?;
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let id = answer.split("(approval `").nth(1).and_then(|rest| rest.split('`').next());
        let id = id.with_context(|| format!("no approval is asked for: {answer}"))?;
        let output = Command::new(&ground.binary)
            .args(["approvals", "approve", id, "--store", &ground.store()?])
            .env("XDG_DATA_HOME", &ground.folder)
            .output()?;
        if !output.status.success() {
            bail!("`approvals approve` failed: {}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(())
    }

    /// The tool of each call, in their order. The one that was approved is called twice.
    fn calls(&self) -> Vec<&str> {
        let twice = self.tools.iter().filter(|(_, need)| *need == Need::Approval);
        self.tools.iter().chain(twice).map(|(tool, _)| tool.as_str()).collect()
    }

    fn send_calls(&self, gate: &mut Peer) -> anyhow::Result<()> {
        let lines: Vec<String> =
            (0..).zip(self.calls()).map(|(id, tool)| call(id, tool, tool) + "\n").collect();
        gate.send_raw(lines.concat())
    }

    /// How long it takes from the first call to the last answer.
    pub(super) fn measure(&self, ground: &Ground) -> anyhow::Result<Duration> {
        let mut gate = self.start(ground)?;
        let begun = Instant::now();
        self.send_calls(&mut gate)?;
        for (id, _) in (0_u32..).zip(self.calls()) {
            gate.answer(&id.to_string(), PATIENCE)?;
        }
        let taken = begun.elapsed();
        gate.close();
        gate.wait(PATIENCE)?;
        Ok(taken)
    }

    /// Plays the calls, kills the server if there is one, kills the gate, and waits for the fixture's end.
    pub(super) fn play_and_kill(
        &self,
        gate: &mut Peer,
        server: Option<&Server>,
        window: Duration,
        lot: &mut Lot,
    ) -> anyhow::Result<Killed> {
        let micros = u64::try_from(window.as_micros())?;
        self.send_calls(gate)?;
        spin(lot.up_to(micros));
        if let Some(server) = server {
            server.kill()?;
            std::thread::sleep(Duration::from_millis(lot.up_to(SERVER_AWAY_MS_MAX)));
            // The gate is killed before the server is back, while it comes, or some time after.
            if lot.up_to(2) == 0 {
                gate.kill()?;
            }
            server.resume()?;
            spin(lot.up_to(micros.saturating_mul(10)));
        }
        gate.kill()?;
        let mut answers = BTreeMap::new();
        for line in gate.rest(PATIENCE)? {
            // The last line may be cut off: then it is no answer.
            let Ok(answer) = serde_json::from_slice::<Value>(&line) else { continue };
            if let Some(id) = answer.get("id").and_then(Value::as_u64) {
                answers.insert(u32::try_from(id)?, answer);
            }
        }
        let alive = File::open(&self.alive).context("the fixture never ran")?;
        until("the end of the fixture", PATIENCE, || alive.try_lock().is_ok())?;
        Ok(Killed {
            tools: self.tools.clone(),
            answers,
            log: self.log.clone(),
            effects: self.effects.clone(),
            owed: server.is_some(),
        })
    }
}

/// Waits so many microseconds. A sleep would be late by more than the steps that are to be hit.
fn spin(micros: u64) {
    let (begun, moment) = (Instant::now(), Duration::from_micros(micros));
    while begun.elapsed() < moment {
        std::hint::spin_loop();
    }
}

//! A gate under test: its start before a good server and maybe another one, its good call, its memory and its end.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde_json::Value;

use super::super::{Ground, text};
use super::judge::{self, Findings, Promise};
use super::{good, wire};
use crate::fixture;
use crate::peer::{Peer, until};

/// How long an answer may take: far more than is normal, since machines are sometimes busy, and less than what the gate
/// gives a client's body.
pub(super) const IN_TIME: Duration = Duration::from_secs(20);
/// How long a server may take to answer a call.
const CALL_TIMEOUT_MS: u64 = 2_000;
/// The most memory of a gate: what it may hold of messages, and as much again for what it does with them.
const MEMORY_KIB_MAX: u64 = 256 << 10;
/// The longest message, so that longer ones come to be.
pub(super) const FRAME_BYTES_MAX: usize = 128 << 10;

/// By which way the gate is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Lines,
    Http,
}

/// A gate that serves.
pub(super) struct Gate {
    pub(super) peer: Peer,
    /// Where it listens; nothing over standard input and output.
    pub(super) address: String,
    effects: PathBuf,
    calls: u32,
}

impl Gate {
    /// Starts a gate before the fixture, and before what `more` says in its configuration.
    pub(super) fn start(ground: &Ground, way: Way, more: &str) -> anyhow::Result<Gate> {
        let (tools, effects, config) = (ground.path("tools"), ground.path("effects"), ground.config());
        std::fs::write(&tools, format!("{}\n", good::TOOLS))?;
        std::fs::write(&effects, "")?;
        let own = std::env::current_exe()?;
        let arguments =
            [fixture::ASKED, "--tools", &text(&tools)?, "--effects", &text(&effects)?].map(str::to_owned);
        std::fs::write(
            &config,
            format!(
                "[gate]\ncall_timeout_ms = {CALL_TIMEOUT_MS}\ndrain_ms = 500\nframe_bytes_max = {FRAME_BYTES_MAX}\n\
                 result_bytes_max = {}\n\n\
                 [[upstreams]]\nname = \"good\"\nprefix = \"\"\ncommand = {:?}\nargs = {arguments:?}\n\n{more}",
                FRAME_BYTES_MAX / 2,
                text(&own)?,
            ),
        )?;
        let mut command = Command::new(&ground.binary);
        command.args(["serve", "--config"]).arg(&config).arg("--store").arg(ground.store()?);
        match way {
            Way::Lines => command.arg("--stdio"),
            Way::Http => command.args(["--listen", "127.0.0.1:0"]),
        };
        let peer = Peer::spawn(command.env("XDG_DATA_HOME", &ground.folder))?;
        let mut gate = Gate { peer, address: String::new(), effects, calls: 0 };
        if way == Way::Http {
            until("the gate listens", IN_TIME, || gate.peer.stderr().contains("/mcp"))?;
            let log = gate.peer.stderr();
            let address = log.split("listening at http://").nth(1).and_then(|rest| rest.split("/mcp").next());
            address.context("no address in the log")?.clone_into(&mut gate.address);
        }
        // The server has to be known before it can be judged what arrives.
        until("a good call goes through", IN_TIME, || gate.good_call("mark").is_ok())?;
        Ok(gate)
    }

    /// A good call, and whether its answer is that of the server.
    pub(super) fn good_call(&mut self, tool: &str) -> anyhow::Result<()> {
        let id = self.fresh_id();
        let frame = good::plain_call(&id, tool);
        let answer = if self.address.is_empty() {
            self.peer.send(frame.to_string())?;
            self.peer.answer(&format!("\"{id}\""), IN_TIME)?
        } else {
            wire::ask(&self.address, &frame, IN_TIME)?
        };
        let read: Value = serde_json::from_slice(&answer).context("the answer is no JSON")?;
        let echoed = read.pointer("/result/content/0/text").and_then(Value::as_str).unwrap_or_default();
        anyhow::ensure!(echoed.contains(&id), "another answer: {}", judge::shown(&answer));
        Ok(())
    }

    pub(super) fn fresh_id(&mut self) -> String {
        self.calls += 1;
        format!("plain call {}", self.calls)
    }

    /// What must hold after each lot.
    pub(super) fn after_lot(&mut self, findings: &mut Findings) {
        if let Err(fault) = self.good_call("mark") {
            findings.broke(Promise::Alive, format!("{fault:#}"));
        }
    }

    /// Ends the gate as an operator would, and judges its end, its memory and its log. Gives the markers of the calls that
    /// arrived at the good server.
    pub(super) fn end(mut self, findings: &mut Findings) -> anyhow::Result<BTreeSet<String>> {
        self.weigh(findings);
        let asked = Instant::now();
        if self.address.is_empty() {
            self.peer.close();
        } else {
            // It may have broken, which its status says.
            let _ = self.peer.terminate();
        }
        match self.peer.wait(IN_TIME) {
            Ok(status) if status.success() => {}
            Ok(status) => {
                findings.broke(Promise::Unbroken, format!("{status}: {}", tail(&self.peer.stderr())));
            }
            Err(_) => {
                findings.broke(Promise::Unbroken, format!("it has not ended after {:?}", asked.elapsed()));
            }
        }
        let log = self.peer.stderr();
        for line in log.lines().filter(|line| is_breach(line)) {
            findings.broke(Promise::Unbroken, line.to_owned());
        }
        Ok(judge::arrivals(&read(&self.effects)?, findings))
    }

    fn weigh(&self, findings: &mut Findings) {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.peer.pid())).unwrap_or_default();
        let most = status
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok());
        match most {
            Some(kib) if kib > MEMORY_KIB_MAX => {
                findings.broke(Promise::Bounded, format!("{kib} KiB, more than {MEMORY_KIB_MAX}"));
            }
            Some(kib) => findings.memory_kib = findings.memory_kib.max(kib),
            // It has ended, which is judged by its status; or the system has no such file.
            None => {}
        }
    }
}

fn is_breach(line: &str) -> bool {
    ["panicked at", "a defect of the gate", "overflowed its stack", "memory allocation of"]
        .iter()
        .any(|text| line.contains(text))
}

fn tail(log: &str) -> String {
    let lines: Vec<&str> = log.lines().rev().take(5).collect();
    lines.join(" | ")
}

fn read(path: &Path) -> anyhow::Result<String> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

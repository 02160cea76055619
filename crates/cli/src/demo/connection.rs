//! A client's side of MCP over standard input and output, as small as can be: lines out, lines in.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use serde_json::Value;

use crate::exit_code::Failure;

/// How long an answer may take. It takes milliseconds; a demo that hangs is worse than one that gives up.
const PATIENCE: Duration = Duration::from_secs(20);

/// The handshake of the newest revision that has one.
const INITIALIZE: &str = concat!(
    r#"{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","#,
    r#""capabilities":{},"clientInfo":{"name":"callgate-demo","version":"1"}}}"#
);
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// A gate that runs, with the notes server behind it. Dropping it ends both.
pub(super) struct Connection {
    gate: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    log: Option<JoinHandle<String>>,
}

impl Connection {
    /// Starts the gate and shakes hands.
    pub(super) fn start(program: &Path, store: &Path) -> anyhow::Result<Connection> {
        let mut gate = Command::new(program)
            .arg("wrap")
            .arg("--store")
            .arg(store)
            .arg("--")
            .arg(program)
            .arg("notes-server")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context("cannot start the gate")?;
        let stdin = gate.stdin.take();
        let stdout = gate.stdout.take().context("the gate has no output")?;
        let mut stderr = gate.stderr.take().context("the gate has no log")?;
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        // The log is shown only when something goes wrong, but it has to be read, or the gate would wait for that.
        let log = std::thread::spawn(move || {
            let mut text = Vec::new();
            let _ = stderr.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        });
        let mut connection = Connection { gate, stdin, lines, log: Some(log) };
        connection.send(INITIALIZE)?;
        connection.answer(&Value::from("hello"))?;
        connection.send(INITIALIZED)?;
        Ok(connection)
    }

    /// Sends a request of this id; returns its answer and the time in between.
    pub(super) fn ask(&mut self, line: &str, id: usize) -> anyhow::Result<(Value, Duration)> {
        let begun = Instant::now();
        self.send(line)?;
        let answer = self.answer(&Value::from(id))?;
        Ok((answer, begun.elapsed()))
    }

    /// Leaves, as a client does: the gate ends when its input has.
    pub(super) fn finish(mut self) -> anyhow::Result<()> {
        self.stdin = None;
        let status = self.gate.wait()?;
        if !status.success() {
            bail!(self.failure(&format!("the gate ended with {status}")));
        }
        Ok(())
    }

    fn send(&mut self, line: &str) -> anyhow::Result<()> {
        let sent = match &mut self.stdin {
            Some(stdin) => writeln!(stdin, "{line}").and_then(|()| stdin.flush()),
            None => return Ok(()),
        };
        sent.map_err(|_| self.failure("the gate does not read"))
    }

    /// The answer of this id; notifications in between are passed over.
    fn answer(&mut self, id: &Value) -> anyhow::Result<Value> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(line) = self.lines.recv_timeout(left) else {
                return Err(self.failure("the gate does not answer"));
            };
            let message: Value = serde_json::from_str(&line).context("the gate wrote no JSON")?;
            if message.get("method").is_none() && message.get("id") == Some(id) {
                return Ok(message);
            }
        }
    }

    /// What went wrong, with the gate's log.
    fn failure(&mut self, what: &str) -> anyhow::Error {
        let _ = self.gate.kill();
        let log = self.log.take().and_then(|log| log.join().ok()).unwrap_or_default();
        Failure::upstream(format!("{what}\n{log}"))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // It has ended already when all went well.
        let _ = self.gate.kill();
        let _ = self.gate.wait();
    }
}

//! A raw client: it starts a program, writes lines to it exactly as given, and reads lines with a deadline.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use serde_json::value::RawValue;

/// How long an answer may take before a test gives up. Far beyond what is normal, as machines are sometimes busy.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// The lines that a client sends before anything else, for the newest revision with a handshake.
pub const INITIALIZE: &str = concat!(
    r#"{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","#,
    r#""capabilities":{},"clientInfo":{"name":"raw","version":"0"}}}"#
);
/// See [`INITIALIZE`].
pub const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// A running program. Dropping it kills the program.
#[derive(Debug)]
pub struct Peer {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Vec<u8>>,
    kept: VecDeque<Vec<u8>>,
    stderr: Arc<Mutex<Vec<u8>>>,
}

impl Peer {
    /// Starts the program with all three streams in hand.
    pub fn spawn(command: &mut Command) -> anyhow::Result<Peer> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {command:?}"))?;
        let stdout = child.stdout.take().context("no standard output")?;
        let mut stderr_pipe = child.stderr.take().context("no standard error")?;
        let stdin = child.stdin.take();
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).split(b'\n').map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let stderr = Arc::new(Mutex::new(Vec::new()));
        let kept_stderr = Arc::clone(&stderr);
        std::thread::spawn(move || {
            let mut part = [0; 4096];
            while let Ok(count @ 1..) = stderr_pipe.read(&mut part) {
                let part = part.get(..count).unwrap_or_default();
                kept_stderr.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(part);
            }
        });
        Ok(Peer { child, stdin, lines, kept: VecDeque::new(), stderr })
    }

    /// Writes one line; its end is added.
    pub fn send(&mut self, line: impl AsRef<[u8]>) -> anyhow::Result<()> {
        self.send_raw(line)?;
        self.send_raw(b"\n")
    }

    /// Writes bytes exactly as they are.
    pub fn send_raw(&mut self, bytes: impl AsRef<[u8]>) -> anyhow::Result<()> {
        let stdin = self.stdin.as_mut().context("standard input is closed")?;
        stdin.write_all(bytes.as_ref()).and_then(|()| stdin.flush()).context("the program does not read")
    }

    /// The next line that no earlier [`Peer::answer`] passed over; nothing at the end of the output.
    ///
    /// # Errors
    /// When the deadline passes first.
    pub fn line(&mut self, patience: Duration) -> anyhow::Result<Option<Vec<u8>>> {
        if let Some(line) = self.kept.pop_front() {
            return Ok(Some(line));
        }
        self.fresh_line(Instant::now() + patience)
    }

    /// The answer with this id (as JSON text, such as `1` or `"a"`); other lines are kept for [`Peer::line`].
    ///
    /// # Errors
    /// When the deadline passes or the output ends first.
    pub fn answer(&mut self, id: &str, patience: Duration) -> anyhow::Result<Vec<u8>> {
        let deadline = Instant::now() + patience;
        if let Some(index) = self.kept.iter().position(|line| answers(line, id)) {
            return self.kept.remove(index).context("the line is there");
        }
        loop {
            match self.fresh_line(deadline).with_context(|| format!("no answer to {id}"))? {
                Some(line) if answers(&line, id) => return Ok(line),
                Some(line) => self.kept.push_back(line),
                None => bail!("the output ended before the answer to {id}; {}", self.stderr()),
            }
        }
    }

    /// The handshake, as a client of the newest revision that has one.
    pub fn initialize(&mut self) -> anyhow::Result<Vec<u8>> {
        self.send(INITIALIZE)?;
        let answer = self.answer("\"hello\"", PATIENCE)?;
        self.send(INITIALIZED)?;
        Ok(answer)
    }

    /// Every line until the output ends.
    ///
    /// # Errors
    /// When the deadline passes first.
    pub fn rest(&mut self, patience: Duration) -> anyhow::Result<Vec<Vec<u8>>> {
        let deadline = Instant::now() + patience;
        let mut lines: Vec<Vec<u8>> = self.kept.drain(..).collect();
        while let Some(line) = self.fresh_line(deadline)? {
            lines.push(line);
        }
        Ok(lines)
    }

    /// Ends the program's standard input.
    pub fn close(&mut self) {
        self.stdin = None;
    }

    /// Asks the program to end (SIGTERM).
    pub fn terminate(&mut self) -> anyhow::Result<()> {
        let status = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status()?;
        if status.success() { Ok(()) } else { bail!("`kill` ended with {status}") }
    }

    /// Kills the program at once, as the system would (SIGKILL).
    pub fn kill(&mut self) -> anyhow::Result<()> {
        self.child.kill().and_then(|()| self.child.wait()).map(|_| ()).context("cannot kill the program")
    }

    /// Waits for the program's end.
    ///
    /// # Errors
    /// When the deadline passes first.
    pub fn wait(&mut self, patience: Duration) -> anyhow::Result<ExitStatus> {
        let deadline = Instant::now() + patience;
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            if Instant::now() > deadline {
                bail!("the program does not end; {}", self.stderr());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// The program's id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What the program has written to standard error so far.
    pub fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.stderr.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }

    fn fresh_line(&mut self, deadline: Instant) -> anyhow::Result<Option<Vec<u8>>> {
        match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(line) => Ok(Some(line)),
            Err(RecvTimeoutError::Disconnected) => Ok(None),
            Err(RecvTimeoutError::Timeout) => bail!("nothing came in time; {}", self.stderr()),
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It may have ended already; then there is nothing to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether a line is the answer to the request of this id.
fn answers(line: &[u8], id: &str) -> bool {
    let Ok(members) = serde_json::from_slice::<BTreeMap<String, &RawValue>>(line) else { return false };
    !members.contains_key("method") && members.get("id").is_some_and(|found| found.get() == id)
}

/// Waits until `ready` holds, looking every few milliseconds.
///
/// # Errors
/// When the deadline passes first.
pub fn until(what: &str, patience: Duration, mut ready: impl FnMut() -> bool) -> anyhow::Result<()> {
    let deadline = Instant::now() + patience;
    while !ready() {
        if Instant::now() > deadline {
            bail!("not in time: {what}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

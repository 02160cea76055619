//! The processes of the measurement, and what the system says of them.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::Context as _;

/// Ticks a second in which Linux counts a process's time; it has been so on every machine for decades.
const TICKS_A_SECOND: f64 = 100.0;

/// A process that is killed when it is dropped.
pub(super) struct Part {
    child: Child,
    pub(super) port: u16,
}

impl Part {
    /// Starts a process that prints its port.
    pub(super) fn start(command: &mut Command) -> anyhow::Result<Part> {
        let mut child =
            command.stdout(Stdio::piped()).spawn().with_context(|| format!("cannot start {command:?}"))?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("no output")?).read_line(&mut line)?;
        let port = line.trim().parse().with_context(|| format!("no port, but `{line}`"));
        // Held by the guard first, so that a process without a port ends, too.
        let mut part = Part { child, port: 0 };
        part.port = port?;
        Ok(part)
    }

    /// This program in another role.
    pub(super) fn own(words: &[&str], paths: &[&Path]) -> anyhow::Result<Part> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("serve-part").args(words).args(paths).env("CALLGATE_LOG", "error");
        Part::start(&mut command)
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// A line of the process's status, in MiB.
    pub(super) fn memory(&self, name: &str) -> anyhow::Result<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid()))?;
        let value = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        let kib: f64 = value.context("no such line")?.trim().trim_end_matches(" kB").parse()?;
        Ok(kib / 1_024.0)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // It may have ended already; then there is nothing to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The seconds of processor time that a process has had.
pub(super) fn processor_time(pid: u32) -> anyhow::Result<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let rest = stat.rsplit(") ").next().context("no status")?;
    let ticks: f64 = rest.split(' ').skip(11).take(2).map(|ticks| ticks.parse::<f64>().unwrap_or(0.0)).sum();
    Ok(ticks / TICKS_A_SECOND)
}

/// What the machine does besides, as it says itself.
pub(super) fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or("unknown").to_owned()
}

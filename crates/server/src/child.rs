//! The upstream as a child process: started with pipes, and stopped in steps.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};

/// How long a child may take to end after its input was closed, and again after it was asked to end.
const GRACE: Duration = Duration::from_secs(2);

/// How long between two looks at what the child has left behind.
const STEP: Duration = Duration::from_millis(20);

/// A child that does not start.
#[derive(Debug, thiserror::Error)]
#[error("the upstream `{command}` does not start")]
pub struct StartError {
    command: String,
    source: std::io::Error,
}

/// A command and what it is started with.
#[derive(Debug, Clone)]
pub(crate) struct Launch {
    pub(crate) command: OsString,
    pub(crate) args: Vec<OsString>,
    /// Further variables of its environment.
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) cwd: Option<PathBuf>,
}

/// The streams of a child.
#[derive(Debug)]
pub(crate) struct Streams {
    pub(crate) stdout: ChildStdout,
    pub(crate) stdin: ChildStdin,
    /// Its standard error, where that is not the gate's.
    pub(crate) stderr: Option<ChildStderr>,
}

impl Launch {
    pub(crate) fn new(command: &OsStr) -> Launch {
        Launch { command: command.to_owned(), args: Vec::new(), env: Vec::new(), cwd: None }
    }

    /// Starts the command.
    pub(crate) fn start(&self, stderr: Stdio) -> Result<(Child, Streams), StartError> {
        let failed = |source| StartError { command: self.command.to_string_lossy().into_owned(), source };
        let mut start = Command::new(&self.command);
        start
            .args(&self.args)
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .kill_on_drop(true);
        if let Some(cwd) = &self.cwd {
            start.current_dir(cwd);
        }
        // A group of its own: a signal from the terminal reaches the gate alone, which then stops in order.
        #[cfg(unix)]
        start.process_group(0);
        let mut process = start.spawn().map_err(failed)?;
        let group = process.id();
        let stderr = process.stderr.take();
        match (process.stdout.take(), process.stdin.take()) {
            (Some(stdout), Some(stdin)) => Ok((Child { process, group }, Streams { stdout, stdin, stderr })),
            _ => Err(failed(std::io::Error::other("no pipes to it"))),
        }
    }
}

/// A running child. Its standard error is that of the gate.
#[derive(Debug)]
pub struct Child {
    process: tokio::process::Child,
    /// The process group, of which the child is the leader, so that what it started ends with it.
    group: Option<u32>,
}

impl Child {
    /// Starts a command and gives its streams: what it writes, and what it reads.
    ///
    /// # Errors
    ///
    /// If the operating system does not start it.
    pub fn start(command: &OsStr, args: &[OsString]) -> Result<(Child, ChildStdout, ChildStdin), StartError> {
        let launch = Launch { args: args.to_vec(), ..Launch::new(command) };
        let (child, streams) = launch.start(Stdio::inherit())?;
        Ok((child, streams.stdout, streams.stdin))
    }

    /// Ends the child, whose input was closed before, and whatever it has started and left behind: waits, asks, waits,
    /// kills.
    pub async fn stop(mut self) -> Option<ExitStatus> {
        let status = self.stop_leader().await;
        if self.group_lives() {
            tracing::info!("what the upstream has left behind is asked to end");
            self.signal(Ask::Terminate);
            let _ = tokio::time::timeout(GRACE, self.group_ended()).await;
        }
        if self.group_lives() {
            tracing::warn!("what the upstream has left behind does not end when asked and is killed");
            self.signal(Ask::Kill);
        }
        status
    }

    async fn group_ended(&self) {
        while self.group_lives() {
            tokio::time::sleep(STEP).await;
        }
    }

    async fn stop_leader(&mut self) -> Option<ExitStatus> {
        if let Ok(status) = tokio::time::timeout(GRACE, self.process.wait()).await {
            return status.ok();
        }
        tracing::info!("the upstream does not end by itself and is asked to");
        self.signal(Ask::Terminate);
        if let Ok(status) = tokio::time::timeout(GRACE, self.process.wait()).await {
            return status.ok();
        }
        tracing::warn!("the upstream does not end when asked and is killed");
        self.signal(Ask::Kill);
        if self.process.start_kill().is_err() {
            return None;
        }
        self.process.wait().await.ok()
    }

    #[cfg(unix)]
    fn signal(&self, ask: Ask) {
        use rustix::process::{Signal, kill_process_group};
        let signal = match ask {
            Ask::Terminate => Signal::TERM,
            Ask::Kill => Signal::KILL,
        };
        if let Some(group) = self.group()
            && let Err(error) = kill_process_group(group, signal)
        {
            tracing::debug!(%error, "the upstream's process group takes no signal");
        }
    }

    /// Whether a process of the group is left. A number is not given to another process while it is that of a group, and
    /// after that not before all others were.
    #[cfg(unix)]
    fn group_lives(&self) -> bool {
        self.group().is_some_and(|group| rustix::process::test_kill_process_group(group).is_ok())
    }

    #[cfg(unix)]
    fn group(&self) -> Option<rustix::process::Pid> {
        self.group.and_then(|group| i32::try_from(group).ok()).and_then(rustix::process::Pid::from_raw)
    }

    #[cfg(not(unix))]
    fn group_lives(&self) -> bool {
        false
    }

    #[cfg(not(unix))]
    fn signal(&self, ask: Ask) {
        tracing::debug!(?ask, group = ?self.group, "there are no signals here");
    }
}

#[derive(Debug, Clone, Copy)]
enum Ask {
    Terminate,
    Kill,
}

#[cfg(all(test, unix))]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    #[tokio::test]
    async fn what_a_child_leaves_behind_ends_with_it() {
        for left in ["sleep 1000 &", "(trap '' TERM; sleep 1000; sleep 1000) &", ""] {
            let words = ["-c".into(), format!("{left} exec cat").into()];
            let (child, mut stdout, stdin) = Child::start(OsStr::new("sh"), &words).unwrap();
            drop(stdin);
            assert!(child.stop().await.unwrap().success());
            // It shares the pipe, which ends with the last process that has it.
            let mut rest = Vec::new();
            let end = tokio::time::timeout(GRACE, stdout.read_to_end(&mut rest));
            end.await.expect("nothing is left behind").unwrap();
        }
    }
}

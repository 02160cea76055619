//! A program that a step starts: it is said aloud, and its output is seen while it runs.

use super::step::{Outcome, Setting};
use anyhow::{Context, Result, ensure};
use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{self, Stdio};

/// A program with its arguments, run in the workspace's root unless it says otherwise.
#[derive(Debug)]
pub(super) struct Command {
    program: OsString,
    arguments: Vec<OsString>,
    environment: Vec<(&'static str, String)>,
    folder: PathBuf,
}

impl Command {
    pub(super) fn new(at: &Setting, program: impl AsRef<OsStr>) -> Self {
        Command {
            program: program.as_ref().to_owned(),
            arguments: Vec::new(),
            environment: Vec::new(),
            folder: at.root.clone(),
        }
    }

    /// The cargo that runs these chores.
    pub(super) fn cargo(at: &Setting) -> Self {
        Command::new(at, std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
    }

    pub(super) fn argument(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    pub(super) fn arguments<A: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments.extend(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
        self
    }

    /// Sets a variable of its environment.
    pub(super) fn environment(mut self, name: &'static str, value: u64) -> Self {
        self.environment.push((name, value.to_string()));
        self
    }

    /// Has it fail where something that it needs is missing, if the run does.
    pub(super) fn failing_like(mut self, at: &Setting) -> Self {
        if at.is_strict() {
            self.environment.push(("CI", "true".to_owned()));
        }
        self
    }

    /// Runs it; a bad exit status is a failed step.
    pub(super) fn outcome(self) -> Result<Outcome> {
        let status = self.said().status().with_context(|| self.cannot_start())?;
        Ok(if status.success() { Outcome::passed("") } else { Outcome::failed(status.to_string()) })
    }

    /// Runs it; a bad exit status is an error.
    pub(super) fn succeed(self) -> Result<()> {
        let status = self.said().status().with_context(|| self.cannot_start())?;
        ensure!(status.success(), "`{}` ended with {status}", self.program.display());
        Ok(())
    }

    /// Runs it and returns its standard output with its exit status. `show` picks the lines that are also printed.
    pub(super) fn output(self, show: impl Fn(&str) -> bool) -> Result<(String, process::ExitStatus)> {
        let mut child = self.said().stdout(Stdio::piped()).spawn().with_context(|| self.cannot_start())?;
        let mut output = String::new();
        if let Some(pipe) = child.stdout.take() {
            for line in BufReader::new(pipe).lines() {
                let line = line?;
                if show(&line) {
                    println!("{line}");
                }
                output.push_str(&line);
                output.push('\n');
            }
        }
        Ok((output, child.wait()?))
    }

    fn said(&self) -> process::Command {
        let short = |text: &OsStr| Path::new(text).file_name().unwrap_or(text).to_string_lossy().into_owned();
        let words: Vec<_> = self.arguments.iter().map(|argument| argument.to_string_lossy()).collect();
        let settings: Vec<_> =
            self.environment.iter().map(|(name, value)| format!("{name}={value} ")).collect();
        println!("+ {}{} {}", settings.concat(), short(&self.program), words.join(" "));
        let mut command = process::Command::new(&self.program);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.args(&self.arguments).current_dir(&self.folder).stdin(Stdio::null());
        command
    }

    fn cannot_start(&self) -> String {
        format!("cannot start `{}`", self.program.display())
    }
}

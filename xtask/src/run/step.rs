//! A step of a run, what came of it, and the table at the end.

use anyhow::Result;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Where the steps run.
#[derive(Debug)]
pub(super) struct Setting {
    /// The workspace.
    pub(super) root: PathBuf,
    /// What cargo builds goes here.
    pub(super) target: PathBuf,
    /// The large collections, if they are there.
    pub(super) shared: PathBuf,
    /// Whether something that is missing is a failure.
    strict: bool,
    /// Where programs are looked for.
    path: Vec<PathBuf>,
}

/// What came of a step.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It holds. The note says how much was looked at, where that is not plain.
    Passed(String),
    /// It does not hold, and why.
    Failed(String),
    /// It was not looked at, and why.
    Skipped(String),
}

/// The steps that have run.
#[derive(Debug)]
pub(super) struct Plan {
    setting: Setting,
    /// The steps that were asked for; empty: all of them.
    only: Vec<String>,
    started: Instant,
    done: Vec<(&'static str, Outcome, Duration)>,
}

impl Setting {
    /// The setting of a workspace; `strict` also where the environment says that this is a build machine.
    pub(super) fn new(root: &Path, strict: bool) -> Self {
        let target =
            std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |dir| root.join(dir));
        let strict = strict || std::env::var_os("CI").is_some_and(|value| value == "true");
        let cargo_home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
        let home = std::env::var_os("HOME").map(|home| Path::new(&home).join(".cargo"));
        let cargo_bin = cargo_home.or(home).map(|home| home.join("bin"));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::split_paths(&path).chain(cargo_bin).collect();
        Setting { root: root.to_path_buf(), target, shared: root.join("../shared"), strict, path }
    }

    /// Whether something that is missing is a failure.
    pub(super) fn is_strict(&self) -> bool {
        self.strict
    }

    /// The path of a binary of the release build.
    pub(super) fn binary(&self, name: &str) -> PathBuf {
        self.target.join("release").join(name)
    }

    /// Whether a program of that name can be run.
    pub(super) fn has(&self, program: &str) -> bool {
        self.path.iter().any(|folder| folder.join(program).is_file())
    }

    /// The outcome of a step for which something is not there.
    pub(super) fn missing(&self, what: &str) -> Outcome {
        if self.strict {
            return Outcome::Failed(what.to_owned());
        }
        println!("skipped: {what}");
        Outcome::Skipped(what.to_owned())
    }
}

impl Outcome {
    pub(super) fn passed(note: impl Into<String>) -> Self {
        Outcome::Passed(note.into())
    }

    pub(super) fn failed(why: impl Into<String>) -> Self {
        Outcome::Failed(why.into())
    }
}

impl Plan {
    pub(super) fn new(setting: Setting, only: Vec<String>) -> Self {
        Plan { setting, only, started: Instant::now(), done: Vec::new() }
    }

    /// Runs a step now. An error is a failure of this step alone; the others still run.
    pub(super) fn run(&mut self, name: &'static str, step: impl FnOnce(&Setting) -> Result<Outcome>) {
        if !self.wants(name) {
            return;
        }
        println!("[{}] {name}", clock(self.started.elapsed()));
        let started = Instant::now();
        let outcome = step(&self.setting).unwrap_or_else(|error| Outcome::Failed(format!("{error:#}")));
        if let Outcome::Failed(why) = &outcome {
            println!("[{}] {name}: failed: {why}", clock(self.started.elapsed()));
        }
        self.done.push((name, outcome, started.elapsed()));
    }

    /// Notes a step that was left out on purpose.
    pub(super) fn skip(&mut self, name: &'static str, why: &str) {
        if !self.wants(name) {
            return;
        }
        println!("skipped: {name}: {why}");
        self.done.push((name, Outcome::Skipped(why.to_owned()), Duration::ZERO));
    }

    fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == name)
    }

    /// Prints the table and the counts. `false` if a step failed.
    pub(super) fn finish(mut self) -> bool {
        // A name that is no step's must not look like a run in which all is well.
        self.only.retain(|name| !self.done.iter().any(|(done, ..)| done == name));
        for name in self.only {
            self.done.push(("no such step", Outcome::failed(name), Duration::ZERO));
        }
        let (table, failed) = summary(&self.done);
        println!("\n{table}");
        failed == 0
    }
}

fn clock(time: Duration) -> String {
    format!("{:3}:{:02}", time.as_secs() / 60, time.as_secs() % 60)
}

/// The table with its closing counts, and how many steps failed.
fn summary(done: &[(&'static str, Outcome, Duration)]) -> (String, usize) {
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    let mut table = format!("{:<24} {:<8} {:>6}  note\n", "step", "result", "time");
    for (name, outcome, time) in done {
        let (word, note) = match outcome {
            Outcome::Passed(note) => {
                passed += 1;
                ("passed", note)
            }
            Outcome::Failed(why) => {
                failed += 1;
                ("FAILED", why)
            }
            Outcome::Skipped(why) => {
                skipped += 1;
                ("skipped", why)
            }
        };
        let row = format!("{name:<24} {word:<8} {:>6}  {note}", clock(*time));
        table.push_str(row.trim_end());
        table.push('\n');
    }
    // Writing to a text does not fail.
    let _ = write!(table, "{passed} passed, {failed} failed, {skipped} skipped");
    (table, failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_counts_and_a_failure_is_told() {
        let done = [
            ("format", Outcome::passed(""), Duration::from_secs(2)),
            ("peers", Outcome::Skipped("no npm".into()), Duration::ZERO),
            ("tests", Outcome::failed("exit status: 1"), Duration::from_secs(61)),
        ];
        let (table, failed) = summary(&done);
        assert_eq!(failed, 1);
        assert_eq!(table.lines().last(), Some("1 passed, 1 failed, 1 skipped"));
        assert!(table.contains("tests                    FAILED     1:01  exit status: 1\n"), "{table}");
    }

    #[test]
    fn what_is_missing_fails_only_where_all_must_run() {
        let mut setting = Setting::new(Path::new("/"), true);
        assert_eq!(setting.missing("no npm"), Outcome::failed("no npm"));
        setting.strict = false;
        assert_eq!(setting.missing("no npm"), Outcome::Skipped("no npm".into()));
    }
}

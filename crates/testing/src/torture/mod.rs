//! The proofs that need a whole gate: what is left after it is killed at any moment, in which order it writes, and what
//! broken frames do to it.

pub mod frames;
pub mod kill;
mod lot;
pub mod order;
pub mod order_postgres;
mod trace;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};
use serde_json::Value;

use crate::fixture;

/// What both proofs work with.
#[derive(Debug, Clone)]
pub struct Ground {
    /// The gate's program.
    pub binary: PathBuf,
    /// A folder of its own for the files.
    pub folder: PathBuf,
    /// The address of the store; none for a file in the folder.
    pub store: Option<String>,
}

impl Ground {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The configuration of the gates.
    fn config(&self) -> PathBuf {
        self.path("gate.toml")
    }

    fn store(&self) -> anyhow::Result<String> {
        self.store.clone().map_or_else(|| text(&self.path("store.sqlite")), Ok)
    }

    /// The gate in front of the fixture, which is this program again.
    fn gate(&self, fixture: &[String]) -> anyhow::Result<Vec<String>> {
        self.gate_with(&[], fixture)
    }

    /// The same with further flags of its own.
    fn gate_with(&self, flags: &[String], fixture: &[String]) -> anyhow::Result<Vec<String>> {
        let own = std::env::current_exe()?;
        let mut words = vec![text(&self.binary)?, "wrap".into(), "--store".into(), self.store()?];
        words.extend(flags.iter().cloned());
        words.extend(["--".into(), text(&own)?, fixture::ASKED.into()]);
        words.extend(fixture.iter().cloned());
        Ok(words)
    }

    /// The last intents in the store, as `intents list` shows them.
    fn intents(&self, limit: u32) -> anyhow::Result<Vec<Intent>> {
        self.list(limit, &[])
    }

    /// Every intent in doubt, as an operator lists them.
    fn doubts(&self) -> anyhow::Result<Vec<Intent>> {
        self.list(u32::MAX, &["--in-doubt"])
    }

    /// What a budget without windows stands at: what was taken and what is reserved.
    fn taken(&self, budget: &str) -> anyhow::Result<u64> {
        let output = Command::new(&self.binary)
            .args(["budgets", "--format", "json", "--store"])
            .arg(self.store()?)
            .output()?;
        let rows: Vec<Value> = serde_json::from_slice(&output.stdout).context("`budgets` is no JSON")?;
        let counter = rows.iter().find(|row| row.get("budget").and_then(Value::as_str) == Some(budget));
        let of = |name: &str| counter.and_then(|row| row.get(name)).and_then(Value::as_u64).unwrap_or(0);
        Ok(of("committed") + of("reserved"))
    }

    fn list(&self, limit: u32, flags: &[&str]) -> anyhow::Result<Vec<Intent>> {
        let output = Command::new(&self.binary)
            .args(["intents", "list", "--limit", &limit.to_string(), "--format", "json"])
            .args(flags)
            .arg("--store")
            .arg(self.store()?)
            .output()?;
        if !output.status.success() {
            bail!("`intents list` failed: {}", String::from_utf8_lossy(&output.stderr));
        }
        let rows: Vec<Value> = serde_json::from_slice(&output.stdout).context("`intents list` is no JSON")?;
        rows.iter().map(Intent::read).collect()
    }
}

/// One row of `intents list`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Intent {
    id: String,
    tool: String,
    state: String,
    side_effect: String,
    in_doubt: bool,
    approval: Option<String>,
}

impl Intent {
    fn read(row: &Value) -> anyhow::Result<Intent> {
        let text = |name: &str| {
            row.get(name)
                .and_then(Value::as_str)
                .map(str::to_owned)
                .with_context(|| format!("no `{name}` in {row}"))
        };
        Ok(Intent {
            id: text("id")?,
            tool: text("tool")?,
            state: text("state")?,
            side_effect: text("side_effect")?,
            in_doubt: row.get("in_doubt").and_then(Value::as_bool).context("no `in_doubt`")?,
            approval: row.get("approval").and_then(Value::as_str).map(str::to_owned),
        })
    }
}

fn text(path: &Path) -> anyhow::Result<String> {
    path.to_str().map(str::to_owned).with_context(|| format!("no text: {}", path.display()))
}

fn command(words: &[String]) -> anyhow::Result<Command> {
    let (program, arguments) = words.split_first().context("no command")?;
    let mut command = Command::new(program);
    command.args(arguments);
    Ok(command)
}

/// The frame of one call.
fn call(id: u32, tool: &str, marker: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{"marker":"{marker}"}}}}}}"#
    )
}

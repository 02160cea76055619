//! What is in force, as TOML that could stand in a file: defaults are marked, and secrets are references.

use std::fmt::Write as _;

use callgate_mcp::FrameLimits;
use callgate_schema::{Location, Step};
use toml::{Table, Value};

use super::form::{FileForm, ProfileForm};
use super::load::Serve;
use super::secret::Secret;

/// How long a tool server may take to answer, unless the file says otherwise.
pub(super) const CALL_TIMEOUT_MS: u64 = 300_000;
/// How long a gate that ends waits for what is out.
pub(super) const DRAIN_MS: u64 = 5_000;
/// Calls at once to one tool server.
pub(super) const CALLS_IN_FLIGHT_MAX: u64 = 256;
/// How long an approval is asked for.
const EXPIRY_MS: u64 = 900_000;

/// The sections, in the order of the file, and what in them is a default.
#[derive(Debug, Clone)]
pub(super) struct Shown {
    table: Table,
    defaults: Vec<(&'static str, &'static str)>,
}

/// The sections in their order; what is not named here would come last.
const SECTIONS: &[&str] =
    &["gate", "serve", "auth", "principals", "tools", "rules", "budgets", "approvals", "upstreams"];

impl Shown {
    /// Fills in the defaults; `has` says whether the file has a value at a place.
    pub(super) fn of(mut form: FileForm, has: impl Fn(&Location) -> bool) -> Shown {
        let frames = FrameLimits::default();
        let gate = &mut form.gate;
        gate.profile.get_or_insert(ProfileForm::Standard);
        gate.call_timeout_ms.get_or_insert(CALL_TIMEOUT_MS);
        gate.drain_ms.get_or_insert(DRAIN_MS);
        gate.calls_in_flight_max.get_or_insert(CALLS_IN_FLIGHT_MAX);
        gate.frame_bytes_max.get_or_insert(frames.frame_bytes_max as u64);
        gate.result_bytes_max.get_or_insert(frames.result_bytes_max as u64);
        form.serve.listen.get_or_insert_with(|| Serve::LISTEN.to_string());
        form.approvals.expiry_ms.get_or_insert(EXPIRY_MS);
        form.approvals.in_band.get_or_insert(false);
        let filled = [
            ("gate", "profile"),
            ("gate", "call_timeout_ms"),
            ("gate", "drain_ms"),
            ("gate", "calls_in_flight_max"),
            ("gate", "frame_bytes_max"),
            ("gate", "result_bytes_max"),
            ("serve", "listen"),
            ("approvals", "expiry_ms"),
            ("approvals", "in_band"),
        ];
        let name = |text: &str| Step::Name(text.to_owned());
        let defaults = filled
            .into_iter()
            .filter(|(section, key)| !has(&Location(vec![name(section), name(key)])))
            .collect();
        // Forms of ours have a form in TOML.
        let table = Table::try_from(&form).unwrap_or_default();
        Shown { table, defaults }
    }

    /// The text.
    pub(super) fn text(&self, is_set: &dyn Fn(&Secret) -> bool) -> String {
        let mut out = String::new();
        for section in SECTIONS {
            match self.table.get(*section) {
                Some(Value::Table(table)) => self.section(&mut out, section, table, is_set),
                Some(Value::Array(entries)) => {
                    for table in entries.iter().filter_map(Value::as_table) {
                        out.push_str(if out.is_empty() { "" } else { "\n" });
                        let _ = writeln!(out, "[[{section}]]");
                        for (key, value) in ordered(table) {
                            line(&mut out, key, value, "", is_set);
                        }
                    }
                }
                _ => {}
            }
        }
        out
    }

    fn section(&self, out: &mut String, section: &str, table: &Table, is_set: &dyn Fn(&Secret) -> bool) {
        out.push_str(if out.is_empty() { "" } else { "\n" });
        let _ = writeln!(out, "[{section}]");
        for (key, value) in ordered(table) {
            let is_default = self.defaults.iter().any(|(of, name)| *of == section && *name == key);
            line(out, key, value, if is_default { "default" } else { "" }, is_set);
        }
    }
}

/// The entries of a section: what names it first, the others by their names.
fn ordered(table: &Table) -> Vec<(&str, &Value)> {
    let mut entries: Vec<(&str, &Value)> = table.iter().map(|(key, value)| (key.as_str(), value)).collect();
    entries.sort_by_key(|(key, _)| !matches!(*key, "id" | "name" | "names"));
    entries
}

/// One key; a comment says what is a default, and of secrets whether they are there.
fn line(out: &mut String, key: &str, value: &Value, remark: &str, is_set: &dyn Fn(&Secret) -> bool) {
    let mut remarks: Vec<String> = Vec::new();
    if !remark.is_empty() {
        remarks.push(remark.to_owned());
    }
    // Only a value that may be a secret is a table with one of these words alone.
    if matches!(key, "store" | "env" | "headers") {
        secrets(value, &mut |secret| {
            let there = if is_set(&secret) { "is set" } else { "is not set" };
            remarks.push(format!("{secret} {there}"));
        });
    }
    let _ = write!(out, "{} = {}", bare(key), inline(value));
    if !remarks.is_empty() {
        let _ = write!(out, "  # {}", remarks.join(", "));
    }
    out.push('\n');
}

fn secrets(value: &Value, found: &mut dyn FnMut(Secret)) {
    let Some(table) = value.as_table() else { return };
    if table.len() == 1 {
        match table.iter().next() {
            Some((kind, Value::String(name))) if kind == "env" => return found(Secret::Env(name.clone())),
            Some((kind, Value::String(name))) if kind == "file" => return found(Secret::File(name.into())),
            _ => {}
        }
    }
    for value in table.values() {
        secrets(value, found);
    }
}

/// A value on one line.
fn inline(value: &Value) -> String {
    match value {
        Value::Table(table) => {
            let members: Vec<String> =
                table.iter().map(|(key, value)| format!("{} = {}", bare(key), inline(value))).collect();
            if members.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", members.join(", ")) }
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", "))
        }
        // Texts with quotes in them stay readable, since the library takes the kind of quotes that fits.
        other => other.to_string(),
    }
}

fn bare(key: &str) -> String {
    let is_bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    if is_bare { key.to_owned() } else { Value::String(key.to_owned()).to_string() }
}

//! Allocations of one verdict. They are counted by a program of its own, whose allocator counts; here its answers are read.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::agree;
use crate::case::Case;
use crate::instructions::{RUNS_FIRST, warm};
use crate::peers::{JSONSCHEMA, OURS, SONIC};

/// The program that counts.
const PROGRAM: &str = "callgate-bench-allocations";

/// Allocations by what was done: `valid callgate`, `invalid jsonschema`.
pub(super) type Counts = BTreeMap<String, u64>;

/// Of each case.
#[derive(Debug, Default)]
pub(super) struct Allocations(BTreeMap<String, Counts>);

impl Allocations {
    pub(super) fn of(&self, case: &str) -> Option<Counts> {
        self.0.get(case).cloned()
    }
}

/// Counts with the other program, which cargo builds if it runs us. Where it cannot be run, that is said, and the counts
/// are missing.
pub(super) fn counted(folder: &Path) -> Allocations {
    match ask(folder) {
        Ok(counts) => counts,
        Err(error) => {
            println!("allocations are not counted: {error:#}\n");
            Allocations::default()
        }
    }
}

fn ask(folder: &Path) -> Result<Allocations> {
    let mut command = match std::env::var_os("CARGO") {
        Some(cargo) => {
            let mut command = Command::new(cargo);
            command.args(["run", "--quiet", "--release", "--bin", PROGRAM, "--manifest-path"]);
            command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).arg("--");
            command
        }
        None => Command::new(std::env::current_exe()?.with_file_name(PROGRAM)),
    };
    let folder = folder.canonicalize()?;
    let output = command.arg(folder).stderr(Stdio::inherit()).output().context(PROGRAM)?;
    ensure!(output.status.success(), "{PROGRAM} ended with {}", output.status);
    let counts: BTreeMap<String, Counts> = serde_json::from_slice(&output.stdout)?;
    Ok(Allocations(counts))
}

/// Counts all cases of a folder. `total` tells how many allocations there have been since the program began.
///
/// # Errors
/// A case that cannot be read, or on which the engines differ.
pub fn count(folder: &Path, total: &dyn Fn() -> usize) -> Result<Value> {
    let mut all = serde_json::Map::new();
    for case in Case::all(folder)? {
        let engines = agree(&case)?;
        let valid: Value = serde_json::from_slice(&case.valid)?;
        // Whatever is allocated once and kept is not of one verdict.
        warm(&engines, &case);
        let of = |work: &dyn Fn()| {
            for _ in 0..RUNS_FIRST {
                work();
            }
            let before = total();
            work();
            total() - before
        };
        let told = |what: &[u8]| of(&|| drop(engines.ours_told(what)));
        let told_by_peer = |what: &[u8]| of(&|| drop(engines.jsonschema_told(what)));
        let ignore = |_: bool| ();
        all.insert(
            case.name.clone(),
            json!({
                format!("valid {OURS}"): of(&|| ignore(engines.ours_of(&case.valid))),
                format!("valid {JSONSCHEMA}"): of(&|| ignore(engines.jsonschema_of(&case.valid))),
                format!("valid {SONIC}"): of(&|| ignore(engines.on_sonic_of(&case.valid))),
                format!("value {OURS}"): of(&|| ignore(engines.ours.is_valid(&valid))),
                format!("value {JSONSCHEMA}"): of(&|| ignore(engines.jsonschema_of_value(&valid))),
                format!("invalid {OURS}"): told(&case.invalid),
                format!("invalid {JSONSCHEMA}"): told_by_peer(&case.invalid),
                format!("multi {OURS}"): told(&case.multi),
                format!("multi {JSONSCHEMA}"): told_by_peer(&case.multi),
            }),
        );
    }
    Ok(Value::Object(all))
}

//! Instructions of small workloads, counted by valgrind and compared with a baseline: what a shared machine can measure
//! exactly. The times beside peers are for people, this is for the gate.
//!
//! Not counted is what the processor or the C library chooses at run time: functions for vectors, and allocation. So the
//! counts are those of our own code, and mostly the same wherever the same compiler has built it.

mod baseline;
mod callgrind;

use std::hint::black_box;
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use crate::case::{self, Case};
use crate::peers::{Engines, compile_ours};
use baseline::Baseline;

/// How the counts are compared.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Write the baseline instead of comparing with it
    #[arg(long)]
    write: bool,
}

/// Runs of a workload that are counted together, so that the division leaves no more than a rounding.
const RUNS: u64 = 10;
/// Runs before that, in which scratch grows to its size.
pub(crate) const RUNS_FIRST: usize = 3;
/// Verdicts on a good value before everything else: a pattern gets its table once it has matched some kilobytes.
const VERDICTS_FIRST: usize = 600;

/// # Errors
/// A workload takes more instructions than the baseline allows, or cannot be counted where it must be.
pub fn run(args: &Args) -> Result<()> {
    if !found("valgrind") {
        if std::env::var_os("CI").is_some_and(|value| value == "true") {
            bail!("valgrind is not here");
        }
        println!("skipped: valgrind is not here");
        return Ok(());
    }
    let counts = count()?;
    if args.write {
        return Baseline::write(&counts);
    }
    let Some(baseline) = Baseline::read()? else {
        println!("skipped: there is no baseline for {}", std::env::consts::ARCH);
        return Ok(());
    };
    baseline.compare(&counts)
}

fn found(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// The instructions of one run of each workload, in their order.
fn count() -> Result<Vec<(String, u64)>> {
    let folder = tempfile::tempdir()?;
    let dump = folder.path().join("counts");
    let name = concat!(module_path!(), "::counted_workload");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--quiet", "--compress-strings=no"])
        .arg(format!("--toggle-collect={name}"))
        .arg(format!("--dump-after={name}"))
        .arg(format!("--callgrind-out-file={}", dump.display()))
        .arg(std::env::current_exe()?)
        .arg("instructions-workloads")
        .output()
        .context("cannot start valgrind")?;
    ensure!(
        output.status.success(),
        "valgrind ended with {}: {}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    let names = String::from_utf8(output.stdout)?;
    let mut counts = Vec::new();
    for (index, name) in names.lines().enumerate() {
        let path = dump.with_extension((index + 1).to_string());
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("valgrind left no counts for `{name}`"))?;
        let instructions = callgrind::instructions(&text) / RUNS;
        ensure!(instructions > 0, "nothing was counted for `{name}`");
        counts.push((name.to_owned(), instructions));
    }
    ensure!(!counts.is_empty(), "no workload was counted");
    Ok(counts)
}

/// Runs every workload, and prints its name. valgrind counts.
///
/// # Errors
/// A case that is not what it should be.
pub fn workloads() -> Result<()> {
    for case in Case::all(&case::own())? {
        let engines = Engines::compile(&case.schema)?;
        let value: Value = serde_json::from_slice(&case.valid)?;
        warm(&engines, &case);
        let workload = |what: &str, work: &mut dyn FnMut()| {
            for _ in 0..RUNS_FIRST {
                work();
            }
            counted_workload(work);
            println!("{} {what}", case.name);
        };
        workload("valid", &mut || _ = black_box(engines.ours_of(&case.valid)));
        workload("valid from a Value", &mut || _ = black_box(engines.ours.is_valid(&value)));
        workload("one violation", &mut || _ = black_box(engines.ours_told(&case.invalid)));
        workload("several violations", &mut || _ = black_box(engines.ours_told(&case.multi)));
        workload("compile", &mut || _ = black_box(compile_ours(&case.schema)));
    }
    Ok(())
}

/// Lets the engine build what it builds once and keeps.
pub(crate) fn warm(engines: &Engines, case: &Case) {
    for _ in 0..VERDICTS_FIRST {
        black_box(engines.ours_of(&case.valid));
    }
}

/// What valgrind looks for by its name.
#[inline(never)]
fn counted_workload(work: &mut dyn FnMut()) {
    for _ in 0..RUNS {
        work();
    }
    black_box(());
}

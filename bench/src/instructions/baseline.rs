//! The counts that are kept, and what differs from them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

/// More than this in a hundred above the baseline is a failure.
const TOLERANCE_PERCENT: u64 = 10;
/// So many instructions more are none, since ten in a hundred of a small workload are few.
const TOLERANCE_LEAST: u64 = 100;

/// The counts of one architecture.
#[derive(Debug)]
pub(super) struct Baseline {
    compiler: String,
    counts: BTreeMap<String, u64>,
}

/// Workloads beyond the tolerance, as lines for people.
type Faults = Vec<String>;

impl Baseline {
    /// `None` if there is none for this architecture.
    pub(super) fn read() -> Result<Option<Baseline>> {
        let path = file();
        let text = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let all: Value = serde_json::from_slice(&text)?;
        let Some(of_this) = all.get(std::env::consts::ARCH) else { return Ok(None) };
        let compiler = of_this.get("compiler").and_then(Value::as_str).unwrap_or_default().to_owned();
        let counts = serde_json::from_value(of_this.get("counts").cloned().unwrap_or_default())?;
        Ok(Some(Baseline { compiler, counts }))
    }

    /// Keeps these counts for this architecture.
    pub(super) fn write(counts: &[(String, u64)]) -> Result<()> {
        let path = file();
        let mut all: Value = match std::fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text)?,
            Err(_) => json!({}),
        };
        let counts: BTreeMap<&str, u64> = counts.iter().map(|(name, count)| (&**name, *count)).collect();
        if let Value::Object(all) = &mut all {
            let of_this = json!({"compiler": compiler(), "counts": counts});
            all.insert(std::env::consts::ARCH.to_owned(), of_this);
        }
        std::fs::write(&path, format!("{all:#}\n"))?;
        println!("{} counts are in {}", counts.len(), path.display());
        Ok(())
    }

    /// Prints each workload beside its baseline.
    ///
    /// # Errors
    /// Those that take too many instructions, and what to do then.
    pub(super) fn compare(&self, counts: &[(String, u64)]) -> Result<()> {
        println!("{:<32}{:>12}{:>12}{:>9}", "instructions", "baseline", "now", "change");
        for (name, now) in counts {
            match self.counts.get(name) {
                Some(before) => println!("{name:<32}{before:>12}{now:>12}{:>8}%", change(*before, *now)),
                None => println!("{name:<32}{:>12}{now:>12}", "none"),
            }
        }
        let faults = self.faults(counts);
        let compiler = compiler();
        let other = if compiler == self.compiler {
            String::new()
        } else {
            format!(" (the baseline is of {}, this is {compiler})", self.compiler)
        };
        ensure!(
            faults.is_empty(),
            "{}{other}; if that is what was meant: cargo run --release -p callgate-bench -- instructions --write",
            faults.join("; ")
        );
        Ok(())
    }

    fn faults(&self, counts: &[(String, u64)]) -> Faults {
        let mut faults = Faults::new();
        for (name, now) in counts {
            match self.counts.get(name) {
                None => faults.push(format!("`{name}` has no baseline")),
                Some(before) if *now > before + (before * TOLERANCE_PERCENT / 100).max(TOLERANCE_LEAST) => {
                    faults
                        .push(format!("`{name}` takes {now} instructions, {}% more", change(*before, *now)));
                }
                Some(_) => {}
            }
        }
        let gone = self.counts.keys().filter(|name| !counts.iter().any(|(counted, _)| counted == *name));
        faults.extend(gone.map(|name| format!("`{name}` was not counted")));
        faults
    }
}

/// In a hundred, rounded down.
fn change(before: u64, now: u64) -> i128 {
    (i128::from(now) - i128::from(before)) * 100 / i128::from(before.max(1))
}

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("instructions.json")
}

/// Which compiler builds here; empty if that cannot be asked.
fn compiler() -> String {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output();
    output.map_or_else(|_| String::new(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(before: &[(&str, u64)], now: &[(&str, u64)]) -> Faults {
        let counts = before.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        let now: Vec<_> = now.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        Baseline { compiler: String::new(), counts }.faults(&now)
    }

    #[test]
    fn a_tenth_more_passes_and_one_beyond_it_does_not() {
        assert!(faults(&[("a", 10_000)], &[("a", 11_000)]).is_empty());
        assert_eq!(faults(&[("a", 10_000)], &[("a", 11_001)]), ["`a` takes 11001 instructions, 10% more"]);
        assert!(faults(&[("a", 10_000)], &[("a", 1)]).is_empty());
    }

    #[test]
    fn a_small_workload_may_take_a_hundred_more() {
        assert!(faults(&[("a", 200)], &[("a", 300)]).is_empty());
        assert_eq!(faults(&[("a", 200)], &[("a", 301)]).len(), 1);
    }

    #[test]
    fn a_workload_on_one_side_alone_is_a_fault() {
        assert_eq!(faults(&[], &[("a", 1)]), ["`a` has no baseline"]);
        assert_eq!(faults(&[("a", 1)], &[]), ["`a` was not counted"]);
    }
}

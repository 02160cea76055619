//! The long proofs of the schema engine: driven by bytes changed at random, beside the reference evaluator, and beside
//! other validators; and what it may cost.

use super::command::Command;
use super::step::{Outcome, Setting};
use anyhow::Result;

/// Drives each fuzz target for so many seconds, all four at once.
pub(super) fn fuzz(at: &Setting, seconds: u64, seed: u64) -> Result<Outcome> {
    let test = ["test", "--release", "--package", "callgate-schema", "--test", "fuzz", "--", "--nocapture"];
    Command::cargo(at)
        .arguments(test)
        .environment("CALLGATE_FUZZ_SECONDS", seconds)
        .environment("CALLGATE_FUZZ_SEED", seed)
        .outcome()
}

/// Compares the engine with the reference evaluator on so many schemas.
pub(super) fn reference(at: &Setting, schemas: u64) -> Result<Outcome> {
    let test =
        ["test", "--release", "--package", "callgate-schema", "--test", "differential", "--", "--nocapture"];
    Command::cargo(at).arguments(test).environment("CALLGATE_TORTURE_CASES", schemas).outcome()
}

/// Compares the engine with two other validators on the collections and on so many schemas.
pub(super) fn others(at: &Setting, schemas: u64) -> Result<Outcome> {
    let corpus = at.shared.join("corpus");
    if !corpus.is_dir() {
        return Ok(at.missing("the large collections are not here"));
    }
    Command::cargo(at)
        .arguments(["run", "--release", "--manifest-path", "differential/Cargo.toml", "--"])
        .argument(corpus)
        .argument(schemas.to_string())
        .outcome()
}

/// Counts the instructions of small workloads and compares them with the baseline.
pub(super) fn instructions(at: &Setting) -> Result<Outcome> {
    if !at.has("valgrind") {
        return Ok(at.missing("valgrind is not here"));
    }
    Command::cargo(at)
        .arguments(["run", "--release", "--package", "callgate-bench", "--", "instructions"])
        .outcome()
}

//! The proofs of the gate's promises on the release binary: kills at random moments, the order of its writes, and broken
//! frames.

use super::command::Command;
use super::step::{Outcome, Setting};
use anyhow::Result;

/// Kills the gate between a call's arrival and its answer, again and again, and looks at what it left.
pub(super) fn kill(at: &Setting, rounds: u32) -> Result<Outcome> {
    // In a tenth of the rounds the server of the store is killed, too.
    let (rounds, server_kills) = (rounds.to_string(), (rounds / 10).to_string());
    torture(at, "kill").arguments(["--rounds", &rounds, "--server-kills", &server_kills]).outcome()
}

/// Plays simulated schedules.
pub(super) fn simulate(at: &Setting, schedules: u64) -> Result<Outcome> {
    let schedules = schedules.to_string();
    Command::new(at, at.binary("callgate-torture"))
        .arguments(["simulate", "--schedules", &schedules])
        .outcome()
}

/// Reads under strace that the record of an intent is on the disk before the call's first byte leaves.
pub(super) fn order(at: &Setting) -> Result<Outcome> {
    if !at.has("strace") {
        return Ok(at.missing("strace is not here"));
    }
    torture(at, "order").outcome()
}

/// Sends broken frames to the gate from both sides, for so many minutes, from a seed or from the clock's.
pub(super) fn frames(at: &Setting, minutes: f64, seed: Option<u64>) -> Result<Outcome> {
    let command = torture(at, "frames").arguments(["--minutes", &minutes.to_string()]);
    match seed {
        Some(seed) => command.arguments(["--seed", &seed.to_string()]).outcome(),
        None => command.outcome(),
    }
}

fn torture(at: &Setting, proof: &str) -> Command {
    Command::new(at, at.binary("callgate-torture"))
        .arguments([proof, "--binary"])
        .argument(at.binary("callgate"))
        .failing_like(at)
}

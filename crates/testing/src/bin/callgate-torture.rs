//! The proofs that need a whole gate, as a program: `kill` and `order`. Ends with 1 when a promise is broken.

use std::path::PathBuf;
use std::process::ExitCode;

use callgate_testing::fixture;
use callgate_testing::report::Report;
use callgate_testing::torture::{Ground, kill, order};
use clap::{Parser, Subcommand};

/// Kills and traces a gate.
#[derive(Debug, Parser)]
#[command(name = "callgate-torture")]
struct Cli {
    #[command(subcommand)]
    proof: Proof,
}

#[derive(Debug, Subcommand)]
enum Proof {
    /// Kill the gate at random moments and look at what is left.
    Kill {
        /// The gate's program.
        #[arg(long)]
        binary: PathBuf,
        /// How many kills.
        #[arg(long, default_value_t = 200)]
        rounds: u32,
        /// Where the random numbers start, to have a run again [default: the clock].
        #[arg(long)]
        seed: Option<u64>,
    },
    /// Trace the gate (with strace) and look at the order of its writes.
    Order {
        /// The gate's program.
        #[arg(long)]
        binary: PathBuf,
    },
}

fn main() -> anyhow::Result<ExitCode> {
    fixture::run_if_asked();
    let folder = tempfile::tempdir()?;
    let ground = |binary: PathBuf| -> anyhow::Result<Ground> {
        Ok(Ground { binary: std::path::absolute(binary)?, folder: folder.path().to_owned() })
    };
    let mut report = Report::default();
    match Cli::parse().proof {
        Proof::Kill { binary, rounds, seed } => {
            let seed = seed.map_or_else(seed_from_clock, Ok)?;
            kill::run(&ground(binary)?, rounds, seed, &mut report)?;
        }
        Proof::Order { binary } => order::run(&ground(binary)?, &mut report)?,
    }
    Ok(if report.close() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[expect(clippy::disallowed_methods, reason = "a fresh seed is what the clock is for")]
fn seed_from_clock() -> anyhow::Result<u64> {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?;
    Ok(since.as_secs() ^ u64::from(since.subsec_nanos()))
}

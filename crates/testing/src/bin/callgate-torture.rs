//! The long proofs as a program: `kill`, `order` and `frames` of a whole gate, and `simulate`. Ends with 1 when a promise is broken.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use callgate_testing::fixture;
use callgate_testing::report::Report;
use callgate_testing::simulation;
use callgate_testing::torture::frames::{self, Frames, garbler};
use callgate_testing::torture::kill::Kills;
use callgate_testing::torture::{Ground, kill, order, order_postgres};
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
        /// How many kills of the gate on each store.
        #[arg(long, default_value_t = 200)]
        rounds: u32,
        /// In how many of the rounds on PostgreSQL its server is killed, too.
        #[arg(long, default_value_t = 20)]
        server_kills: u32,
        /// One store alone.
        #[arg(long, value_enum)]
        store: Option<Store>,
        /// Where the random numbers start, to have a run again [default: the clock].
        #[arg(long)]
        seed: Option<u64>,
    },
    /// Play simulated schedules: callers, gates, store, network, upstreams, operators and the clock from one seed each.
    Simulate {
        /// How many schedules.
        #[arg(long, default_value_t = 100_000)]
        schedules: u64,
        /// The seed of the first one; the others follow it.
        #[arg(long, default_value_t = 0)]
        seed: u64,
    },
    /// Trace the gate (with strace, and with a proxy before PostgreSQL) and look at the order of its writes.
    Order {
        /// The gate's program.
        #[arg(long)]
        binary: PathBuf,
    },
    /// Send broken frames to the gate, as clients and as servers, over standard input and output and over HTTP.
    Frames {
        /// The gate's program.
        #[arg(long)]
        binary: PathBuf,
        /// How many minutes; a part of one is good, too.
        #[arg(long, default_value_t = 60.0)]
        minutes: f64,
        /// Where the random numbers start, to have a run again [default: the clock].
        #[arg(long)]
        seed: Option<u64>,
    },
}

/// Where the records are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Store {
    Sqlite,
    Postgres,
}

fn main() -> anyhow::Result<ExitCode> {
    fixture::run_if_asked();
    garbler::run_if_asked();
    let folder = tempfile::tempdir()?;
    let ground = |binary: PathBuf| -> anyhow::Result<Ground> {
        Ok(Ground { binary: std::path::absolute(binary)?, folder: folder.path().to_owned(), store: None })
    };
    let mut report = Report::default();
    match Cli::parse().proof {
        Proof::Kill { binary, rounds, server_kills, store, seed } => {
            let seed = seed.map_or_else(seed_from_clock, Ok)?;
            let ground = ground(binary)?;
            if store != Some(Store::Postgres) {
                kill::run(&ground, Kills { rounds, server_kills: 0, seed }, &mut report)?;
            }
            if store != Some(Store::Sqlite) {
                kill::run_postgres(&ground, Kills { rounds, server_kills, seed }, &mut report)?;
            }
        }
        Proof::Simulate { schedules, seed } => simulate(seed, schedules, &mut report),
        Proof::Frames { binary, minutes, seed } => {
            let seed = seed.map_or_else(seed_from_clock, Ok)?;
            let time = Duration::try_from_secs_f64(minutes * 60.0)?;
            frames::run(&ground(binary)?, Frames { time, seed }, &mut report)?;
        }
        Proof::Order { binary } => {
            order::run(&ground(binary.clone())?, &mut report)?;
            order_postgres::run(&ground(binary)?, &mut report)?;
        }
    }
    Ok(if report.close() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn simulate(seed: u64, schedules: u64, report: &mut Report) {
    let name = format!("{schedules} schedules from seed {seed} keep all promises");
    match simulation::run(seed..seed.saturating_add(schedules)) {
        Ok(summary) => {
            report.say(&format!("{summary:?}"));
            report.check(&name, None);
        }
        Err(broken) => report.check(&name, Some(broken.to_string())),
    }
}

#[expect(clippy::disallowed_methods, reason = "a fresh seed is what the clock is for")]
fn seed_from_clock() -> anyhow::Result<u64> {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?;
    Ok(since.as_secs() ^ u64::from(since.subsec_nanos()))
}

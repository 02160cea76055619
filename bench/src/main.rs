//! Measurements: the engine beside its peers, and what the gate adds to a call. Machines are noisy, so everything that
//! is compared is measured in turns within one run, and ratios are what counts.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark reads clocks and files, and prints what it measured"
)]

mod coercion;
mod engine;
mod gate;
mod wire;

use clap::{Parser, Subcommand};

/// Measure the engine or the gate.
#[derive(Debug, Parser)]
struct Cli {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// From bytes to verdict, beside `serde_json` alone and `serde_json` with `jsonschema`
    Engine,
    /// From a text map of ten members to the values that its schema asks for, beside `serde_json` alone
    Coercion,
    /// What `callgate wrap` adds to a call, and calls a second with several at once
    Gate(gate::Args),
    /// An entity snapshot, parsed and printed, beside `serde_json`
    Wire,
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().what {
        What::Engine => engine::run(),
        What::Coercion => coercion::run(),
        What::Gate(args) => gate::run(&args),
        What::Wire => wire::run(),
    }
}

/// The value below which `percent` of a hundred of the sorted values lie.
fn percentile(sorted: &[f64], percent: usize) -> f64 {
    let at = (sorted.len().saturating_sub(1)) * percent / 100;
    sorted.get(at).copied().unwrap_or_default()
}

/// The geometric mean.
fn geometric_mean(values: &[f64]) -> f64 {
    let count = u32::try_from(values.len().max(1)).map_or(1.0, f64::from);
    (values.iter().map(|value| value.ln()).sum::<f64>() / count).exp()
}

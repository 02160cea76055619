//! `cargo run --release -p callgate-bench -- WHAT`: measures and prints.

use callgate_bench::{callers, coercion, engine, gate, instructions, serve, stages, wire};
use clap::{Parser, Subcommand};

/// Measure the engine or the gate.
#[derive(Debug, Parser)]
struct Cli {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// From bytes to verdict, beside other validators and parsers
    Engine(engine::Args),
    /// Instructions of small workloads under valgrind, beside a baseline
    Instructions(instructions::Args),
    /// The workloads that are counted; valgrind starts this
    #[command(hide = true)]
    InstructionsWorkloads,
    /// From a text map of ten members to the values that its schema asks for, beside `serde_json` alone
    Coercion,
    /// What `callgate wrap` adds to a call, and calls a second with several at once
    Gate(gate::Args),
    /// What `callgate serve` adds to a call over HTTP, calls a second, and memory, beside another gateway
    Serve(serve::Args),
    /// One process of the measurement of `serve`, which starts it
    #[command(hide = true)]
    ServePart {
        #[command(subcommand)]
        role: serve::Role,
    },
    /// Durable commits a second with 1, 8 and 64 callers on each store, beside the disk's single syncs
    Callers(callers::Args),
    /// The stages of a call from the catalog to the dispatch, with the journal in memory
    Stages,
    /// An entity snapshot, parsed and printed, beside `serde_json`
    Wire,
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().what {
        What::Engine(args) => engine::run(&args),
        What::Instructions(args) => instructions::run(&args),
        What::InstructionsWorkloads => instructions::workloads(),
        What::Coercion => coercion::run(),
        What::Gate(args) => gate::run(&args),
        What::Serve(args) => serve::run(&args),
        What::ServePart { role } => serve::part(&role),
        What::Callers(args) => callers::run(&args),
        What::Stages => stages::run(),
        What::Wire => wire::run(),
    }
}

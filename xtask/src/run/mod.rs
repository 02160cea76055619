//! `cargo xtask test` and `cargo xtask torture`: the checks as a list of steps, the cheapest first.

mod cases;
mod command;
mod engine;
mod peers;
mod proofs;
mod step;

use crate::{tidy, tree::Tree};
use anyhow::Result;
use clap::Args;
use command::Command;
use std::path::{Path, PathBuf};
use step::{Outcome, Plan, Setting};

/// How `test` runs.
#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// A tool or a collection that is missing is a failure, not a skip. Also on where `CI` is `true`.
    #[arg(long)]
    ci: bool,
    /// Leaves out the tests against public clients and servers and the protocol's conformance suite, which fetch packages
    /// the first time.
    #[arg(long)]
    no_peers: bool,
    /// Runs this step alone; can be given several times.
    #[arg(long, value_name = "STEP")]
    only: Vec<String>,
    /// The folder with the large collections: case files, public catalogs, recorded calls.
    #[arg(long, value_name = "FOLDER")]
    shared: Option<PathBuf>,
}

/// How `torture` runs.
#[derive(Debug, Args)]
pub(crate) struct TortureArgs {
    /// How often the gate is killed on each store.
    #[arg(long, default_value_t = 1_000)]
    rounds: u32,
    /// How many schedules are simulated.
    #[arg(long, default_value_t = 100_000)]
    schedules: u64,
    /// How many seconds the engine's fuzz targets are driven, all at once.
    #[arg(long, default_value_t = 1_200)]
    fuzz_seconds: u64,
    /// Where the random changes of the fuzz targets' inputs begin.
    #[arg(long, default_value_t = 2)]
    seed: u64,
    /// How many minutes broken frames are sent to the gate.
    #[arg(long, default_value_t = 60.0)]
    frames_minutes: f64,
    /// On how many schemas the engine is compared with the reference evaluator and with other validators.
    #[arg(long, default_value_t = 100_000)]
    schemas: u64,
    /// Runs this step alone; can be given several times.
    #[arg(long, value_name = "STEP")]
    only: Vec<String>,
    /// A tool that is missing is a failure, not a skip. Also on where `CI` is `true`.
    #[arg(long)]
    ci: bool,
}

/// How often the short proof kills the gate.
const ROUNDS_SHORT: u32 = 20;

/// How many schedules the short proof simulates.
const SCHEDULES_SHORT: u64 = 2_000;

/// How long the short proof drives the fuzz targets, from which seed.
const FUZZ_SECONDS_SHORT: u64 = 60;
const FUZZ_SEED_SHORT: u64 = 1;

/// How long the short proof sends broken frames, from which seed.
const FRAMES_MINUTES_SHORT: f64 = 0.5;
const FRAMES_SEED_SHORT: u64 = 1;

/// Runs every check. `false` if one of them failed.
pub(crate) fn test(root: &Path, args: &TestArgs) -> bool {
    let mut setting = Setting::new(root, args.ci);
    if let Some(shared) = &args.shared {
        setting.shared.clone_from(shared);
    }
    let mut plan = Plan::new(setting, args.only.clone());
    plan.run("format", |at| cargo(at, &["fmt", "--all", "--check"]));
    plan.run("lints", |at| cargo(at, &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]));
    plan.run("tidy", |at| {
        let report = tidy::inspect(&Tree::read(&at.root)?)?;
        print!("{report}");
        Ok(if report.is_clean() {
            Outcome::passed("")
        } else {
            Outcome::failed(format!("{} faults", report.faults()))
        })
    });
    plan.run("dependencies", dependencies);
    plan.run("tests", |at| {
        if at.has("cargo-nextest") {
            cargo(at, &["nextest", "run", "--workspace"])
        } else {
            println!("cargo-nextest is not here: cargo's own runner does it");
            cargo(at, &["test", "--workspace", "--all-targets"])
        }
    });
    plan.run("doctests", |at| cargo(at, &["test", "--workspace", "--doc"]));
    plan.run("fuzz", |at| engine::fuzz(at, FUZZ_SECONDS_SHORT, FUZZ_SEED_SHORT));
    plan.run("release build", release);
    for collection in cases::COLLECTIONS {
        plan.run(collection.name, |at| cases::run(at, collection));
    }
    plan.run("simulation", |at| proofs::simulate(at, SCHEDULES_SHORT));
    plan.run("kill", |at| proofs::kill(at, ROUNDS_SHORT));
    plan.run("order of writes", proofs::order);
    plan.run("frames", |at| proofs::frames(at, FRAMES_MINUTES_SHORT, Some(FRAMES_SEED_SHORT)));
    plan.run("instructions", engine::instructions);
    if args.no_peers {
        plan.skip("peers", "left out by --no-peers");
        plan.skip("conformance", "left out by --no-peers");
    } else {
        plan.run("peers", peers::run);
        plan.run("conformance", peers::conformance);
    }
    plan.finish()
}

/// Runs the long proofs. `false` if one of them failed.
pub(crate) fn torture(root: &Path, args: &TortureArgs) -> bool {
    let mut plan = Plan::new(Setting::new(root, args.ci), args.only.clone());
    plan.run("release build", release);
    plan.run("simulation", |at| proofs::simulate(at, args.schedules));
    plan.run("kill", |at| proofs::kill(at, args.rounds));
    plan.run("order of writes", proofs::order);
    plan.run("frames", |at| proofs::frames(at, args.frames_minutes, None));
    plan.run("engine and reference", |at| engine::reference(at, args.schemas));
    plan.run("engine and other validators", |at| engine::others(at, args.schemas));
    plan.run("fuzz", |at| engine::fuzz(at, args.fuzz_seconds, args.seed));
    plan.finish()
}

fn cargo(at: &Setting, arguments: &[&str]) -> Result<Outcome> {
    Command::cargo(at).arguments(arguments).outcome()
}

/// The binaries that the steps after this one run.
fn release(at: &Setting) -> Result<Outcome> {
    cargo(at, &["build", "--release", "--package", "callgate", "--package", "callgate-testing"])
}

/// Licences, banned crates and sources of everything that is built in.
fn dependencies(at: &Setting) -> Result<Outcome> {
    if !at.has("cargo-deny") {
        return Ok(at.missing("cargo-deny is not here (cargo install --locked cargo-deny)"));
    }
    cargo(at, &["deny", "--workspace", "check", "licenses", "bans", "sources"])
}

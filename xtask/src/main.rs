//! The chores of the workspace: `cargo xtask tidy`, `cargo xtask test`, `cargo xtask torture`.
//!
//! Nothing here ships. `tidy` reads the tree and says what is out of order; `test` runs every check there is, in the
//! order in which a failure is cheapest to find; `torture` runs the long proofs of the gate's promises.
#![expect(clippy::disallowed_methods, reason = "chores read files, clocks and the environment")]
#![expect(clippy::print_stdout, reason = "chores talk to the person who runs them")]

mod run;
mod source;
mod tidy;
mod tree;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The chores of the Callgate workspace.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Debug, Subcommand)]
enum Chore {
    /// Says what is out of order in the tree: sizes, arrows, codes without pages, documents that name what is not there.
    Tidy {
        /// Writes again what follows from the code alone: the index of the error codes.
        #[arg(long)]
        mend: bool,
    },
    /// Runs every check, from formatting to the proofs on the release binary.
    Test(run::TestArgs),
    /// Runs the long proofs: kills at random moments, and the order of writes under strace.
    Torture(run::TortureArgs),
}

fn main() -> Result<ExitCode> {
    let root = workspace_root()?;
    let good = match Cli::parse().chore {
        Chore::Tidy { mend } => {
            if mend {
                tidy::mend(&root)?;
            }
            let report = tidy::inspect(&tree::Tree::read(&root)?)?;
            print!("{report}");
            report.is_clean()
        }
        Chore::Test(args) => run::test(&root, &args),
        Chore::Torture(args) => run::torture(&root, &args),
    };
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The folder that holds the workspace; found from where this crate was built, so that the chores run from anywhere.
fn workspace_root() -> Result<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().map(Path::to_path_buf).context("the chores' crate lies in no folder")
}

//! The gate, the worker and the demo through the built program: rows of data first, then scenes that need more.
//!
//! `cases/gate.jsonl`, `cases/operator.jsonl` and `cases/worker/*.jsonl` are expanded to one named test a row.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test that cannot read its rows, or finds an answer without what it must have, shall stop"
)]

mod expectation;
mod operator;
mod play;
mod postgres;
mod reconciled;
mod row;
mod scenes;
mod served;
mod worker;

use std::path::{Path, PathBuf};

use libtest_mimic::{Arguments, Failed, Trial};

/// The program under test.
const BINARY: &str = env!("CARGO_BIN_EXE_callgate");

fn main() -> std::process::ExitCode {
    // The scripted tool server is this program again.
    callgate_testing::fixture::run_if_asked();
    let arguments = Arguments::from_args();
    let mut trials = play::trials();
    trials.extend(worker::trials());
    trials.extend(operator::trials());
    trials.extend(reconciled::trials());
    trials.extend(scenes::trials());
    trials.extend(served::trials());
    trials.extend(postgres::trials());
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// The folder of the case files.
fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases")
}

/// A test of this name that shows an error with all its causes.
fn trial(name: String, run: impl FnOnce() -> anyhow::Result<()> + Send + 'static) -> Trial {
    Trial::test(name, move || run().map_err(|error| Failed::from(format!("{error:#}"))))
}

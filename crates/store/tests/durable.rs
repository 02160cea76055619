//! What becomes of records, step by step: each row of `cases/durable.jsonl` is played on a file.

use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};

use callgate_gateway::journal::{Answer, Command, Journal, JournalError, Ledger as _};
use callgate_store::SqliteJournal;
use callgate_testing::durable;
use callgate_testing::journal::Interposed;
use callgate_wire::{Incarnation, Timestamp};
use libtest_mimic::Trial;
use tempfile::TempDir;

fn main() -> std::process::ExitCode {
    let arguments = libtest_mimic::Arguments::from_args();
    let mut trials = durable::trials("sqlite", fresh);
    trials.push(Trial::test("sqlite: every step fails, or its answer is lost, and is given again", || {
        let played = durable::play_with_faults(fresh)?;
        if played > 300 { Ok(()) } else { Err(format!("played {played} rows only").into()) }
    }));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// A journal on a file of its own, which goes with it.
#[expect(clippy::unwrap_used, reason = "a test ends where it cannot go on")]
fn fresh() -> impl Journal + 'static {
    static NEXT: AtomicU8 = AtomicU8::new(0);
    // What is on the disk is for other tests; these open a file for each of hundreds of plays.
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { TempDir::new_in(memory).unwrap() } else { TempDir::new().unwrap() };
    let incarnation = Incarnation::from_bytes([NEXT.fetch_add(1, Ordering::Relaxed); 16]);
    let path = folder.path().join("store.sqlite");
    let journal = SqliteJournal::open_gate(&path, incarnation, std::process::id(), Timestamp(0)).unwrap();
    let pass = move |journal: &SqliteJournal, command: Command| -> Result<Answer, JournalError> {
        let _held = &folder;
        journal.commit(command)
    };
    Interposed::new(journal, pass)
}

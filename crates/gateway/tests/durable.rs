//! What becomes of records, step by step: each row of `cases/durable.jsonl` is played on a journal in memory.

use callgate_gateway::journal::MemoryJournal;
use callgate_testing::durable;
use callgate_wire::Incarnation;
use libtest_mimic::Trial;

fn main() -> std::process::ExitCode {
    let arguments = libtest_mimic::Arguments::from_args();
    let fresh = || MemoryJournal::new(Incarnation::from_bytes([9; 16]));
    let mut trials = durable::trials("memory", fresh);
    trials.push(Trial::test(
        "memory: every step fails, or its answer is lost, and is given again",
        move || {
            let played = durable::play_with_faults(fresh)?;
            if played > 300 { Ok(()) } else { Err(format!("played {played} rows only").into()) }
        },
    ));
    libtest_mimic::run(&arguments, trials).exit_code()
}

//! What becomes of records, step by step: each row of `cases/durable.jsonl` is played on a journal in memory.

use callgate_gateway::journal::MemoryJournal;
use callgate_wire::Incarnation;

fn main() -> std::process::ExitCode {
    let arguments = libtest_mimic::Arguments::from_args();
    let fresh = || MemoryJournal::new(Incarnation::from_bytes([9; 16]));
    libtest_mimic::run(&arguments, callgate_testing::durable::trials("memory", fresh)).exit_code()
}

//! Counts the allocations of one verdict in each case of a folder, and prints them as JSON for `callgate-bench engine`.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::alloc::System;
use std::path::PathBuf;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() -> anyhow::Result<()> {
    let folder = std::env::args_os().nth(1).map_or_else(callgate_bench::case::own, PathBuf::from);
    let total = || {
        let stats = ALLOCATOR.stats();
        stats.allocations + stats.reallocations
    };
    println!("{}", callgate_bench::engine::count(&folder, &total)?);
    Ok(())
}

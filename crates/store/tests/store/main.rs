//! The store as gates, readers and other processes use it.
#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests make files, start processes, measure and print time, and end where they cannot go on"
)]

mod faults;
mod files;
mod journal;
mod kit;
mod operations;
mod processes;
mod scale;
mod support;
mod versions;

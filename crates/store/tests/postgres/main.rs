//! The store on PostgreSQL as gates, operators and other processes use it, on a server that the tests start.
#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests start processes, measure time, and end where they cannot go on"
)]

mod crashes;
mod encryption;
mod kit;
mod leases;
mod opening;
mod records;
mod retention;
mod sharing;
mod support;

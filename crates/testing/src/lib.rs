//! What the tests need and users do not: a scripted tool server, a raw client, and the proofs that kill and trace the
//! gate.
//!
//! Nothing here knows the gate's crates. The fixture and the client are written against the protocol alone, so that a
//! mistake of ours is not made twice and hidden by that. The crate is for development only and no program that users
//! get depends on it.
#![expect(
    clippy::disallowed_methods,
    reason = "tests start processes, read clocks and write files; the bans are for the library crates"
)]

pub mod fixture;
pub mod peer;
pub mod report;
pub mod torture;

//! What the tests need and users do not: a scripted tool server, a raw client, and the proofs that kill and trace the
//! gate.
//!
//! The fixture, the client and the proofs know nothing of the gate's crates: they are written against the protocol alone,
//! so that a mistake of ours is not made twice and hidden by that. What plays rows on a journal knows its port. The crate is for development only and no program that users
//! get depends on it.
#![expect(
    clippy::disallowed_methods,
    reason = "tests start processes, read clocks and write files; the bans are for the library crates"
)]

pub mod durable;
pub mod fixture;
pub mod journal;
pub mod peer;
pub mod postgres;
pub mod report;
pub mod simulation;
pub mod torture;
pub mod transitions;

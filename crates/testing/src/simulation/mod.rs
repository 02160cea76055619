//! Simulated schedules: one seed drives callers, gates, the store, the network, upstreams, operators and the clock.
//!
//! | file | holds |
//! |---|---|
//! | `schedule` | START HERE: the steps of a schedule, made from a seed, and shrunk when they find a fault |
//! | `world` | what the steps happen to |
//! | `promises` | what must hold after every step |
//!
//! The commands, transitions and outcome table are the real ones; the store is the one in memory, whose commits can fail
//! before or after they are done. Nothing here waits or reads a clock, so that a seed always gives the same schedule.

mod promises;
mod schedule;
mod world;

pub use schedule::{Broken, Summary, run};

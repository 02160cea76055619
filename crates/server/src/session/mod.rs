//! The session between one client and one upstream. One task owns all of its state; reading, writing, checking and the
//! journal happen elsewhere and come back as events, so that no step here ever waits.
//!
//! | file | holds |
//! |---|---|
//! | `state` | what a session knows, and the work it has given away |
//! | `run` | the loop that takes one event at a time |
//! | `client` | what a client's frame leads to |
//! | `upstream` | what an upstream's frame leads to, and its end |
//! | `calls` | the way of a `tools/call` |
//! | `contract` | tools that are held, until an operator accepts their change |
//! | `departures` | the order in which calls leave |
//! | `conclude` | how a call ends: what is recorded and what its caller gets |
//! | `listing` | `tools/list`, from the first page to the catalog |
//! | `ending` | time that runs out, and the stop |
//! | `late` | requests that were given up and may be answered all the same |
//!
//! | what an upstream does | what comes of it |
//! |---|---|
//! | it ends | calls that have left are in doubt; every request is answered, now and later; the gate ends with the client |
//! | it is silent | after the allowance of time the request is given up and the upstream told; a late answer clears the doubt |
//! | it writes lines that are no frames, or unreadable ones that name no request | dropped, counted, logged ever more rarely |
//! | it answers unreadably | the call is in doubt, another request gets an error; a page of tools is taken apart all the same |
//! | it answers with too much | the tool has run, its output is dropped, the caller is told so |
//! | it answers twice, or what was not asked | the first answer counts; the rest is dropped and logged |
//! | it spells an id in another way | it is the same id, and goes back in the client's spelling |
//! | it asks unreadably | it gets an error |
//!
//! Every request of the client gets one answer, with one exception: a request that the client itself withdrew gets
//! none, as the protocol has it.

mod calls;
mod client;
mod conclude;
mod contract;
mod departures;
mod ending;
mod late;
mod listing;
mod run;
mod state;
mod upstream;

pub(crate) use calls::chain;
pub(crate) use conclude::{judge, late, record_with};
pub(crate) use contract::{Released, resolve_now};
pub(crate) use listing::report;
pub use run::{End, Peers, run};
pub use state::SessionSettings;
pub(crate) use upstream::forwarded;

#[cfg(test)]
mod tests;

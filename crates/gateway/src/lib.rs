//! The gate: which tools are admitted, and the one order in which a call passes.
//!
//! ```text
//! call ─ resolve ─ bind ─ authorize ─ open ─ (durable) ─ dispatch ─ observe ─ settle
//! ```
//!
//! [`registry`] holds the tools that an app writes itself, which pass the same stages. Start at [`call`]: one file a stage, each consuming what the stage before it produced, so that another order does
//! not compile. [`catalog`] decides which tools can be called at all, [`policy`] who may call them, [`budget`] what that
//! takes, [`intent`] and [`approval`] hold what can become
//! of records, one transition a file, and [`journal`] is the port to the store.
//!
//! What this crate does not do: no I/O, no clock, no randomness, no async. Ids and times are arguments, and what has
//! to be done in the world is a value that the caller gets back.
#![deny(missing_docs)]

pub mod approval;
pub mod budget;
pub mod call;
pub mod catalog;
pub mod intent;
pub mod journal;
pub mod policy;
pub mod registry;

mod refusal;

pub use callgate_wire::{Code, Stage};
pub use journal::{AdmissionRow, Committed, ContractChange, IntentFilter, Journal, JournalError};
pub use refusal::Refusal;

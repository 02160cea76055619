//! The journal on SQLite: intents, incarnations and admissions in one file that several processes share.
//!
//! | file | holds |
//! |---|---|
//! | `journal` | [`SqliteJournal`], what a gate opens: START HERE |
//! | `reader` | [`StoreReader`], what only looks |
//! | `file` | the file and its folder: made, guarded, opened |
//! | `migrate` | the versions of the schema, in `sql/` |
//! | `incarnation` | the lock by which others see that a gate lives |
//! | `writer` | the one thread that writes, and its group commit |
//! | `write/` | what it writes, one file an operation |
//! | `query` | what is read |
//! | `error` | what can go wrong, with its code |
//!
//! What this crate does not do: it decides nothing (the tables of `callgate_gateway::intent` do), reads no clock, and
//! lets no SQL out.
#![deny(missing_docs)]

mod error;
mod file;
mod incarnation;
mod journal;
mod migrate;
mod query;
mod reader;
mod write;
mod writer;

pub use error::StoreError;
pub use journal::SqliteJournal;
pub use reader::StoreReader;

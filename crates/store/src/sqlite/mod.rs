//! The gate's records in one SQLite file that several processes share.
//!
//! | file | holds |
//! |---|---|
//! | `journal` | [`SqliteJournal`], what a gate opens: START HERE |
//! | `ledger` | [`SqliteLedger`], by which an operator changes records beside gates that run |
//! | `reader` | [`StoreReader`], what only looks |
//! | `file` | the file and its folder: made, guarded, opened |
//! | `migrate` | the versions of the schema, in `sql/` |
//! | `incarnation` | the lock by which others see that a gate lives |
//! | `writer` | the one thread that writes, and its group commit |
//! | `rows` | what a command sees and does within a transaction |
//! | `reading` | what is read outside of one |
//! | `intents`, `approvals`, `budgets`, `catalog`, `history` | the rows of each, and all SQL about them |
//! | `columns` | how a row is read |
//! | `retention` | what is old is deleted |
//! | `backup`, `check` | a copy of a store that is in use, and whether one is whole |
//! | `place` | the kind of file system that a store lies on |

mod approvals;
mod backup;
mod budgets;
mod catalog;
mod check;
mod columns;
mod file;
mod history;
mod incarnation;
mod intents;
mod journal;
mod ledger;
mod migrate;
mod place;
#[cfg(test)]
mod plans;
mod reader;
mod reading;
mod retention;
mod rows;
mod writer;

pub use backup::backup_store;
pub use budgets::COUNTERS_LISTED_MAX;
pub use check::check_store;
pub use file::STORE_BYTES_MAX;
pub use journal::SqliteJournal;
pub use ledger::SqliteLedger;
pub use place::network_file_system;
pub use reader::StoreReader;

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

mod approvals;
mod budgets;
mod catalog;
mod columns;
mod file;
mod history;
mod incarnation;
mod intents;
mod journal;
mod ledger;
mod migrate;
mod reader;
mod reading;
mod rows;
mod writer;

pub use budgets::COUNTERS_LISTED_MAX;
pub use journal::SqliteJournal;
pub use ledger::SqliteLedger;
pub use reader::StoreReader;

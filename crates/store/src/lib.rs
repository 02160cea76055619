//! The gate's records in stores that several processes share.
//!
//! | file | holds |
//! |---|---|
//! | `sqlite/` | the records in one SQLite file: START HERE |
//! | `postgres/` | the records in a database of PostgreSQL: START HERE for that one |
//! | `names` | a list of names in one column |
//! | `report` | what is said of a store that was looked through, or in which old rows were deleted |
//! | `error` | what can go wrong, with its code |
//!
//! What this crate does not do: it decides nothing (`callgate_gateway::journal::Command` does), reads no clock, and lets
//! no SQL out.
#![deny(missing_docs)]

mod error;
mod names;
mod postgres;
mod report;
mod sqlite;

pub use error::StoreError;
pub use postgres::{
    LEASE_MS_DEFAULT, LEASE_MS_RANGE, PostgresJournal, PostgresLedger, PostgresPlace, READERS_DEFAULT,
    READERS_MAX, RENEWAL_MS_DEFAULT, SCHEMA_DEFAULT,
};
pub use report::{CHECK_FAULTS_MAX, CheckReport, Forgotten};
pub use sqlite::{
    COUNTERS_LISTED_MAX, STORE_BYTES_MAX, SqliteJournal, SqliteLedger, StoreReader, backup_store,
    check_store, network_file_system,
};

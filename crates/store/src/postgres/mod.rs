//! The journal on PostgreSQL: several gates, also on several machines, share one store.
//!
//! | file | holds |
//! |---|---|
//! | `journal` | [`PostgresJournal`] and [`PostgresLedger`], what a gate and an operator open: START HERE |
//! | `place` | [`PostgresPlace`], the address |
//! | `tls` | how the connection is kept from others |
//! | `connect` | a connection is made, and the server is asked whether it keeps what it confirms |
//! | `migrate` | the versions of the schema, in `sql/` |
//! | `writer` | the one thread that writes, and its group commit |
//! | `worker` | transactions are made, tried again, and found again when their answer was lost |
//! | `line` | a connection, and statements that are on their way at once |
//! | `prefetch` | what the commands of a batch will ask for, read at once |
//! | `batch`, `effects` | the records as a batch knows them, and what effects do to them |
//! | `pending` | what is to be written, one statement a kind |
//! | `reads` | what is read outside any transaction |
//! | `retention` | what is old is deleted |
//! | `sql` | the statements |
//! | `rows`, `text` | rows and texts, to and fro |
//! | `error` | what can go wrong, by what has to be done about it |
//!
//! Nothing here leans on a session: each transaction is SERIALIZABLE and says for itself what it needs, so that two gates
//! can never both decide over records that only one of them has seen. There are no advisory locks and no notifications.

mod batch;
mod connect;
mod effects;
mod error;
mod journal;
mod line;
mod migrate;
mod pending;
mod place;
mod prefetch;
mod reads;
mod retention;
mod rows;
mod sql;
mod text;
mod tls;
mod worker;
mod writer;

pub use journal::{PostgresJournal, PostgresLedger};
pub use place::{
    LEASE_MS_DEFAULT, LEASE_MS_RANGE, PostgresPlace, READERS_DEFAULT, READERS_MAX, RENEWAL_MS_DEFAULT,
    SCHEMA_DEFAULT,
};

//! What is written, one file an operation. Each runs inside the transaction of its batch.

pub(crate) mod admissions;
pub(crate) mod append;
pub(crate) mod recover;
pub(crate) mod settle;

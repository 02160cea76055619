//! What people read on a terminal: tables and colours.

pub(crate) mod table;

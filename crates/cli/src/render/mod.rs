//! What people read on a terminal: tables, texts from elsewhere made harmless, and the way to the standard streams.

pub(crate) mod diagnostic;
pub(crate) mod escape;
pub(crate) mod output;
pub(crate) mod table;

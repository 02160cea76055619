//! What people read on a terminal: tables, records, differences, texts from elsewhere made harmless, and the way to the standard streams.

pub(crate) mod diagnostic;
pub(crate) mod escape;
pub(crate) mod json_diff;
pub(crate) mod output;
pub(crate) mod record;
pub(crate) mod table;

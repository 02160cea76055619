//! Patterns: our own parser and tree of ECMA-262 regular expressions with the `u` flag, and the narrower language of
//! profile `portable`; what is regular is matched in linear time.
//!
//! ```text
//! text ─ parse ─▶ Tree ─ weigh ─┬─ regular, small ─▶ regex-automata
//!                               ├─ regular, large ─▶ threads   (every step counted)
//!                               └─ the rest ───────▶ backtrack (every step counted)
//! ```

mod compiled;
mod fault;

pub use compiled::{Language, Pattern};
pub use fault::PatternFault;

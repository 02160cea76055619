//! Patterns: our own parser and tree of ECMA-262 regular expressions with the `u` flag, and the narrower language of
//! profile `portable`; what is regular is matched in linear time.
//!
//! ```text
//! text ─ parse ─▶ Tree ─ weigh ─┬─ regular, small ─▶ automaton   regex-automata, charged by its size
//!                               ├─ regular, large ─▶ threads     linear too, every step counted
//!                               └─ the rest ───────▶ backtrack   every step counted
//! ```

mod automaton;
mod backtrack;
mod bracket;
mod compiled;
mod escape;
mod fault;
mod parse;
mod program;
mod property;
mod property_names;
mod sets;
mod table;
mod threads;
mod tree;
mod weigh;

pub(crate) use compiled::is_pattern;
pub use compiled::{Language, Pattern};
pub use fault::PatternFault;

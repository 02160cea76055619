//! The fast path: what most of a schema asks, laid out so that a good value is accepted at a glance.
//!
//! ```text
//! build    instructions ─▶ plan (a node a block), object (names), words (texts of `enum` and `const`), union, wide (branches)
//! accept   plan × source ─▶ accepted, or not sure
//! source   a value as the fast path sees it: on a tape, or a `serde_json::Value`
//! ```
//!
//! It only ever says yes. Whatever it does not accept, the instructions decide, and they alone say what is wrong; so a
//! keyword that has no place here is slower and nothing else. What it may take for granted is written once, in
//! [`build`], from the same instructions.

mod accept;
mod build;
mod object;
mod plan;
mod source;
mod trail;
mod union;
mod wide;
mod words;

pub(crate) use accept::{Ask, Fast};
pub(crate) use plan::FastPath;
pub(crate) use source::{TapeSource, TapeValue, ValueSource};
pub(crate) use trail::Trail;

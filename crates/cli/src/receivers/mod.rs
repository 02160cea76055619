//! Who takes a tool's schema as it is, and what becomes of it elsewhere.
//!
//! A receiver is an interface that a tool's schema is handed to: a model provider's, or a revision of the protocol. What
//! each of them does to a schema stands in `receivers/*.json`, one rule a row with its source; nothing here knows a
//! receiver by name.
//!
//! ```text
//! table     the rows
//! schemas   where schemas stand within a schema
//! judge     what a receiver does to this schema      shape: what a rule can look for beside keywords
//! project   the schema that it takes                 relax, tighten: the two ways of getting there
//! ```

mod tree;

mod table;

mod schemas;

mod shape;

mod judge;

mod project;

#[cfg(test)]
mod rows;

pub(crate) use judge::{Remark, judge};
pub(crate) use project::{Change, Effect, Projection, project};
#[cfg(test)]
pub(crate) use table::receivers;
pub(crate) use table::{Does, Receiver, Rule, named, names};
pub(crate) use tree::Tree;

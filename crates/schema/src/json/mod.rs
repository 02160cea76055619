//! JSON text read onto a tape: one representation for schemas, arguments and frames.
//!
//! Reading decides, without a schema and without recursion: UTF-8, grammar, repeated names (in every object, compared
//! after unescaping), lone surrogates, depth, counts and the size of numbers. What was read keeps its bytes: numbers
//! keep their spelling and members their order.
//!
//! ```text
//! reading    tape → reader → scan, names, number     a fault: place (its JSON Pointer), position (line and column)
//! looking    node → value (equality), number, text
//! writing    canonical, text
//! ```

mod tape;

mod reader;

mod fault;
mod names;
mod place;
mod position;
mod scan;
mod token;

mod node;
mod number;
mod text;
mod value;

mod canonical;
mod skim;

#[cfg(test)]
mod tests;

pub(crate) use names::Head;
pub(crate) use scan::{first_words, head_within};
pub(crate) use text::{char_count, stands_for};
pub(crate) use token::{Token, kind};

pub use canonical::{Digest, ParseDigestError, canonical, digest};
pub use fault::{ReadFault, ReadFaultKind, ReadLimits};
pub use names::name_hash;
pub use node::{Items, Kind, Member, Members, Node, NodeId};
pub use number::Number;
pub use position::{Position, position};
pub use skim::{MemberSpans, SkimFault, skim_items, skim_members};
pub use tape::{Document, Tape};
pub use text::write_string;

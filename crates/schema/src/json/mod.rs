//! JSON text read onto a tape: one representation for schemas, arguments and frames.
//!
//! Reading decides, without a schema and without recursion: UTF-8, grammar, repeated names (in every object, compared
//! after unescaping), lone surrogates, depth, counts and the size of numbers. What was read keeps its bytes: numbers
//! keep their spelling and members their order.

mod canonical;
mod fault;
mod node;
mod number;
mod position;
mod reader;
mod skim;
mod tape;
mod text;

pub use canonical::{canonical, digest, Digest};
pub use fault::{ReadFault, ReadFaultKind, ReadLimits};
pub use node::{Items, Kind, Member, Members, Node, NodeId};
pub use number::Number;
pub use position::{Position, position};
pub use skim::{SkimFault, skim_items, skim_members};
pub use tape::{Document, Tape};
pub use text::write_string;

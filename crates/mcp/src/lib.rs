//! MCP for the gate: frames in, frames out.
//!
//! | module | holds |
//! |---|---|
//! | `adapter` | a registry as a server |
//! | `frame` | one line of text becomes one decision about it |
//! | `list` | `tools/list`, taken apart and put together |
//! | `outcome` | refusals and doubts as the caller sees them |
//! | `mend` | the changes that are made to a result |
//! | `reserved` | the members of `_meta` that are the gate's alone |
//! | `agent` | results of handlers as answers of the protocol, and back |
//! | `answer` | the frames that the gate writes itself |
//! | `error_map` | which code becomes which answer |
//! | `relay` | what a gate before many servers changes on the way |
//! | `revision` | the revisions of the protocol, one file each |
//! | `visit` | what a client says that only wants the list of tools |
//!
//! What this crate does not do: it has no sockets, no tasks and no clock, and it keeps no session. `server` does.

mod edit;
mod id;
mod limits;

pub mod adapter;
pub mod agent;
pub mod answer;
pub mod error_map;
pub mod frame;
pub mod list;
pub mod mend;
pub mod outcome;
pub mod relay;
pub mod reserved;
pub mod revision;
pub mod rpc;
pub mod visit;

pub use id::RequestId;
pub use limits::FrameLimits;

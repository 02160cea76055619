//! Every type that crosses a boundary: what is stored, and what is said to a caller or an operator.
//!
//! | module | holds |
//! |---|---|
//! | `code` | the stable codes of the gate, and the classes and stages they belong to |
//! | `principal` | on whose behalf a call is made |
//! | `intent` | the durable record of a call: what was asked, and how it ended |
//! | `value` | JSON values that are carried as they were spelled |
//! | `result` | how a handler's call ended: data and artifacts, or a code and details |
//! | `wire_args` | typed access to a map of texts |
//! | `value_error` | why a value of the wire was not taken |
//!
//! What this crate does not do: it decides nothing, opens nothing, and reads no clock. Ids and times are given to it.
#![deny(missing_docs)]

mod class;
mod code;
mod intent;
mod principal;
mod result;
mod stage;
mod value;
mod value_error;
mod wire_args;

pub use class::Class;
pub use code::Code;
pub use intent::{
    Attempt, INTENT_FORMAT, Incarnation, Intent, IntentId, IntentRecord, IntentState, MalformedId,
    Settlement, SideEffect, Timestamp,
};
pub use principal::Principal;
pub use result::{AgentResult, Artifact, Content, Failure, FailureCode, MESSAGE_OK, Success, TEXT_PLAIN};
pub use stage::Stage;
pub use value::{Json, Object, ValueLimits};
pub use value_error::{ValueCode, ValueError};
pub use wire_args::WireArgs;

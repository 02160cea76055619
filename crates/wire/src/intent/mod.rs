//! The durable record of a call: what was asked, by whom, under which contract, and how it ended.
//!
//! | file | holds |
//! |---|---|
//! | `id` | the ids of intents and of the processes that open them |
//! | `state` | the closed sets of states and side effects |
//! | `record` | the record itself |

mod id;
mod record;
pub(crate) mod state;

pub use id::{ApprovalId, Attempt, Incarnation, IntentId, MalformedId, Timestamp};
pub use record::{INTENT_FORMAT, Intent, IntentRecord, Pinned, Settlement};
pub use state::{IntentState, SideEffect};

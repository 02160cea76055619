//! Every type that crosses a boundary: what is stored, and what is said to a caller or an operator.
//!
//! | module | holds |
//! |---|---|
//! | `code` | the stable codes of the gate, and the classes and stages they belong to |
//! | `principal` | on whose behalf a call is made |
//! | `approval` | a request that a person permit one call |
//! | `budget` | what a call takes from a budget |
//! | `event` | what was done to records |
//! | `intent` | the durable record of a call: what was asked, and how it ended |
//! | `value` | JSON values that are carried as they were spelled |
//! | `result` | how a handler's call ended: data and artifacts, or a code and details |
//! | `wire_args` | typed access to a map of texts |
//! | `resource` | URIs of resources, templates, the input schemas of reading |
//! | `entity` | references, snapshots, types, and the rows of an index |
//! | `value_error` | why a value of the wire was not taken |
//!
//! What this crate does not do: it decides nothing, opens nothing, and reads no clock. Ids and times are given to it.
#![deny(missing_docs)]

mod approval;
mod budget;
mod class;
mod code;
mod entity;
mod event;
mod intent;
mod principal;
mod resource;
mod result;
mod stage;
mod value;
mod value_error;
mod wire_args;

pub use approval::{Approval, ApprovalRecord, ApprovalState, Decision};
pub use budget::Charge;
pub use class::Class;
pub use code::Code;
pub use entity::{
    ENTITY_PROPERTIES_MAX, EntityProperty, EntityRef, EntitySnapshot, EntityType, Moment, PropertyRole,
    PropertyType,
};
pub use event::{Event, EventKind};
pub use intent::{
    ApprovalId, Attempt, INTENT_FORMAT, Incarnation, Intent, IntentId, IntentRecord, IntentState,
    MalformedId, Pinned, Settlement, SideEffect, Timestamp,
};
pub use principal::Principal;
pub use resource::{
    Scheme, TEMPLATE_VARIABLES_DEFAULT, UriTemplate, resource_input_schema, resource_uri,
    schema_of_registration, template_input_schema,
};
pub use result::{
    APPLICATION_JSON, AgentResult, Artifact, Content, ENVELOPE_VERSION, Envelope, Failure, FailureCode,
    MESSAGE_OK, ResourceEnvelope, Success, TEXT_PLAIN,
};
pub use stage::Stage;
pub use value::{Json, Object, ValueLimits};
pub use value_error::{ValueCode, ValueError};
pub use wire_args::WireArgs;

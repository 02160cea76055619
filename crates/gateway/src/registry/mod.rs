//! The registry: tools and resources that an app writes in Rust, called through the same stages as those of a server.
//!
//! ```text
//! invoke ─ look up ─ coerce ─ resolve ─ bind ─ authorize ─ validator ─ open ─ (durable) ─ handler ─ observe ─ settle
//!                    [by option] └────────────── `crate::call`, as for every tool ──────────────┘
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `descriptor` | what an entry is called and what it says of itself |
//! | `handler` | the function behind it, what it is given and how it fails |
//! | `entry` | an entry in the registry, compiled |
//! | `state` | register, unregister, look up: entries and types of entities, in the order in which they came |
//! | `event` | what changed, to whom it matters |
//! | `invoke` | the way of one call |
//! | `runtime` | modules and adapters, started in order and undone in reverse |
//! | `adapter` | what a transport does with a registry |
//! | `text_map` | the transport of text maps |
//! | `kit` | what every registry and every adapter must do, as functions that tests call |
//!
//! ```
//! use callgate_gateway::registry::{Descriptor, Registration, Registry, Request, kit::MemoryJournal};
//! use callgate_wire::{AgentResult, Object};
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Add {
//!     a: i64,
//!     b: i64,
//! }
//!
//! let registry = Registry::new(MemoryJournal::ports());
//! let add = Descriptor::tool("maths", "add", "Adds two whole numbers")?;
//! registry.register(Registration::typed(add, |_, Add { a, b }| Ok(AgentResult::success(Object::new().with("sum", a + b))))?)?;
//!
//! let result = registry.invoke(&Request::new("maths_add", br#"{"a": 20, "b": 22}"#));
//! assert_eq!(result.data().map(Object::as_str), Some(r#"{"sum":42}"#));
//! let result = registry.invoke(&Request::new("maths_add", br#"{"a": 20}"#));
//! assert_eq!(result.code().map(|code| code.as_str()), Some("validation_error"));
//! # Ok::<(), callgate_gateway::registry::RegistryError>(())
//! ```

mod adapter;
mod descriptor;
mod entry;
mod error;
mod event;
mod handler;
mod invoke;
pub mod kit;
mod runtime;
mod state;
mod text_map;

pub use adapter::{Adapter, AdapterError, Unpublished};
pub use descriptor::{Descriptor, EntryKind};
pub use entry::Entry;
pub use error::RegistryError;
pub use event::{Canceller, Change, EVENTS_WAITING_MAX, Event, Subscription};
pub use handler::{Handler, HandlerError, Invocation, Registration, Validator};
pub use invoke::{CoercionMode, Fault, Request};
pub use runtime::{Module, Runtime};
pub use state::{Ports, Registered, Registry, Settings};
pub use text_map::TextMapAdapter;

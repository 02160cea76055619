//! The registry: names, entries, calls, events, modules, types of entities, and the contract kits on its own adapters.
#![expect(clippy::unwrap_used, reason = "what is not there fails the test")]

mod calls;
mod contracts;
mod entity_types;
mod entries;
mod events;
mod names;
mod runtime;

use std::sync::{Arc, Mutex};

use callgate_gateway::registry::kit::MemoryJournal;
use callgate_gateway::registry::{Descriptor, Registration, Registry, Settings};
use callgate_schema::Profile;
use callgate_wire::{AgentResult, Object};

/// An empty registry.
fn registry() -> Registry {
    Registry::new(MemoryJournal::ports())
}

/// One that judges schemas by profile `wire`.
fn lenient() -> Registry {
    Registry::with_settings(
        MemoryJournal::ports(),
        Settings { profile: Profile::Wire, ..Settings::default() },
    )
}

fn object(text: &str) -> Object {
    Object::parse(text).unwrap()
}

fn tool(namespace: &str, name: &str) -> Descriptor {
    Descriptor::tool(namespace, name, "A tool").unwrap()
}

/// An entry whose handler does nothing.
fn idle(namespace: &str, name: &str) -> Registration {
    Registration::new(tool(namespace, name), |_| Ok(AgentResult::success(Object::new())))
}

/// What handlers saw.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<String>>>);

impl Seen {
    fn add(&self, text: impl Into<String>) {
        self.0.lock().unwrap().push(text.into());
    }

    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

//! What a transport does with a registry.

use std::fmt;

use callgate_wire::AgentResult;

use super::Registry;

/// A transport that publishes a registry's entries and takes calls of them.
///
/// An adapter never checks, coerces or runs anything by itself: each call goes through [`Registry::invoke`]. What it
/// must do besides is what [`super::kit::adapter_contract`] asks.
pub trait Adapter: Send {
    /// What it is called in messages.
    fn name(&self) -> &str;

    /// Publishes every entry that is there, under its key, and says which it could not publish: one that cannot be does
    /// not keep the others from it. Types of entities, which it may not know, are no fault.
    ///
    /// # Errors
    /// [`AdapterError`] if it is attached already, or nothing at all can be published.
    fn attach(&mut self, registry: &Registry) -> Result<Vec<Unpublished>, AdapterError>;

    /// Takes everything back that it published; harmless if it is not attached.
    ///
    /// # Errors
    /// [`AdapterError`] if the transport does not let go; it is then detached all the same.
    fn detach(&mut self) -> Result<(), AdapterError>;

    /// Whether it follows what is registered and unregistered while it is attached.
    fn watches(&self) -> bool;

    /// Takes in what has changed since the last turn, and says which of it could not be published.
    fn turn(&mut self) -> Vec<Unpublished>;

    /// The keys that are published, in the order in which they came.
    fn published(&self) -> Vec<String>;

    /// Calls a published entry through the transport's own form and back.
    fn call(&self, key: &str, arguments: &[u8]) -> AgentResult;
}

/// An entry that could not be published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unpublished {
    /// Its key.
    pub key: String,
    /// Why: what was expected and what was found.
    pub reason: String,
}

/// Why an adapter did not attach or detach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdapterError(String);

impl AdapterError {
    /// With a message: a lower-case fragment.
    pub fn new(message: impl Into<String>) -> AdapterError {
        AdapterError(message.into())
    }

    /// It is attached already.
    pub fn attached() -> AdapterError {
        AdapterError::new("expected an adapter that is not attached, found one that is; detach it first")
    }
}

impl fmt::Display for AdapterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for AdapterError {}

//! The function behind an entry: what it is given and how it fails.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use callgate_wire::{AgentResult, FailureCode, Object, ValueError};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::{Descriptor, RegistryError};

/// The function behind an entry.
pub type Handler = Arc<dyn Fn(&Invocation<'_>) -> Result<AgentResult, HandlerError> + Send + Sync>;
/// A check of an entry's own, in place of that of its schema.
pub type Validator = Arc<dyn Fn(&Invocation<'_>) -> Result<(), HandlerError> + Send + Sync>;

/// One call, as a handler sees it.
#[derive(Debug, Clone, Copy)]
pub struct Invocation<'a> {
    /// What is called.
    pub descriptor: &'a Descriptor,
    /// The arguments: the exact bytes that were checked, a JSON object.
    pub arguments: &'a [u8],
    /// What the caller calls this call, if it does.
    pub correlation_id: Option<&'a str>,
}

impl Invocation<'_> {
    /// The arguments as a Rust value, from the bytes that were checked.
    ///
    /// # Errors
    /// A refusal of the arguments for a value that the schema accepts and the type does not, such as a number that is
    /// too large for it.
    pub fn read<A: DeserializeOwned>(&self) -> Result<A, HandlerError> {
        serde_json::from_slice(self.arguments).map_err(|error| HandlerError::validation(error.to_string()))
    }

    /// The arguments as an object of the wire.
    ///
    /// # Errors
    /// Those of [`Object::parse`].
    pub fn object(&self) -> Result<Object, ValueError> {
        Object::parse(self.arguments)
    }
}

/// How a handler fails that has no result of its own. Any error becomes one by `?`: what it says goes to the log, and
/// the caller is told that the call failed.
#[derive(Debug)]
pub struct HandlerError {
    pub(super) code: FailureCode,
    /// To the caller.
    pub(super) message: String,
    /// To the log.
    pub(super) cause: Option<Box<dyn Error + Send + Sync>>,
}

impl HandlerError {
    /// A failure with a message that the caller may see.
    pub fn new(message: impl Into<String>) -> HandlerError {
        HandlerError { code: FailureCode::INTENT_EXECUTION_ERROR, message: message.into(), cause: None }
    }

    /// A refusal of the arguments.
    pub fn validation(message: impl Into<String>) -> HandlerError {
        HandlerError { code: FailureCode::VALIDATION_ERROR, message: message.into(), cause: None }
    }

    /// Adds what the log is told and the caller is not.
    #[must_use]
    pub fn caused_by(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> HandlerError {
        self.cause = Some(cause.into());
        self
    }
}

impl fmt::Display for HandlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        let mut cause = self.cause.as_deref().map(|cause| cause as &dyn Error);
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for HandlerError {
    fn from(error: E) -> HandlerError {
        let error: Box<dyn Error + Send + Sync> = Box::new(error);
        // What a handler gives that is no JSON is its own fault, and says more than that the call failed.
        if let Some(value) = error.downcast_ref::<ValueError>() {
            let message = format!("the result is no value of the wire: {value}");
            return HandlerError { code: FailureCode::INVALID_RESULT, message, cause: Some(error) };
        }
        HandlerError::new("the handler failed").caused_by(error)
    }
}

/// A descriptor with the function behind it.
#[derive(Clone)]
pub struct Registration {
    pub(super) descriptor: Descriptor,
    pub(super) handler: Handler,
    pub(super) validator: Option<Validator>,
    pub(super) key: Option<String>,
}

impl Registration {
    /// With a handler that reads the arguments itself.
    pub fn new(
        descriptor: Descriptor,
        handler: impl Fn(&Invocation<'_>) -> Result<AgentResult, HandlerError> + Send + Sync + 'static,
    ) -> Registration {
        Registration { descriptor, handler: Arc::new(handler), validator: None, key: None }
    }

    /// With a handler of typed arguments: the type gives the input schema, by which the bytes are checked, and then the
    /// value that is read from the same bytes.
    ///
    /// # Errors
    /// [`RegistryError::Value`] if the type's schema is over a limit.
    pub fn typed<A: DeserializeOwned + JsonSchema>(
        descriptor: Descriptor,
        handler: impl Fn(&Invocation<'_>, A) -> Result<AgentResult, HandlerError> + Send + Sync + 'static,
    ) -> Result<Registration, RegistryError> {
        let schema = Object::parse(schemars::schema_for!(A).as_value().to_string())?;
        let descriptor = descriptor.with_input_schema(schema);
        Ok(Registration::new(descriptor, move |invocation| handler(invocation, invocation.read()?)))
    }

    /// The same with a check of its own in place of that of the schema.
    #[must_use]
    pub fn with_validator(
        mut self,
        validator: impl Fn(&Invocation<'_>) -> Result<(), HandlerError> + Send + Sync + 'static,
    ) -> Registration {
        self.validator = Some(Arc::new(validator));
        self
    }

    /// The same under another key than its qualified name: any text, such as a URI.
    #[must_use]
    pub fn with_key(mut self, key: impl Into<String>) -> Registration {
        self.key = Some(key.into());
        self
    }

    /// The key under which it is registered.
    pub fn key(&self) -> String {
        self.key.clone().unwrap_or_else(|| self.descriptor.qualified_name())
    }

    /// What it says of itself.
    pub const fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Registration({})", self.key())
    }
}

//! The transport of text maps: deep links, extensions of an operating system, query strings. Every argument is a text.

use callgate_schema::json::{Kind, Tape};
use callgate_wire::{AgentResult, FailureCode, WireArgs};

use super::{Adapter, AdapterError, Change, CoercionMode, Registry, Request, Subscription, Unpublished};

/// Takes calls whose arguments are maps of texts. They are coerced by the rules of text maps and then checked like any.
///
/// ```
/// use callgate_gateway::registry::{Adapter, Registry, TextMapAdapter, kit};
/// use callgate_wire::WireArgs;
/// let registry = Registry::new(kit::MemoryJournal::ports());
/// registry.register(kit::echo()?)?;
/// let mut adapter = TextMapAdapter::new();
/// adapter.attach(&registry).expect("it is not attached");
/// let result = adapter.invoke("contract_echo", &WireArgs::from_pairs([("text", "hi"), ("count", " 2 ")]));
/// assert_eq!(
///     result.data().map(|data| data.as_str().to_owned()).as_deref(),
///     Some(r#"{"text":"hi","count":2,"qualifiedName":"contract_echo"}"#)
/// );
/// # Ok::<(), callgate_gateway::registry::RegistryError>(())
/// ```
#[derive(Debug, Default)]
pub struct TextMapAdapter {
    attached: Option<(Registry, Subscription)>,
    published: Vec<String>,
}

impl TextMapAdapter {
    /// One that is not attached.
    pub fn new() -> TextMapAdapter {
        TextMapAdapter::default()
    }

    /// Calls a published entry with texts.
    pub fn invoke(&self, key: &str, args: &WireArgs) -> AgentResult {
        let Some((registry, _)) =
            self.attached.as_ref().filter(|_| self.published.iter().any(|known| known == key))
        else {
            let message = "expected the key of an entry that is published here, found another";
            return AgentResult::failure(FailureCode::INTENT_NOT_FOUND, message);
        };
        registry.invoke(&Request::new(key, &args.to_arguments()).coerced(CoercionMode::Wire))
    }
}

impl Adapter for TextMapAdapter {
    fn name(&self) -> &'static str {
        "text map"
    }

    fn attach(&mut self, registry: &Registry) -> Result<Vec<Unpublished>, AdapterError> {
        if self.attached.is_some() {
            return Err(AdapterError::attached());
        }
        let (entries, subscription) = registry.entries_and_subscribe();
        self.published = entries.iter().map(|entry| entry.key().to_owned()).collect();
        self.attached = Some((registry.clone(), subscription));
        Ok(Vec::new())
    }

    fn detach(&mut self) -> Result<(), AdapterError> {
        self.attached = None;
        self.published.clear();
        Ok(())
    }

    fn watches(&self) -> bool {
        true
    }

    fn turn(&mut self) -> Vec<Unpublished> {
        let Some((registry, subscription)) = &self.attached else { return Vec::new() };
        while let Some(event) = subscription.next_event() {
            match event.change {
                Change::IntentRegistered { key } if self.published.contains(&key) => {}
                Change::IntentRegistered { key } => self.published.push(key),
                Change::IntentUnregistered { key } => self.published.retain(|known| *known != key),
                Change::EntityTypeRegistered { .. } | Change::EntityTypeUnregistered { .. } => {}
            }
        }
        if subscription.missed() {
            self.published = registry.entries().iter().map(|entry| entry.key().to_owned()).collect();
        }
        Vec::new()
    }

    fn published(&self) -> Vec<String> {
        self.published.clone()
    }

    /// Texts pass as they are, other values as their JSON text.
    fn call(&self, key: &str, arguments: &[u8]) -> AgentResult {
        let mut tape = Tape::new();
        let limits = callgate_schema::Limits::default().arguments_text();
        let value = match tape.read(arguments, &limits) {
            Ok(value) if value.kind() == Kind::Object => value,
            _ => {
                return AgentResult::failure(
                    FailureCode::VALIDATION_ERROR,
                    "expected an object of arguments",
                );
            }
        };
        let pairs = value.members().map(|member| {
            let text = member
                .value()
                .as_str()
                .map_or_else(|| member.value().raw_str().to_owned(), std::borrow::Cow::into_owned);
            (member.name().into_owned(), text)
        });
        self.invoke(key, &WireArgs::from_pairs(pairs))
    }
}

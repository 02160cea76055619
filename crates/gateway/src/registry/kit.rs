//! Contract kits: what every registry and every adapter must do, as one function each that tests call; the entries that
//! they use; and ports on a journal in memory.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use callgate_wire::{AgentResult, FailureCode, Incarnation, IntentId, Json, Object, Timestamp};

use super::{
    Adapter, Change, CoercionMode, Descriptor, EVENTS_WAITING_MAX, HandlerError, Invocation, Ports,
    Registration, Registry, RegistryError, Request,
};
use crate::journal::Journal;
pub use crate::journal::MemoryJournal;

/// A property that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// What must hold, as a sentence.
    pub property: &'static str,
    /// What was found instead.
    pub found: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: found {}", self.property, self.found)
    }
}

impl std::error::Error for Broken {}

impl From<RegistryError> for Broken {
    fn from(error: RegistryError) -> Broken {
        Broken { property: "the entries of the kit are registered", found: error.to_string() }
    }
}

/// What was shown of an adapter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// What was published while it was attached.
    pub published: Vec<String>,
    /// The data that the echo gave.
    pub success: Object,
    /// The code of the failure.
    pub failure: FailureCode,
    /// Whether it followed what was registered later.
    pub follows: bool,
}

fn holds(property: &'static str, good: bool, found: impl FnOnce() -> String) -> Result<(), Broken> {
    if good { Ok(()) } else { Err(Broken { property, found: found() }) }
}

/// An entry that gives back its text, its count and its own qualified name.
///
/// # Errors
/// Never: its names are good.
pub fn echo() -> Result<Registration, RegistryError> {
    let schema = Object::parse(
        r#"{"type":"object","properties":{"text":{"type":"string"},"count":{"type":"integer"}},"required":["text","count"]}"#,
    )?;
    let descriptor = Descriptor::tool("contract", "echo", "Gives back what it is given")?;
    Ok(Registration::new(descriptor.with_input_schema(schema), |invocation| {
        let arguments = invocation.object()?;
        let member = |name| arguments.get(name).unwrap_or_else(Json::null);
        Ok(AgentResult::success(
            Object::new()
                .with("text", member("text"))
                .with("count", member("count"))
                .with("qualifiedName", invocation.descriptor.qualified_name()),
        ))
    }))
}

/// An entry that fails, with a code and details of its own.
///
/// # Errors
/// Never: its names are good.
pub fn fail() -> Result<Registration, RegistryError> {
    let descriptor = Descriptor::tool("contract", "fail", "Fails")?;
    Ok(Registration::new(descriptor, |_: &Invocation<'_>| -> Result<AgentResult, HandlerError> {
        let code = FailureCode::from_static("contract_failure");
        let details = Object::new().with("surface", "adapter_contract");
        Ok(AgentResult::failure(code, "this entry fails").with_details(details))
    }))
}

/// An entry that comes later than the others.
///
/// # Errors
/// Never: its names are good.
pub fn late() -> Result<Registration, RegistryError> {
    let descriptor = Descriptor::tool("contract", "late", "Comes later")?;
    Ok(Registration::new(descriptor, |_| Ok(AgentResult::success(Object::new().with("late", true)))))
}

/// What every adapter must do. `adapter` is not attached, and `registry` is empty; both are so again at the end.
///
/// It publishes what is there under its key, an override included; calls pass through and back; what comes and goes later
/// is followed, if it says so, also where it was told of more than it could take; a second attach is refused and a second detach harmless; detach takes everything back and
/// leaves the registry as it was; and attach after detach publishes afresh.
///
/// # Errors
/// The first property that does not hold.
pub fn adapter_contract(adapter: &mut dyn Adapter, registry: &Registry) -> Result<Proof, Broken> {
    registry.register(echo()?)?;
    registry.register(fail()?)?;
    registry.register(echo()?.with_key("contract_second"))?;
    let all = ["contract_echo", "contract_fail", "contract_second"];
    attach(adapter, registry)?;
    let published = adapter.published();
    holds("attach publishes each entry that is there by its key", published == all, || {
        format!("{published:?}")
    })?;
    holds("a second attach is refused", adapter.attach(registry).is_err(), || "it was taken".to_owned())?;
    let success = calls(adapter)?;
    let follows = follows(adapter, registry)?;
    registry.register_entity_type(
        callgate_wire::EntityType::new("contract", "thing", "id").map_err(RegistryError::from)?,
    )?;
    adapter.turn();
    holds("types of entities are no fault", adapter.published() == all, || {
        format!("{:?}", adapter.published())
    })?;
    registry.unregister_entity_type("contract_thing");
    detached(adapter, registry, &all)?;
    attach(adapter, registry)?;
    let again = adapter.published();
    holds("attach after detach publishes afresh", again == all, || format!("{again:?}"))?;
    calls(adapter)?;
    detached(adapter, registry, &all)?;
    for key in all {
        registry.unregister(key);
    }
    Ok(Proof { published, success, failure: FailureCode::from_static("contract_failure"), follows })
}

fn attach(adapter: &mut dyn Adapter, registry: &Registry) -> Result<(), Broken> {
    let attached = adapter.attach(registry);
    let good = matches!(&attached, Ok(unpublished) if unpublished.is_empty());
    holds("an adapter that is not attached attaches", good, || format!("{attached:?}"))
}

fn calls(adapter: &dyn Adapter) -> Result<Object, Broken> {
    let echoed = adapter.call("contract_echo", br#"{"text":"hello","count":2}"#);
    let wanted = Object::new().with("text", "hello").with("count", 2).with("qualifiedName", "contract_echo");
    let data = echoed.data().cloned().unwrap_or_default();
    holds("a call gives the handler's data", data == wanted, || format!("{echoed:?}"))?;
    let second = adapter.call("contract_second", br#"{"text":"hello","count":2}"#);
    let good = second.data() == Some(&wanted);
    holds("an override runs the handler, which sees its own name", good, || format!("{second:?}"))?;
    let failed = adapter.call("contract_fail", b"{}");
    let details = Object::new().with("surface", "adapter_contract");
    let good = matches!(&failed, AgentResult::Failure(failure)
        if failure.code.as_str() == "contract_failure" && failure.details == details);
    holds("a failure passes with its code and details", good, || format!("{failed:?}"))?;
    let refused = adapter.call("contract_echo", br#"{"count":2}"#);
    let good = refused.code() == Some(&FailureCode::VALIDATION_ERROR) && refused.message().contains("text");
    holds("arguments are refused by the registry, by name", good, || format!("{refused:?}"))?;
    let unknown = adapter.call("contract.echo", b"{}");
    holds("an unknown key is a failure", !unknown.is_ok(), || format!("{unknown:?}"))?;
    Ok(wanted)
}

fn follows(adapter: &mut dyn Adapter, registry: &Registry) -> Result<bool, Broken> {
    if !adapter.watches() {
        return Ok(false);
    }
    registry.register(late()?)?;
    let unpublished = adapter.turn();
    let there = adapter.published().iter().any(|key| key == "contract_late");
    holds("what is registered later is published by the next turn", there, || format!("{unpublished:?}"))?;
    let called = adapter.call("contract_late", b"{}");
    holds("and can be called", called.is_ok(), || format!("{called:?}"))?;
    registry.unregister("contract_late");
    adapter.turn();
    let gone = !adapter.published().iter().any(|key| key == "contract_late");
    holds("what is unregistered is taken back by the next turn", gone, || {
        format!("{:?}", adapter.published())
    })?;
    catches_up(adapter, registry)?;
    Ok(true)
}

/// More changes than a listener may have waiting, with the last of them among those that it did not hear.
fn catches_up(adapter: &mut dyn Adapter, registry: &Registry) -> Result<(), Broken> {
    for _ in 0..EVENTS_WAITING_MAX {
        registry.register(late()?)?;
        registry.unregister("contract_late");
    }
    registry.register(late()?)?;
    adapter.turn();
    let published = adapter.published();
    let count = published.iter().filter(|key| *key == "contract_late").count();
    holds("an adapter that fell behind catches up", count == 1, || format!("{published:?}"))?;
    for _ in 0..=EVENTS_WAITING_MAX {
        registry.unregister("contract_late");
        registry.register(late()?)?;
    }
    registry.unregister("contract_late");
    adapter.turn();
    let gone = !adapter.published().iter().any(|key| key == "contract_late");
    holds("and takes back what it did not hear of", gone, || format!("{:?}", adapter.published()))
}

fn detached(adapter: &mut dyn Adapter, registry: &Registry, all: &[&str]) -> Result<(), Broken> {
    for _ in 0..2 {
        let outcome = adapter.detach();
        holds("detach is harmless, also twice", outcome.is_ok(), || format!("{outcome:?}"))?;
    }
    let left = adapter.published();
    holds("detach takes everything back", left.is_empty(), || format!("{left:?}"))?;
    let called = adapter.call("contract_echo", br#"{"text":"hello","count":2}"#);
    holds("nothing can be called after it", !called.is_ok(), || format!("{called:?}"))?;
    let entries: Vec<_> = registry.entries().iter().map(|entry| entry.key().to_owned()).collect();
    holds("detach leaves the registry as it was", entries == all, || format!("{entries:?}"))
}

/// What every registry must do; `registry` is empty, and so again at the end.
///
/// Keys are unique and looked up as they are stored; lists keep the order and do not change under their reader; a change
/// is visible before its event; and a call is looked up, coerced if that is asked for, checked, and run.
///
/// # Errors
/// The first property that does not hold.
pub fn registry_contract(registry: &Registry) -> Result<(), Broken> {
    let events = registry.subscribe();
    registry.register(echo()?)?;
    registry.register(echo()?.with_key("second"))?;
    let taken = registry.register(echo()?);
    let good = matches!(&taken, Err(RegistryError::Collision { key, .. }) if key == "contract_echo");
    holds("a key that is taken is refused", good, || format!("{taken:?}"))?;
    let entries = registry.entries();
    let keys: Vec<_> = entries.iter().map(|entry| entry.key()).collect();
    holds("entries keep their order", keys == ["contract_echo", "second"], || format!("{keys:?}"))?;
    registry.unregister("second");
    holds("a list does not change under its reader", entries.len() == 2, || entries.len().to_string())?;
    let request = Request::new("contract_echo", br#"{"text":"hi","count":"2"}"#);
    let refused = registry.invoke(&request);
    let good = refused.code() == Some(&FailureCode::VALIDATION_ERROR);
    holds("a text is no integer where nothing is coerced", good, || format!("{refused:?}"))?;
    let coerced = registry.invoke(&request.coerced(CoercionMode::Wire));
    let count = coerced.data().and_then(|data| data.get("count"));
    holds("and is one where it is", count == Some(Json::from(2)), || format!("{coerced:?}"))?;
    registry.unregister("contract_echo");
    let unknown = registry.invoke(&Request::new("contract_echo", b"{}"));
    let good = unknown.code() == Some(&FailureCode::INTENT_NOT_FOUND);
    holds("what was unregistered is not found", good, || format!("{unknown:?}"))?;
    let told: Vec<_> = std::iter::from_fn(|| events.next_event()).map(|event| event.change).collect();
    let [echo, second] = ["contract_echo", "second"].map(str::to_owned);
    let wanted = [
        Change::IntentRegistered { key: echo.clone() },
        Change::IntentRegistered { key: second.clone() },
        Change::IntentUnregistered { key: second },
        Change::IntentUnregistered { key: echo },
    ];
    holds("each change is told once, in order", told == wanted, || format!("{told:?}"))
}

impl Default for MemoryJournal {
    fn default() -> Self {
        MemoryJournal::new(Incarnation::from_bytes([0; 16]))
    }
}

impl MemoryJournal {
    /// Ports with a journal in memory, ids and times that count up from zero, and nobody who hears of faults.
    pub fn ports() -> Ports {
        MemoryJournal::ports_of(Arc::new(MemoryJournal::default()))
    }

    /// The same with this journal.
    pub fn ports_of(journal: Arc<dyn Journal>) -> Ports {
        let (ids, times) = (Arc::new(AtomicU64::new(1)), Arc::new(AtomicU64::new(0)));
        Ports {
            journal,
            now: Arc::new(move || {
                Timestamp(i64::try_from(times.fetch_add(1, Ordering::Relaxed)).unwrap_or(i64::MAX))
            }),
            fresh_id: Arc::new(move || {
                let id = u128::from(ids.fetch_add(1, Ordering::Relaxed));
                IntentId::from_bytes(id.to_be_bytes())
            }),
            on_fault: Arc::new(|_| {}),
        }
    }
}

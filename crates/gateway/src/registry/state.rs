//! Register, unregister, look up. No lock is held while a handler runs.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use callgate_schema::{Finding, Limits, Profile};
use callgate_wire::{EntityType, IntentId, Principal, Timestamp};

use super::event::{Listener, Subscription};
use super::{Change, Entry, Event, Fault, Registration, RegistryError};
use crate::Journal;
use crate::budget::BudgetSet;
use crate::policy::RuleSet;

/// What a registry reaches the world through.
#[derive(Clone)]
pub struct Ports {
    /// Where each call's intent is made durable before its handler runs.
    pub journal: Arc<dyn Journal>,
    /// The time.
    pub now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    /// An id that no other intent has.
    pub fresh_id: Arc<dyn Fn() -> IntentId + Send + Sync>,
    /// Hears what a caller is not told: why a handler failed, and that an outcome could not be recorded.
    pub on_fault: Arc<dyn Fn(&Fault<'_>) + Send + Sync>,
}

impl fmt::Debug for Ports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ports")
    }
}

/// How a registry judges.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What of a schema is enforced. In `wire` a constraint that is not enforced is a warning at registration; in the
    /// others a schema that cannot be enforced whole is refused.
    pub profile: Profile,
    /// The engine's maxima.
    pub limits: Limits,
    /// Bytes of one result in its canonical form.
    pub result_bytes_max: usize,
    /// The app's name, as intents have it.
    pub app: String,
    /// On whose behalf calls are made that name nobody.
    pub principal: Principal,
    /// Who may call what; without any rule everybody everything.
    pub rules: Arc<RuleSet>,
    /// How much may be called.
    pub budgets: Arc<BudgetSet>,
    /// How long a request for an approval waits for an answer, and an approval for its call.
    pub approval_expiry: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            profile: Profile::Standard,
            limits: Limits::default(),
            result_bytes_max: 8 << 20,
            app: "local".to_owned(),
            principal: Principal::local("app"),
            rules: Arc::new(RuleSet::none()),
            budgets: Arc::new(BudgetSet::none()),
            approval_expiry: Duration::from_mins(15),
        }
    }
}

/// The entries of an app. Cheap to clone, shared between threads.
#[derive(Debug, Clone)]
pub struct Registry {
    pub(super) inner: Arc<Inner>,
}

/// What was registered.
#[derive(Debug, Clone)]
pub struct Registered {
    /// The key, the override if there was one.
    pub key: String,
    /// Doubts about its schemas and, in profile `wire`, each constraint that is not enforced.
    pub warnings: Vec<Finding>,
}

#[derive(Debug)]
pub(super) struct Inner {
    pub(super) settings: Settings,
    pub(super) ports: Ports,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
pub(super) struct State {
    entries: Ordered<Arc<Entry>>,
    types: Ordered<Arc<EntityType>>,
    pub(super) listeners: Vec<Listener>,
    sequence: u64,
    serial: u64,
}

/// Values by key, in the order in which they came.
#[derive(Debug)]
struct Ordered<V> {
    by_serial: BTreeMap<u64, V>,
    serials: HashMap<String, u64>,
}

impl<V> Default for Ordered<V> {
    fn default() -> Self {
        Ordered { by_serial: BTreeMap::new(), serials: HashMap::new() }
    }
}

impl<V> Ordered<V> {
    fn get(&self, key: &str) -> Option<&V> {
        self.by_serial.get(self.serials.get(key)?)
    }

    fn insert(&mut self, key: &str, serial: u64, value: V) {
        self.serials.insert(key.to_owned(), serial);
        self.by_serial.insert(serial, value);
    }

    fn remove(&mut self, key: &str) -> Option<V> {
        let serial = self.serials.remove(key)?;
        self.by_serial.remove(&serial)
    }
}

impl Inner {
    /// The state. A panic cannot leave it half changed: nothing of the app's runs under the lock.
    pub(super) fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Tells of a change that has been made.
    fn tell(&mut self, at: Timestamp, change: Change) {
        self.sequence += 1;
        let event = Event { sequence: self.sequence, at, change };
        self.listeners.retain(|listener| listener.tell(&event));
    }

    fn next_serial(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }
}

impl Registry {
    /// An empty registry with the settings by default.
    pub fn new(ports: Ports) -> Registry {
        Registry::with_settings(ports, Settings::default())
    }

    /// An empty registry.
    pub fn with_settings(ports: Ports, settings: Settings) -> Registry {
        Registry { inner: Arc::new(Inner { settings, ports, state: Mutex::default() }) }
    }

    /// How it judges.
    pub fn settings(&self) -> &Settings {
        &self.inner.settings
    }

    /// Registers an entry: its schemas are compiled here and now.
    ///
    /// # Errors
    /// [`RegistryError::Schema`] if they cannot be enforced, [`RegistryError::Collision`] if the key is taken,
    /// [`RegistryError::EmptyKey`], [`RegistryError::Value`] for a URI that is no template. The registry is then as it
    /// was, and nobody hears of it.
    pub fn register(&self, registration: Registration) -> Result<Registered, RegistryError> {
        let entry = Entry::compile(registration, &self.inner.settings)?;
        let registered = Registered { key: entry.key().to_owned(), warnings: entry.warnings().to_vec() };
        let at = (self.inner.ports.now)();
        let mut state = self.inner.locked();
        if let Some(taken) = state.entries.get(&registered.key) {
            let names = |entry: &Entry| {
                (entry.descriptor().namespace().to_owned(), entry.descriptor().name().to_owned())
            };
            return Err(RegistryError::Collision {
                key: registered.key,
                taken_by: names(taken),
                refused: names(&entry),
            });
        }
        let serial = state.next_serial();
        state.entries.insert(&registered.key, serial, Arc::new(entry));
        state.tell(at, Change::IntentRegistered { key: registered.key.clone() });
        Ok(registered)
    }

    /// Takes an entry back; `false` if there is none. Calls that are on their way end as they would have.
    pub fn unregister(&self, key: &str) -> bool {
        let at = (self.inner.ports.now)();
        let mut state = self.inner.locked();
        let found = state.entries.remove(key).is_some();
        if found {
            state.tell(at, Change::IntentUnregistered { key: key.to_owned() });
        }
        found
    }

    /// The entry under this key, which is the override where there is one.
    pub fn get(&self, key: &str) -> Option<Arc<Entry>> {
        self.inner.locked().entries.get(key).cloned()
    }

    /// The entries in the order in which they came, as they are now: what changes later does not change the list.
    pub fn entries(&self) -> Vec<Arc<Entry>> {
        self.inner.locked().entries.by_serial.values().cloned().collect()
    }

    /// The same of one namespace, by the descriptors.
    pub fn entries_of(&self, namespace: &str) -> Vec<Arc<Entry>> {
        let mut entries = self.entries();
        entries.retain(|entry| entry.descriptor().namespace() == namespace);
        entries
    }

    /// Registers a type of entities, under its qualified name.
    ///
    /// # Errors
    /// [`RegistryError::Collision`].
    pub fn register_entity_type(&self, entity_type: EntityType) -> Result<String, RegistryError> {
        let key = entity_type.qualified_name();
        let at = (self.inner.ports.now)();
        let mut state = self.inner.locked();
        if let Some(taken) = state.types.get(&key) {
            let names = |one: &EntityType| (one.namespace().to_owned(), one.name().to_owned());
            let (taken_by, refused) = (names(taken), names(&entity_type));
            return Err(RegistryError::Collision { key, taken_by, refused });
        }
        let serial = state.next_serial();
        state.types.insert(&key, serial, Arc::new(entity_type));
        state.tell(at, Change::EntityTypeRegistered { key: key.clone() });
        Ok(key)
    }

    /// Takes a type of entities back; `false` if there is none.
    pub fn unregister_entity_type(&self, key: &str) -> bool {
        let at = (self.inner.ports.now)();
        let mut state = self.inner.locked();
        let found = state.types.remove(key).is_some();
        if found {
            state.tell(at, Change::EntityTypeUnregistered { key: key.to_owned() });
        }
        found
    }

    /// The type of entities of this qualified name.
    pub fn entity_type(&self, key: &str) -> Option<Arc<EntityType>> {
        self.inner.locked().types.get(key).cloned()
    }

    /// The types of entities, in the order in which they came.
    pub fn entity_types(&self) -> Vec<Arc<EntityType>> {
        self.inner.locked().types.by_serial.values().cloned().collect()
    }

    /// The types of entities of one namespace.
    pub fn entity_types_of(&self, namespace: &str) -> Vec<Arc<EntityType>> {
        let mut types = self.entity_types();
        types.retain(|one| one.namespace() == namespace);
        types
    }

    /// Listens from now on. What was before is not told: [`Registry::entries_and_subscribe`] gives both.
    pub fn subscribe(&self) -> Subscription {
        self.entries_and_subscribe().1
    }

    /// The entries now and the events from now on, with nothing between.
    pub fn entries_and_subscribe(&self) -> (Vec<Arc<Entry>>, Subscription) {
        let mut state = self.inner.locked();
        let (listener, subscription) = Listener::pair(&self.inner, state.next_serial());
        state.listeners.push(listener);
        (state.entries.by_serial.values().cloned().collect(), subscription)
    }
}

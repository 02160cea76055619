//! Modules and adapters: started in the order given, stopped in reverse, and taken back where a start fails.

use std::fmt;

use callgate_wire::EntityType;

use super::{Adapter, Registration, Registry, RegistryError, Unpublished};

type Hook = Box<dyn FnMut(&Registry) -> Result<(), String> + Send>;

/// What a part of an app registers, and what it does beside that when it starts and stops.
pub struct Module {
    name: String,
    registrations: Vec<Registration>,
    entity_types: Vec<EntityType>,
    on_start: Option<Hook>,
    on_stop: Option<Hook>,
    /// What it has registered, in order, while it is started.
    keys: Vec<String>,
    type_keys: Vec<String>,
}

impl Module {
    /// A module that registers nothing yet.
    pub fn new(name: impl Into<String>) -> Module {
        Module {
            name: name.into(),
            registrations: Vec::new(),
            entity_types: Vec::new(),
            on_start: None,
            on_stop: None,
            keys: Vec::new(),
            type_keys: Vec::new(),
        }
    }

    /// The same with one more entry.
    #[must_use]
    pub fn with(mut self, registration: Registration) -> Module {
        self.registrations.push(registration);
        self
    }

    /// The same with one more type of entities.
    #[must_use]
    pub fn with_entity_type(mut self, entity_type: EntityType) -> Module {
        self.entity_types.push(entity_type);
        self
    }

    /// What it does when its entries are registered. If it fails, the start fails, with its message.
    #[must_use]
    pub fn on_start(mut self, hook: impl FnMut(&Registry) -> Result<(), String> + Send + 'static) -> Module {
        self.on_start = Some(Box::new(hook));
        self
    }

    /// What it does before its entries are taken back.
    #[must_use]
    pub fn on_stop(mut self, hook: impl FnMut(&Registry) -> Result<(), String> + Send + 'static) -> Module {
        self.on_stop = Some(Box::new(hook));
        self
    }

    fn start(&mut self, registry: &Registry) -> Result<(), RegistryError> {
        for registration in &self.registrations {
            self.keys.push(registry.register(registration.clone())?.key);
        }
        for entity_type in &self.entity_types {
            self.type_keys.push(registry.register_entity_type(entity_type.clone())?);
        }
        run(&self.name, &mut self.on_start, registry)
    }

    /// Takes back what it registered, the last first, also where its own hook fails.
    fn stop(&mut self, registry: &Registry) -> Result<(), RegistryError> {
        let outcome = run(&self.name, &mut self.on_stop, registry);
        self.take_back(registry);
        outcome
    }

    fn take_back(&mut self, registry: &Registry) {
        while let Some(key) = self.type_keys.pop() {
            registry.unregister_entity_type(&key);
        }
        while let Some(key) = self.keys.pop() {
            registry.unregister(&key);
        }
    }
}

fn run(name: &str, hook: &mut Option<Hook>, registry: &Registry) -> Result<(), RegistryError> {
    let Some(hook) = hook else { return Ok(()) };
    hook(registry).map_err(|message| RegistryError::Module { module: name.to_owned(), message })
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Module({})", self.name)
    }
}

/// A registry with its modules and adapters.
///
/// ```
/// use callgate_gateway::registry::{Module, Registry, Runtime, kit};
/// let registry = Registry::new(kit::MemoryJournal::ports());
/// let mut runtime = Runtime::new(registry.clone()).with_module(Module::new("contract").with(kit::echo()?));
/// runtime.start()?;
/// assert!(registry.get("contract_echo").is_some());
/// runtime.stop()?;
/// assert!(registry.get("contract_echo").is_none());
/// # Ok::<(), callgate_gateway::registry::RegistryError>(())
/// ```
pub struct Runtime {
    registry: Registry,
    modules: Vec<Module>,
    adapters: Vec<Box<dyn Adapter>>,
    started: bool,
}

impl Runtime {
    /// Without modules and adapters.
    pub fn new(registry: Registry) -> Runtime {
        Runtime { registry, modules: Vec::new(), adapters: Vec::new(), started: false }
    }

    /// The same with one more module, to be started after those before it.
    #[must_use]
    pub fn with_module(mut self, module: Module) -> Runtime {
        self.modules.push(module);
        self
    }

    /// The same with one more adapter, to be attached after those before it.
    #[must_use]
    pub fn with_adapter(mut self, adapter: impl Adapter + 'static) -> Runtime {
        self.adapters.push(Box::new(adapter));
        self
    }

    /// The registry.
    pub const fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Starts the modules and then attaches the adapters, each in the order given; nothing if it is started. Says which
    /// entries an adapter could not publish.
    ///
    /// # Errors
    /// The first error, after everything that had been done was undone in reverse.
    pub fn start(&mut self) -> Result<Vec<Unpublished>, RegistryError> {
        if self.started {
            return Ok(Vec::new());
        }
        for at in 0..self.modules.len() {
            let Some(module) = self.modules.get_mut(at) else { break };
            if let Err(error) = module.start(&self.registry) {
                // Its own stop is not due: it has not started.
                module.take_back(&self.registry);
                let _ = self.stop_modules(at);
                return Err(error);
            }
        }
        let mut unpublished = Vec::new();
        for at in 0..self.adapters.len() {
            let Some(adapter) = self.adapters.get_mut(at) else { break };
            match adapter.attach(&self.registry) {
                Ok(more) => unpublished.extend(more),
                Err(error) => {
                    let error = RegistryError::Adapter { adapter: adapter.name().to_owned(), error };
                    let _ = self.detach_adapters(at);
                    let _ = self.stop_modules(self.modules.len());
                    return Err(error);
                }
            }
        }
        self.started = true;
        Ok(unpublished)
    }

    /// Detaches the adapters and then stops the modules, each in reverse; nothing if it is not started.
    ///
    /// # Errors
    /// The first error, after everything else was stopped all the same.
    pub fn stop(&mut self) -> Result<(), RegistryError> {
        if !std::mem::replace(&mut self.started, false) {
            return Ok(());
        }
        let detached = self.detach_adapters(self.adapters.len());
        let stopped = self.stop_modules(self.modules.len());
        detached.and(stopped)
    }

    fn detach_adapters(&mut self, count: usize) -> Result<(), RegistryError> {
        let mut outcome = Ok(());
        for adapter in self.adapters.iter_mut().take(count).rev() {
            let name = adapter.name().to_owned();
            let detached = adapter.detach();
            outcome = outcome.and(detached.map_err(|error| RegistryError::Adapter { adapter: name, error }));
        }
        outcome
    }

    fn stop_modules(&mut self, count: usize) -> Result<(), RegistryError> {
        let mut outcome = Ok(());
        for module in self.modules.iter_mut().take(count).rev() {
            let stopped = module.stop(&self.registry);
            outcome = outcome.and(stopped);
        }
        outcome
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Runtime({:?}, {} adapters)", self.modules, self.adapters.len())
    }
}

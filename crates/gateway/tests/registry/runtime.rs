//! Modules and adapters.

use callgate_gateway::registry::{
    Adapter, AdapterError, Module, Registry, RegistryError, Request, Runtime, TextMapAdapter, Unpublished,
    kit,
};
use callgate_wire::{AgentResult, EntityType};

use super::{Seen, idle, registry};

/// An adapter that notes what happens to it, and fails as it is told.
struct Noting {
    name: &'static str,
    seen: Seen,
    attaches: bool,
    detaches: bool,
}

impl Adapter for Noting {
    fn name(&self) -> &str {
        self.name
    }
    fn attach(&mut self, _: &Registry) -> Result<Vec<Unpublished>, AdapterError> {
        self.seen.add(format!("attach {}", self.name));
        if self.attaches { Ok(Vec::new()) } else { Err(AdapterError::new("no line")) }
    }
    fn detach(&mut self) -> Result<(), AdapterError> {
        self.seen.add(format!("detach {}", self.name));
        if self.detaches { Ok(()) } else { Err(AdapterError::new("stuck")) }
    }
    fn watches(&self) -> bool {
        false
    }
    fn turn(&mut self) -> Vec<Unpublished> {
        Vec::new()
    }
    fn published(&self) -> Vec<String> {
        Vec::new()
    }
    fn call(&self, key: &str, _: &[u8]) -> AgentResult {
        AgentResult::failure(callgate_wire::FailureCode::INTENT_NOT_FOUND, key)
    }
}

fn noting(name: &'static str, seen: &Seen) -> Noting {
    Noting { name, seen: seen.clone(), attaches: true, detaches: true }
}

fn module(name: &'static str, seen: &Seen) -> Module {
    let (starts, stops) = (seen.clone(), seen.clone());
    Module::new(name)
        .with(idle("app", name))
        .on_start(move |_| {
            starts.add(format!("start {name}"));
            Ok(())
        })
        .on_stop(move |_| {
            stops.add(format!("stop {name}"));
            Ok(())
        })
}

#[test]
fn modules_then_adapters_start_in_order_and_stop_in_reverse_and_both_are_idempotent() {
    let seen = Seen::default();
    let mut runtime = Runtime::new(registry())
        .with_module(module("one", &seen))
        .with_module(module("two", &seen))
        .with_adapter(noting("left", &seen))
        .with_adapter(noting("right", &seen));
    runtime.stop().unwrap();
    assert!(seen.all().is_empty());
    for _ in 0..2 {
        runtime.start().unwrap();
    }
    for _ in 0..2 {
        runtime.stop().unwrap();
    }
    let order = [
        "start one",
        "start two",
        "attach left",
        "attach right",
        "detach right",
        "detach left",
        "stop two",
        "stop one",
    ];
    assert_eq!(seen.all(), order);
}

#[test]
fn a_module_takes_back_what_it_registered_and_can_start_again() {
    let registry = registry();
    let notes = Module::new("notes")
        .with(kit::echo().unwrap())
        .with_entity_type(EntityType::new("notes", "note", "id").unwrap());
    let mut runtime = Runtime::new(registry.clone()).with_module(notes).with_adapter(TextMapAdapter::new());
    for _ in 0..3 {
        assert!(runtime.start().unwrap().is_empty());
        assert!(registry.invoke(&Request::new("contract_echo", br#"{"text":"a","count":1}"#)).is_ok());
        runtime.stop().unwrap();
        assert!(registry.entries().is_empty() && registry.entity_types().is_empty());
    }
}

#[test]
fn a_start_that_fails_is_taken_back_and_says_why() {
    let (registry, seen) = (registry(), Seen::default());
    registry.register(idle("mine", "stays")).unwrap();
    let third = Module::new("three").with(idle("app", "three")).with(idle("app", "one"));
    let mut runtime = Runtime::new(registry.clone())
        .with_module(module("one", &seen))
        .with_module(module("two", &seen))
        .with_module(third)
        .with_adapter(noting("left", &seen));
    assert!(matches!(runtime.start(), Err(RegistryError::Collision { .. })));
    assert_eq!(seen.all(), ["start one", "start two", "stop two", "stop one"]);
    let keys: Vec<_> = registry.entries().iter().map(|entry| entry.key().to_owned()).collect();
    assert_eq!(keys, ["mine_stays"]);
}

#[test]
fn a_hook_that_fails_and_an_adapter_that_does_not_attach_undo_all_before_them() {
    let (registry, seen) = (registry(), Seen::default());
    let failing = Module::new("three").with(idle("app", "three")).on_start(|_| Err("no disk".to_owned()));
    let mut runtime = Runtime::new(registry.clone()).with_module(module("one", &seen)).with_module(failing);
    let error = runtime.start().unwrap_err();
    assert_eq!(error.to_string(), "the module `three` failed: no disk");
    assert!(registry.entries().is_empty());

    let seen = Seen::default();
    let mut runtime = Runtime::new(registry.clone())
        .with_module(module("one", &seen))
        .with_adapter(noting("left", &seen))
        .with_adapter(Noting { attaches: false, ..noting("right", &seen) });
    let error = runtime.start().unwrap_err();
    assert_eq!(error.to_string(), "the adapter `right` failed: no line");
    assert_eq!(seen.all(), ["start one", "attach left", "attach right", "detach left", "stop one"]);
    assert!(registry.entries().is_empty());
}

#[test]
fn one_adapter_that_does_not_let_go_keeps_nothing_else_from_stopping() {
    let (registry, seen) = (registry(), Seen::default());
    let mut runtime = Runtime::new(registry.clone())
        .with_module(module("one", &seen))
        .with_adapter(noting("left", &seen))
        .with_adapter(Noting { detaches: false, ..noting("right", &seen) })
        .with_adapter(Noting { detaches: false, ..noting("last", &seen) });
    runtime.start().unwrap();
    assert_eq!(runtime.stop().unwrap_err().to_string(), "the adapter `last` failed: stuck");
    assert_eq!(seen.all()[4..], ["detach last", "detach right", "detach left", "stop one"]);
    assert!(registry.entries().is_empty());
}

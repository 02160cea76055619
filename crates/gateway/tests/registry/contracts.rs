//! The contract kits, on the registry and on the adapter of text maps.

use callgate_gateway::registry::{Adapter, AdapterError, Registry, TextMapAdapter, Unpublished, kit};
use callgate_wire::AgentResult;

use super::{lenient, registry};

#[test]
fn the_registry_keeps_its_contract_in_each_profile() {
    kit::registry_contract(&registry()).unwrap();
    kit::registry_contract(&lenient()).unwrap();
}

#[test]
fn the_adapter_of_text_maps_keeps_the_contract() {
    let proof = kit::adapter_contract(&mut TextMapAdapter::new(), &registry()).unwrap();
    assert!(proof.follows);
    assert_eq!(proof.published, ["contract_echo", "contract_fail", "contract_second"]);
}

#[test]
fn an_adapter_that_does_not_watch_keeps_the_rest_of_the_contract() {
    let mut adapter = Faulty { inner: TextMapAdapter::new(), fault: Fault::DoesNotWatch };
    let proof = kit::adapter_contract(&mut adapter, &registry()).unwrap();
    assert!(!proof.follows);
    assert_eq!(proof.published, ["contract_echo", "contract_fail", "contract_second"]);
}

/// An adapter with one fault.
struct Faulty {
    inner: TextMapAdapter,
    fault: Fault,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    KeepsOnDetach,
    Deaf,
    AttachesTwice,
    ForgetsDetails,
    /// No fault: it publishes what is there when it is attached, and says so.
    DoesNotWatch,
}

impl Adapter for Faulty {
    fn name(&self) -> &str {
        self.inner.name()
    }
    fn attach(&mut self, registry: &Registry) -> Result<Vec<Unpublished>, AdapterError> {
        if self.fault == Fault::AttachesTwice {
            self.inner.detach()?;
        }
        self.inner.attach(registry)
    }
    fn detach(&mut self) -> Result<(), AdapterError> {
        if self.fault == Fault::KeepsOnDetach { Ok(()) } else { self.inner.detach() }
    }
    fn watches(&self) -> bool {
        self.fault != Fault::DoesNotWatch
    }
    fn turn(&mut self) -> Vec<Unpublished> {
        let deaf = matches!(self.fault, Fault::Deaf | Fault::DoesNotWatch);
        if deaf { Vec::new() } else { self.inner.turn() }
    }
    fn published(&self) -> Vec<String> {
        self.inner.published()
    }
    fn call(&self, key: &str, arguments: &[u8]) -> AgentResult {
        let result = self.inner.call(key, arguments);
        match &result {
            AgentResult::Failure(failure) if self.fault == Fault::ForgetsDetails => {
                AgentResult::failure(failure.code.clone(), failure.message.clone())
            }
            _ => result,
        }
    }
}

#[test]
fn the_kit_finds_what_an_adapter_does_wrong() {
    for (fault, property) in [
        (Fault::KeepsOnDetach, "detach takes everything back"),
        (Fault::Deaf, "what is registered later is published by the next turn"),
        (Fault::AttachesTwice, "a second attach is refused"),
        (Fault::ForgetsDetails, "a failure passes with its code and details"),
    ] {
        let mut adapter = Faulty { inner: TextMapAdapter::new(), fault };
        assert_eq!(
            kit::adapter_contract(&mut adapter, &registry()).unwrap_err().property,
            property,
            "{fault:?}"
        );
    }
}

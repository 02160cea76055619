//! Register, unregister, list.

use callgate_gateway::registry::{Descriptor, EntryKind, Registration, RegistryError, Request, kit};
use callgate_schema::Code;
use callgate_wire::{AgentResult, Object};

use super::{idle, lenient, object, registry, tool};

fn keys(registry: &callgate_gateway::registry::Registry) -> Vec<String> {
    registry.entries().iter().map(|entry| entry.key().to_owned()).collect()
}

#[test]
fn what_was_registered_is_found_by_its_key() {
    let registry = registry();
    registry.register(kit::echo().unwrap()).unwrap();
    let entry = registry.get("contract_echo").unwrap();
    assert_eq!(*entry.descriptor(), *kit::echo().unwrap().descriptor());
}

#[test]
fn a_key_that_is_taken_stays_with_the_first_and_nobody_hears_of_the_second() {
    let registry = registry();
    registry.register(kit::echo().unwrap()).unwrap();
    let first = registry.get("contract_echo").unwrap();
    let events = registry.subscribe();
    assert!(matches!(registry.register(kit::echo().unwrap()), Err(RegistryError::Collision { .. })));
    assert!(std::sync::Arc::ptr_eq(&first, &registry.get("contract_echo").unwrap()));
    assert_eq!(events.next_event(), None);
}

#[test]
fn one_descriptor_lives_under_two_keys_and_both_say_its_own_name() {
    let registry = registry();
    registry.register(kit::echo().unwrap()).unwrap();
    registry.register(kit::echo().unwrap().with_key("second")).unwrap();
    assert_eq!(keys(&registry), ["contract_echo", "second"]);
    let names: Vec<_> = registry.entries().iter().map(|entry| entry.descriptor().qualified_name()).collect();
    assert_eq!(names, ["contract_echo", "contract_echo"], "descriptors alone lose the keys");
}

#[test]
fn an_entry_is_looked_up_by_its_stored_key_alone() {
    let registry = registry();
    registry.register(kit::echo().unwrap().with_key("custom")).unwrap();
    assert!(registry.get("contract_echo").is_none());
    let result = registry.invoke(&Request::new("contract_echo", b"{}"));
    assert_eq!(result.code().unwrap().as_str(), "intent_not_found");
    assert!(registry.invoke(&Request::new("custom", br#"{"text":"a","count":1}"#)).is_ok());
}

#[test]
fn unregistering_what_is_not_there_does_nothing() {
    let registry = registry();
    let events = registry.subscribe();
    assert!(!registry.unregister("nothing"));
    assert_eq!(events.next_event(), None);
}

#[test]
fn a_key_can_be_taken_again_after_it_was_given_back() {
    let registry = registry();
    let events = registry.subscribe();
    registry.register(idle("a", "b")).unwrap();
    assert!(registry.unregister("a_b"));
    registry.register(idle("a", "b")).unwrap();
    assert_eq!(std::iter::from_fn(|| events.next_event()).count(), 3);
    assert_eq!(keys(&registry), ["a_b"]);
}

#[test]
fn entries_keep_their_order_and_are_filtered_by_the_descriptors_namespace() {
    let registry = registry();
    registry.register(idle("z", "one")).unwrap();
    registry.register(idle("a", "two").with_key("z_two")).unwrap();
    registry.register(idle("z", "three").with_key("a_three")).unwrap();
    registry.unregister("z_one");
    registry.register(idle("z", "one")).unwrap();
    assert_eq!(keys(&registry), ["z_two", "a_three", "z_one"]);
    let of_z: Vec<_> = registry.entries_of("z").iter().map(|entry| entry.key().to_owned()).collect();
    assert_eq!(of_z, ["a_three", "z_one"]);
}

#[test]
fn a_list_does_not_change_while_it_is_walked() {
    let registry = registry();
    registry.register(idle("a", "b")).unwrap();
    registry.register(idle("a", "c")).unwrap();
    let mut walked = Vec::new();
    for entry in registry.entries() {
        registry.unregister("a_c");
        let _ = registry.register(idle("a", "later"));
        walked.push(entry.key().to_owned());
    }
    assert_eq!(walked, ["a_b", "a_c"]);
}

#[test]
fn tools_and_resources_share_one_key_space() {
    let registry = registry();
    let state = Descriptor::resource("app", "state", "The state").unwrap();
    assert_eq!(state.kind(), EntryKind::Resource);
    registry.register(Registration::new(state, |_| Ok(AgentResult::success(Object::new())))).unwrap();
    assert!(matches!(registry.register(idle("app", "state")), Err(RegistryError::Collision { .. })));
}

#[test]
fn a_schema_is_compiled_at_registration_and_the_profile_decides() {
    let with = |schema: &str| {
        let descriptor = tool("a", "b").with_input_schema(object(schema));
        Registration::new(descriptor, |_| Ok(AgentResult::success(Object::new())))
    };
    let codes = |findings: &[callgate_schema::Finding]| findings.iter().map(|f| f.code).collect::<Vec<_>>();
    let unknown = r#"{"type":"object","properties":{"n":{"type":"integer","mimimum":1}}}"#;
    match registry().register(with(unknown)) {
        Err(RegistryError::Schema { key, findings }) => {
            assert_eq!((key.as_str(), codes(&findings)), ("a_b", vec![Code::SchemaUnknownKeyword]));
        }
        other => panic!("{other:?}"),
    }
    let taken = lenient().register(with(unknown)).unwrap();
    assert_eq!(codes(&taken.warnings), [Code::SchemaNotEnforced]);
    for registry in [registry(), lenient()] {
        assert!(matches!(registry.register(with(r#"{"type":"array"}"#)), Err(RegistryError::Schema { .. })));
    }
}

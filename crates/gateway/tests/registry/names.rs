//! Names and keys.

use callgate_gateway::registry::{Descriptor, RegistryError, Request, kit};
use callgate_wire::Scheme;

use super::{idle, registry, tool};

#[test]
fn a_namespace_and_a_name_are_lower_case_words() {
    for good in ["a", "a1_b", "a__b", "a_"] {
        assert!(Descriptor::tool(good, "x", "").is_ok() && Descriptor::tool("n", good, "").is_ok(), "{good}");
    }
    for bad in ["", "A", "1a", "_a", "a-b", "a.b", "ä", "a b", "aB"] {
        let namespace = Descriptor::tool(bad, "x", "").unwrap_err();
        assert!(matches!(namespace, RegistryError::Name { field: "namespace", .. }), "{bad}");
        let name = Descriptor::resource("n", bad, "").unwrap_err();
        assert!(matches!(name, RegistryError::Name { field: "name", .. }), "{bad}");
    }
}

#[test]
fn the_qualified_name_is_namespace_and_name_joined() {
    assert_eq!(tool("contract", "echo").qualified_name(), "contract_echo");
}

#[test]
fn a_name_that_repeats_its_namespace_is_refused_when_the_descriptor_is_built() {
    assert!(Descriptor::tool("app", "app_x", "").is_err());
    assert!(Descriptor::tool("app", "apple", "").is_ok());
    assert!(Descriptor::tool("app", "app", "").is_ok());
}

#[test]
fn two_pairs_that_meet_in_one_key_collide_and_the_message_names_both() {
    let registry = registry();
    registry.register(idle("a_b", "c")).unwrap();
    let error = registry.register(idle("a", "b_c")).unwrap_err().to_string();
    for part in ["`a_b_c`", "`c` in `a_b`", "`b_c` in `a`"] {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn a_dot_is_never_part_of_a_key() {
    let registry = registry();
    registry.register(idle("demo", "ping")).unwrap();
    let result = registry.invoke(&Request::new("demo.ping", b"{}"));
    assert_eq!(result.code().unwrap().as_str(), "intent_not_found");
    assert!(registry.invoke(&Request::new("demo_ping", b"{}")).is_ok());
}

#[test]
fn an_override_is_any_text_but_an_empty_one() {
    let registry = registry();
    for key in ["app://state/{id}", "Any Text", "ä"] {
        assert_eq!(registry.register(idle("a", "b").with_key(key)).unwrap().key, key);
    }
    assert!(matches!(registry.register(idle("a", "b").with_key("")), Err(RegistryError::EmptyKey)));
}

#[test]
fn the_method_name_is_the_bare_name_unless_another_is_given() {
    let mut descriptor = tool("contract", "echo");
    assert_eq!(descriptor.method_name(), "echo");
    descriptor.method = Some("handleEcho".to_owned());
    assert_eq!(descriptor.method_name(), "handleEcho");
}

#[test]
fn the_uri_of_a_resource_is_its_own_or_that_of_its_name_in_the_apps_scheme() {
    let scheme = Scheme::new("demoapp").unwrap();
    let state = Descriptor::resource("app", "editor_state", "").unwrap();
    assert_eq!(state.resource_uri(Some(&scheme)).as_deref(), Some("demoapp://resource/editor/state"));
    assert_eq!(state.resource_uri(None), None);
    let own = state.with_uri("other://x");
    assert_eq!(own.resource_uri(Some(&scheme)).as_deref(), Some("other://x"));
}

#[test]
fn a_variable_that_would_replace_the_uri_is_refused() {
    let descriptor = Descriptor::resource("app", "file", "").unwrap().with_uri("app://file/{uri}");
    let registration = callgate_gateway::registry::Registration::new(descriptor, |_| {
        Ok(callgate_wire::AgentResult::success(callgate_wire::Object::new()))
    });
    assert!(matches!(registry().register(registration), Err(RegistryError::Name { field: "variable", .. })));
}

#[test]
fn the_entries_of_the_kit_are_as_it_says() {
    assert_eq!(kit::echo().unwrap().key(), "contract_echo");
    assert_eq!(kit::fail().unwrap().key(), "contract_fail");
}

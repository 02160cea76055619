//! A registry as a server: what is listed, what a call and a read give, and what is announced.

use callgate_gateway::registry::kit::{MemoryJournal, adapter_contract, echo, fail, late};
use callgate_gateway::registry::{
    Adapter, CoercionMode, Descriptor, HandlerError, Registration, Registry, Settings,
};
use callgate_schema::Profile;
use callgate_wire::{AgentResult, EntityType, Object, Scheme};

use super::{McpAdapter, Reply};

fn registry() -> Registry {
    Registry::new(MemoryJournal::ports())
}

fn attached(registry: &Registry) -> McpAdapter {
    let mut adapter = McpAdapter::new("test", "0").with_scheme(Scheme::new("demoapp").unwrap());
    assert_eq!(adapter.attach(registry).unwrap(), []);
    adapter
}

fn object(text: &str) -> Object {
    Object::parse(text).unwrap()
}

/// The `result` or the `error` of the answer to a request.
fn ask(adapter: &mut McpAdapter, method: &str, params: &str) -> String {
    let line = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{params}}}"#);
    let answer = match adapter.take(line.as_bytes()) {
        Reply::Work(work) => work.run(),
        Reply::Answer(answer) => answer,
        Reply::Silent => panic!("no answer to {line}"),
    };
    let answer = String::from_utf8(answer).unwrap();
    let rest = answer.strip_prefix(r#"{"jsonrpc":"2.0","id":7,"#).unwrap_or_else(|| panic!("{answer}"));
    rest.strip_suffix('}').unwrap().to_owned()
}

fn ready(adapter: &mut McpAdapter) {
    let answer =
        ask(adapter, "initialize", r#"{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{}}"#);
    assert!(
        answer.contains(r#""protocolVersion":"2025-06-18""#) && answer.contains(r#""listChanged":true"#),
        "{answer}"
    );
    assert!(matches!(
        adapter.take(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#),
        Reply::Silent
    ));
}

fn announced(adapter: &mut McpAdapter) -> Vec<String> {
    adapter.turn();
    adapter.announcements().into_iter().map(|frame| String::from_utf8(frame).unwrap()).collect()
}

/// A resource whose handler gives back its arguments.
fn mirror(descriptor: Descriptor) -> Registration {
    Registration::new(descriptor, |invocation| Ok(AgentResult::success(invocation.object()?)))
}

fn resource(name: &str) -> Descriptor {
    Descriptor::resource("app", name, "What there is").unwrap()
}

#[test]
fn the_adapter_keeps_the_contract() {
    let mut adapter = McpAdapter::new("test", "0");
    let proof = adapter_contract(&mut adapter, &registry()).unwrap();
    assert!(proof.follows);
    assert_eq!(proof.published, ["contract_echo", "contract_fail", "contract_second"]);
}

#[test]
fn a_tool_is_listed_by_its_key_with_its_schema_as_registered() {
    let registry = registry();
    registry.register(echo().unwrap().with_key("custom.echo")).unwrap();
    let listed = ask(&mut attached(&registry), "tools/list", "{}");
    let schema = echo().unwrap().descriptor().input_schema.as_str().to_owned();
    assert_eq!(
        listed,
        format!(
            r#""result":{{"tools":[{{"name":"custom.echo","description":"Gives back what it is given","inputSchema":{schema}}}]}}"#
        )
    );
}

#[test]
fn a_key_that_is_no_tools_name_is_reported_and_the_others_are_published() {
    let registry = registry();
    let long = "x".repeat(129);
    for key in ["a b", "app://x", "ä", &long] {
        registry.register(late().unwrap().with_key(key)).unwrap();
    }
    registry.register(late().unwrap()).unwrap();
    let mut adapter = McpAdapter::new("test", "0");
    let unpublished = adapter.attach(&registry).unwrap();
    assert_eq!(
        unpublished.iter().map(|one| one.key.as_str()).collect::<Vec<_>>(),
        ["a b", "app://x", "ä", &long]
    );
    assert!(unpublished[0].reason.contains("letters, digits"));
    assert_eq!(adapter.published(), ["contract_late"]);
}

#[test]
fn a_call_without_arguments_has_an_empty_object() {
    let registry = registry();
    registry.register(mirror(Descriptor::tool("app", "mirror", "").unwrap())).unwrap();
    let answer = ask(&mut attached(&registry), "tools/call", r#"{"name":"app_mirror"}"#);
    assert_eq!(answer, r#""result":{"content":[{"type":"text","text":"{}"}]}"#);
}

#[test]
fn a_failure_is_a_result_and_an_unknown_tool_an_error_of_the_protocol() {
    let registry = registry();
    registry.register(fail().unwrap()).unwrap();
    registry.register(echo().unwrap()).unwrap();
    let mut adapter = attached(&registry);
    let failed = ask(&mut adapter, "tools/call", r#"{"name":"contract_fail","arguments":{}}"#);
    assert!(failed.starts_with(r#""result":"#) && failed.ends_with(r#""isError":true}"#), "{failed}");
    assert!(failed.contains("contract_failure"));
    let refused = ask(&mut adapter, "tools/call", r#"{"name":"contract_echo","arguments":{}}"#);
    assert!(refused.contains("validation_error") && refused.ends_with(r#""isError":true}"#), "{refused}");
    let unknown = ask(&mut adapter, "tools/call", r#"{"name":"contract.echo","arguments":{}}"#);
    assert!(unknown.starts_with(r#""error":{"code":-32602,"#), "{unknown}");
}

#[test]
fn what_comes_and_goes_is_announced_once_the_session_is_up() {
    let registry = registry();
    let mut adapter = attached(&registry);
    registry.register(late().unwrap()).unwrap();
    assert!(announced(&mut adapter).is_empty(), "the client is not ready");
    ready(&mut adapter);
    let tools = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    let resources = r#"{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}"#;
    assert_eq!(announced(&mut adapter), [tools]);
    assert!(announced(&mut adapter).is_empty());
    registry.unregister("contract_late");
    registry.register(mirror(resource("state"))).unwrap();
    assert_eq!(announced(&mut adapter), [tools, resources]);
    registry.register_entity_type(EntityType::new("app", "thing", "id").unwrap()).unwrap();
    assert!(announced(&mut adapter).is_empty(), "types of entities are not published");
}

#[test]
fn the_message_of_a_success_travels_in_meta() {
    let registry = registry();
    let descriptor = Descriptor::tool("app", "save", "").unwrap();
    registry
        .register(Registration::new(descriptor, |_| {
            Ok(AgentResult::success(Object::new()).with_message("Saved"))
        }))
        .unwrap();
    let answer = ask(&mut attached(&registry), "tools/call", r#"{"name":"app_save"}"#);
    assert!(answer.contains(r#""_meta":{"dev.callgate.wire/message":"Saved"}"#), "{answer}");
}

#[test]
fn there_is_one_check_and_coercion_only_by_option() {
    let registry = registry();
    registry.register(echo().unwrap()).unwrap();
    let call = r#"{"name":"contract_echo","arguments":{"text":"a","count":"42"}}"#;
    let plain = ask(&mut attached(&registry), "tools/call", call);
    assert!(plain.ends_with(r#""isError":true}"#), "{plain}");
    let mut coercing = McpAdapter::new("test", "0").with_coercion(CoercionMode::Standard);
    coercing.attach(&registry).unwrap();
    let coerced = ask(&mut coercing, "tools/call", call);
    assert!(coerced.contains(r#"\"count\":42"#), "{coerced}");
}

#[test]
fn structured_content_comes_with_an_output_schema_alone() {
    let registry = registry();
    let plain = Descriptor::tool("app", "plain", "").unwrap();
    let typed = Descriptor::tool("app", "typed", "").unwrap();
    registry.register(mirror(plain)).unwrap();
    registry.register(mirror(typed.with_output_schema(object(r#"{"type":"object"}"#)))).unwrap();
    let mut adapter = attached(&registry);
    let answer = |adapter: &mut McpAdapter, name: &str| {
        ask(adapter, "tools/call", &format!(r#"{{"name":"{name}","arguments":{{"a":1.0}}}}"#))
    };
    assert!(!answer(&mut adapter, "app_plain").contains("structuredContent"));
    assert!(answer(&mut adapter, "app_typed").contains(r#""structuredContent":{"a":1.0}"#));
}

#[test]
fn a_resource_is_listed_by_its_uri_and_a_template_apart() {
    let registry = registry();
    registry.register(mirror(resource("editor_state"))).unwrap();
    registry.register(mirror(resource("lines").with_uri("demoapp://lines/{count}"))).unwrap();
    let mut adapter = attached(&registry);
    assert_eq!(
        ask(&mut adapter, "resources/list", "{}"),
        r#""result":{"resources":[{"uri":"demoapp://resource/editor/state","name":"app_editor_state","description":"What there is","mimeType":"application/json"}]}"#
    );
    assert_eq!(
        ask(&mut adapter, "resources/templates/list", "{}"),
        r#""result":{"resourceTemplates":[{"uriTemplate":"demoapp://lines/{count}","name":"app_lines","description":"What there is","mimeType":"application/json"}]}"#
    );
}

#[test]
fn resources_are_published_unless_the_host_wants_tools_alone() {
    let registry = registry();
    registry.register(mirror(resource("state"))).unwrap();
    registry.register(late().unwrap()).unwrap();
    let mut adapter = McpAdapter::new("test", "0").without_resources();
    assert_eq!(adapter.attach(&registry).unwrap(), []);
    assert_eq!(adapter.published(), ["contract_late"]);
    let initialized = ask(&mut adapter, "initialize", r#"{"protocolVersion":"2025-06-18"}"#);
    assert!(initialized.contains(r#""capabilities":{"tools":{"listChanged":true}}"#), "{initialized}");
    for method in ["resources/list", "resources/templates/list", "resources/read"] {
        let answer = ask(&mut adapter, method, r#"{"uri":"demoapp://resource/state"}"#);
        assert!(answer.starts_with(r#""error":{"code":-32601,"#), "{answer}");
    }
    let mut both = attached(&registry);
    assert!(ask(&mut both, "resources/list", "{}").contains("demoapp://resource/state"));
}

#[test]
fn a_client_that_is_away_for_long_is_told_what_there_is_then() {
    let registry = registry();
    registry.register(late().unwrap()).unwrap();
    registry.register(mirror(resource("state"))).unwrap();
    let mut adapter = attached(&registry);
    for _ in 0..600 {
        registry.unregister("contract_late");
        registry.register(late().unwrap()).unwrap();
    }
    // Nobody hears of these.
    registry.unregister("app_state");
    registry.unregister("contract_late");
    registry.register(echo().unwrap().with_key("contract_late")).unwrap();
    let listed = ask(&mut adapter, "tools/list", "{}");
    assert_eq!(listed.matches(r#""name":"contract_late""#).count(), 1, "{listed}");
    assert!(listed.contains("Gives back what it is given"), "{listed}");
    assert_eq!(ask(&mut adapter, "resources/list", "{}"), r#""result":{"resources":[]}"#);
}

#[test]
fn a_read_has_the_uri_and_what_the_template_captures_as_its_schema_wants_it() {
    let registry = registry();
    registry.register(mirror(resource("state"))).unwrap();
    registry.register(mirror(resource("lines").with_uri("demoapp://lines/{count}/{name}"))).unwrap();
    let mut adapter = attached(&registry);
    let read = |adapter: &mut McpAdapter, uri: &str| {
        ask(adapter, "resources/read", &format!(r#"{{"uri":"{uri}"}}"#))
    };
    assert!(
        read(&mut adapter, "demoapp://resource/state").contains(r#"{\"uri\":\"demoapp://resource/state\"}"#)
    );
    let lines = read(&mut adapter, "demoapp://lines/12/a%20b");
    assert!(lines.contains(r#"\"count\":12,\"name\":\"a b\""#), "{lines}");
    // A query hides no resource.
    let query = read(&mut adapter, "demoapp://resource/state?x=1");
    assert!(query.contains(r#"{\"uri\":\"demoapp://resource/state?x=1\"}"#), "{query}");
}

#[test]
fn a_uri_that_one_template_does_not_match_is_asked_of_the_next() {
    let registry = registry();
    registry.register(mirror(resource("one").with_uri("demoapp://a/{x}"))).unwrap();
    registry.register(mirror(resource("two").with_uri("demoapp://a/{x}/{y}"))).unwrap();
    let mut adapter = attached(&registry);
    let read = ask(&mut adapter, "resources/read", r#"{"uri":"demoapp://a/1/2"}"#);
    assert!(read.contains(r#"\"y\":\"2\""#), "{read}");
    let none = ask(&mut adapter, "resources/read", r#"{"uri":"demoapp://b"}"#);
    assert!(none.starts_with(r#""error":{"code":-32002,"#), "{none}");
}

#[test]
fn a_uri_that_is_taken_and_one_that_there_is_not_are_reported() {
    let registry = registry();
    for (name, uri) in [("one", "demoapp://a/{x}"), ("two", "demoapp://a/{x}")] {
        registry.register(mirror(resource(name).with_uri(uri))).unwrap();
    }
    registry.register(mirror(resource("none"))).unwrap();
    let mut adapter = McpAdapter::new("test", "0");
    let unpublished = adapter.attach(&registry).unwrap();
    assert_eq!(unpublished.iter().map(|one| one.key.as_str()).collect::<Vec<_>>(), ["app_two", "app_none"]);
    assert!(
        unpublished[0].reason.contains("app_one") && unpublished[1].reason.contains("scheme"),
        "{unpublished:?}"
    );
}

#[test]
fn a_resource_under_another_key_is_taken_back_and_published_again() {
    let registry = registry();
    let under = |key: &str| mirror(resource("state").with_uri("demoapp://state/{id}")).with_key(key);
    registry.register(under("first")).unwrap();
    let mut adapter = attached(&registry);
    let read = |adapter: &mut McpAdapter| ask(adapter, "resources/read", r#"{"uri":"demoapp://state/1"}"#);
    assert!(read(&mut adapter).starts_with(r#""result""#));
    registry.unregister("first");
    assert!(read(&mut adapter).starts_with(r#""error""#));
    registry.register(under("second")).unwrap();
    assert!(read(&mut adapter).starts_with(r#""result""#));
    adapter.detach().unwrap();
    assert!(read(&mut adapter).starts_with(r#""error""#));
    adapter.attach(&registry).unwrap();
    assert!(read(&mut adapter).starts_with(r#""result""#));
}

#[test]
fn the_schemas_of_reads_are_closed_and_need_the_uri() {
    let plain = resource("state").input_schema;
    let template = resource("lines").with_uri("demoapp://lines/{count}/{name}").input_schema;
    for schema in [&plain, &template] {
        assert_eq!(schema.get("additionalProperties").unwrap().as_str(), "false");
        assert_eq!(schema.get("required").unwrap().as_str(), r#"["uri"]"#);
    }
    let types = template.get("properties").unwrap();
    assert!(
        types.as_str().contains(r#""count":{"type":"integer""#)
            && types.as_str().contains(r#""name":{"type":"string""#)
    );
}

#[test]
fn a_read_whose_handler_throws_is_an_error_of_the_protocol() {
    let registry = registry();
    registry
        .register(Registration::new(resource("gone"), |_| -> Result<AgentResult, HandlerError> {
            panic!("no")
        }))
        .unwrap();
    let answer = ask(&mut attached(&registry), "resources/read", r#"{"uri":"demoapp://resource/gone"}"#);
    assert!(answer.starts_with(r#""error":{"code":-32603,"message":"the handler panicked""#), "{answer}");
    assert!(answer.contains("intent_execution_error"));
}

#[test]
fn a_faulty_frame_is_answered_and_other_methods_are_not_known() {
    let registry = Registry::with_settings(
        MemoryJournal::ports(),
        Settings { profile: Profile::Portable, ..Settings::default() },
    );
    registry.register(echo().unwrap()).unwrap();
    let mut adapter = attached(&registry);
    let answer = |adapter: &mut McpAdapter, line: &str| match adapter.take(line.as_bytes()) {
        Reply::Answer(answer) => String::from_utf8(answer).unwrap(),
        other => panic!("{other:?}"),
    };
    assert!(answer(&mut adapter, "{").contains("-32700"));
    assert!(answer(&mut adapter, "[]").contains("-32600"));
    let twice = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"contract_echo","arguments":{"a":1,"a":1}}}"#;
    assert!(answer(&mut adapter, twice).contains("isError"), "a repeated name in the arguments");
    assert!(ask(&mut adapter, "prompts/list", "{}").starts_with(r#""error":{"code":-32601"#));
    assert_eq!(ask(&mut adapter, "ping", "{}"), r#""result":{}"#);
    assert!(String::from_utf8(adapter.refuse_oversize()).unwrap().contains("frame-too-large"));
}

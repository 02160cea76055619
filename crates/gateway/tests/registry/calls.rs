//! The way of a call.

use std::sync::mpsc;
use std::sync::{Arc, Barrier};

use callgate_gateway::journal::{IntentFilter, Records as _};
use callgate_gateway::registry::kit::{MemoryJournal, echo, fail};
use callgate_gateway::registry::{
    CoercionMode, Descriptor, HandlerError, Ports, Registration, Registry, Request, Settings,
};
use callgate_wire::{AgentResult, Artifact, Code, IntentState, Object, Principal, SideEffect};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Seen, lenient, object, registry, tool};

fn code(result: &AgentResult) -> &str {
    result.code().map_or("ok", callgate_wire::FailureCode::as_str)
}

fn call(registry: &Registry, key: &str, arguments: &str) -> AgentResult {
    registry.invoke(&Request::new(key, arguments.as_bytes()))
}

/// An entry that notes the bytes that it sees.
fn noting(seen: &Seen, schema: &str) -> Registration {
    let seen = seen.clone();
    Registration::new(tool("app", "note").with_input_schema(object(schema)), move |invocation| {
        seen.add(String::from_utf8_lossy(invocation.arguments));
        Ok(AgentResult::success(Object::new()))
    })
}

const COUNT: &str = r#"{"type":"object","properties":{"count":{"type":"integer"},"o":{"type":"object"}}}"#;

#[test]
fn an_unknown_key_is_a_failure_that_names_it() {
    let result = call(&registry(), "contract_none", "{}");
    assert_eq!(code(&result), "intent_not_found");
    assert!(result.message().contains("`contract_none`"));
}

#[test]
fn a_call_is_looked_up_then_coerced_then_checked_then_run() {
    let registry = registry();
    registry.register(echo().unwrap()).unwrap();
    let coerced = Request::new("contract_echo", br#"{"text":"hi","count":"2"}"#).coerced(CoercionMode::Wire);
    let result = registry.invoke(&coerced);
    assert_eq!(result.data().unwrap().as_str(), r#"{"text":"hi","count":2,"qualifiedName":"contract_echo"}"#);
    // An unknown key is said before anything about the arguments.
    assert_eq!(code(&registry.invoke(&Request::new("none", b"not JSON"))), "intent_not_found");
}

#[test]
fn arguments_that_are_refused_never_reach_the_handler_and_the_message_names_them() {
    let registry = registry();
    let seen = Seen::default();
    registry.register(noting(&seen, r#"{"type":"object","required":["text"]}"#)).unwrap();
    for (arguments, word) in
        [("{}", "text"), ("[1]", "object"), ("{", "byte 1"), (r#"{"a":1,"a":2}"#, "once")]
    {
        let result = call(&registry, "app_note", arguments);
        assert_eq!(code(&result), "validation_error", "{arguments}");
        assert!(result.message().contains(word), "{}", result.message());
    }
    assert!(seen.all().is_empty());
}

#[test]
fn a_handler_sees_the_exact_bytes_that_were_checked() {
    let (registry, seen) = (registry(), Seen::default());
    registry.register(noting(&seen, COUNT)).unwrap();
    assert!(call(&registry, "app_note", r#" {"count" : 1.0e0,"z":[1 ]} "#).is_ok());
    let coerced = Request::new("app_note", br#"{ "count": " 0x2 ", "z" : 1 }"#).coerced(CoercionMode::Wire);
    assert!(registry.invoke(&coerced).is_ok());
    assert_eq!(seen.all(), [r#" {"count" : 1.0e0,"z":[1 ]} "#, r#"{ "count": 2, "z" : 1 }"#]);
}

#[test]
fn malformed_json_text_is_left_alone_and_the_check_names_the_parameter() {
    let registry = registry();
    registry.register(noting(&Seen::default(), COUNT)).unwrap();
    let request = Request::new("app_note", br#"{"o":"{\"a\":"}"#).coerced(CoercionMode::Wire);
    let result = registry.invoke(&request);
    assert_eq!(code(&result), "validation_error");
    assert!(result.message().contains("$arguments.o"), "{}", result.message());
}

#[test]
fn the_profile_of_text_maps_names_the_parameter_in_its_own_words() {
    let registry = lenient();
    registry.register(noting(&Seen::default(), COUNT)).unwrap();
    let result = call(&registry, "app_note", r#"{"count":"x"}"#);
    assert!(result.message().contains(r#"argument "count" must be an integer"#), "{}", result.message());
}

/// Ports that note what the log is told, and the journal behind them.
fn heard() -> (Ports, Arc<MemoryJournal>, Seen) {
    let (journal, seen) = (Arc::new(MemoryJournal::default()), Seen::default());
    let mut ports = MemoryJournal::ports_of(Arc::<MemoryJournal>::clone(&journal));
    let log = seen.clone();
    ports.on_fault = Arc::new(move |fault| {
        log.add(format!("{} {}: {}", fault.key, fault.correlation_id.unwrap_or("-"), fault.text));
    });
    (ports, journal, seen)
}

#[test]
fn what_a_handler_throws_is_told_to_the_log_and_only_its_public_part_to_the_caller() {
    let (ports, _, log) = heard();
    let registry = Registry::new(ports);
    registry
        .register(Registration::new(tool("app", "open"), |_| {
            "seven".parse::<u8>()?;
            Ok(AgentResult::success(Object::new()))
        }))
        .unwrap();
    registry
        .register(Registration::new(tool("app", "say"), |_| {
            Err(HandlerError::new("the editor is closed").caused_by("socket 7 is gone"))
        }))
        .unwrap();
    let opened = registry.invoke(&Request::new("app_open", b"{}").correlated("c-1"));
    assert_eq!((code(&opened), opened.message()), ("intent_execution_error", "the handler failed"));
    let said = registry.invoke(&Request::new("app_say", b"{}").correlated("c-2"));
    assert_eq!((code(&said), said.message()), ("intent_execution_error", "the editor is closed"));
    let log = log.all();
    assert!(log[0].starts_with("app_open c-1: the handler failed: invalid digit"), "{log:?}");
    assert_eq!(log[1], "app_say c-2: the editor is closed: socket 7 is gone");
}

#[test]
fn a_failure_passes_as_it_is() {
    let registry = registry();
    registry.register(fail().unwrap()).unwrap();
    let result = call(&registry, "contract_fail", "{}");
    let AgentResult::Failure(failure) = result else { panic!("{result:?}") };
    assert_eq!(failure.code.as_str(), "contract_failure");
    assert_eq!(failure.details.as_str(), r#"{"surface":"adapter_contract"}"#);
}

#[test]
fn a_success_passes_as_it_is_and_one_that_is_no_json_is_an_invalid_result() {
    let registry = registry();
    let full = AgentResult::success(object(r#"{"n":1.50}"#))
        .with_message("Done")
        .with_artifact(Artifact::bytes("image/png", [1, 2]));
    let given = full.clone();
    registry.register(Registration::new(tool("app", "full"), move |_| Ok(given.clone()))).unwrap();
    assert_eq!(call(&registry, "app_full", "{}"), full);
    registry
        .register(Registration::new(tool("app", "nan"), |_| {
            let data = std::collections::HashMap::from([("n", f64::NAN)]);
            Ok(AgentResult::success(Object::serialize(&data)?))
        }))
        .unwrap();
    assert_eq!(code(&call(&registry, "app_nan", "{}")), "invalid_result");
}

#[test]
fn a_validator_replaces_the_check_of_the_schema_and_sees_coerced_arguments() {
    let (registry, seen) = (registry(), Seen::default());
    let noted = seen.clone();
    let schema = r#"{"type":"object","properties":{"count":{"type":"integer"}},"required":["text"]}"#;
    let validated = noting(&seen, schema).with_validator(move |invocation| {
        let arguments = String::from_utf8_lossy(invocation.arguments).into_owned();
        noted.add(format!("checked {arguments}"));
        match arguments.as_str() {
            r#"{"count":1}"# => Err(HandlerError::validation("one is too few")),
            r#"{"count":2}"# => Err(HandlerError::new("the rules cannot be read")),
            r#"{"count":3}"# => panic!("three"),
            _ => Ok(()),
        }
    });
    registry.register(validated).unwrap();
    let ask = |arguments: &str| {
        let request = Request::new("app_note", arguments.as_bytes()).coerced(CoercionMode::Wire);
        code(&registry.invoke(&request)).to_owned()
    };
    assert_eq!(ask(r#"{"count":"0x9"}"#), "ok", "`text` is missing, and nobody asks");
    assert_eq!(ask(r#"{"count":"1"}"#), "validation_error");
    assert_eq!(ask(r#"{"count":"2"}"#), "intent_execution_error");
    assert_eq!(ask(r#"{"count":"3"}"#), "intent_execution_error");
    let ran: Vec<_> = seen.all().into_iter().filter(|text| !text.starts_with("checked")).collect();
    assert_eq!(ran, [r#"{"count":9}"#]);
}

#[test]
fn a_handler_can_refuse_the_arguments_itself() {
    let registry = registry();
    registry
        .register(Registration::new(tool("app", "picky"), |_| Err(HandlerError::validation("not today"))))
        .unwrap();
    let result = call(&registry, "app_picky", "{}");
    assert_eq!((code(&result), result.message()), ("validation_error", "not today"));
}

#[test]
fn the_correlation_id_reaches_the_handler_and_not_the_result() {
    let (registry, seen) = (registry(), Seen::default());
    let noted = seen.clone();
    registry
        .register(Registration::new(tool("app", "who"), move |invocation| {
            noted.add(invocation.correlation_id.unwrap_or("none"));
            Ok(AgentResult::success(Object::new()))
        }))
        .unwrap();
    let result = registry.invoke(&Request::new("app_who", b"{}").correlated("c-9"));
    assert!(!result.to_json().as_str().contains("c-9"));
    call(&registry, "app_who", "{}");
    assert_eq!(seen.all(), ["c-9", "none"]);
}

#[test]
fn two_calls_run_at_the_same_time_and_unregistering_lets_them_finish() {
    let registry = registry();
    let (entered, inside) = mpsc::channel();
    let barrier = Arc::new(Barrier::new(3));
    let gate = Arc::clone(&barrier);
    registry
        .register(Registration::new(tool("app", "slow"), move |_| {
            entered.send(()).unwrap();
            gate.wait();
            Ok(AgentResult::success(Object::new()))
        }))
        .unwrap();
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..2)
            .map(|_| {
                let registry = registry.clone();
                scope.spawn(move || call(&registry, "app_slow", "{}"))
            })
            .collect();
        // Both are within the handler at once: neither waits for the other, and no lock is held.
        inside.recv().unwrap();
        inside.recv().unwrap();
        assert!(registry.unregister("app_slow"));
        barrier.wait();
        assert!(calls.into_iter().all(|call| call.join().unwrap().is_ok()));
    });
    assert_eq!(code(&call(&registry, "app_slow", "{}")), "intent_not_found");
}

#[test]
fn an_entry_in_hand_is_called_the_same_way_and_what_goes_wrong_is_an_error() {
    let (registry, seen) = (registry(), Seen::default());
    registry.register(noting(&seen, COUNT)).unwrap();
    registry.register(fail().unwrap()).unwrap();
    registry
        .register(Registration::new(tool("app", "throws"), |_| Err(HandlerError::new("no line"))))
        .unwrap();
    let [note, failing, throws] = ["app_note", "contract_fail", "app_throws"].map(|key| {
        let entry = registry.get(key).unwrap();
        registry.unregister(key);
        entry
    });
    let ask = |arguments| Request::new("", arguments).coerced(CoercionMode::Wire);
    assert!(registry.call(&note, &ask(br#"{"count":"0x10"}"#)).unwrap().is_ok());
    assert_eq!(seen.all(), [r#"{"count":16}"#]);
    let refused = registry.call(&note, &ask(br#"{"count":"x"}"#)).unwrap_err();
    assert_eq!(refused.code.as_str(), "validation_error");
    let thrown = registry.call(&throws, &ask(b"{}")).unwrap_err();
    assert_eq!((thrown.code.as_str(), thrown.message.as_str()), ("intent_execution_error", "no line"));
    assert_eq!(code(&registry.call(&failing, &ask(b"{}")).unwrap()), "contract_failure");
}

#[test]
fn a_panic_is_a_failure_and_later_calls_are_unharmed() {
    let (ports, journal, log) = heard();
    let registry = Registry::new(ports);
    registry
        .register(Registration::new(tool("app", "bad"), |invocation| match invocation.arguments.len() {
            2 => panic!("at the disco"),
            _ => Ok(AgentResult::success(Object::new())),
        }))
        .unwrap();
    let result = call(&registry, "app_bad", "{}");
    assert_eq!((code(&result), result.message()), ("intent_execution_error", "the handler panicked"));
    assert!(call(&registry, "app_bad", r#"{"a":1}"#).is_ok());
    assert_eq!(log.all(), ["app_bad -: the handler panicked: at the disco"]);
    let intents = journal.list(&IntentFilter::last(10)).unwrap();
    let ended: Vec<_> = intents.iter().map(|intent| intent.settlement.as_ref().unwrap().in_doubt).collect();
    assert_eq!(ended, [false, true], "how far a handler came that panicked is not known");
}

#[test]
fn the_callers_arguments_are_never_changed() {
    let registry = registry();
    registry.register(noting(&Seen::default(), COUNT)).unwrap();
    let arguments = br#"{"count":"3"}"#.to_vec();
    assert!(registry.invoke(&Request::new("app_note", &arguments).coerced(CoercionMode::Wire)).is_ok());
    assert_eq!(arguments, br#"{"count":"3"}"#);
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Paint {
    /// What to paint.
    target: String,
    layers: Option<u8>,
    mode: Mode,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Fill,
    Line,
}

#[test]
fn a_typed_handler_gets_its_schema_from_its_arguments() {
    let registry = registry();
    let paint = Registration::typed(tool("studio", "paint"), |_, Paint { target, layers, mode }| {
        let mode = if matches!(mode, Mode::Fill) { "fill" } else { "line" };
        let painted = format!("{target} {} {mode}", layers.unwrap_or(1));
        Ok(AgentResult::success(Object::new().with("painted", painted)))
    });
    registry.register(paint.unwrap()).unwrap();
    let result = call(&registry, "studio_paint", r#"{"target":"wall","layers":2,"mode":"line"}"#);
    assert_eq!(result.data().unwrap().as_str(), r#"{"painted":"wall 2 line"}"#);
    for (bad, word) in [
        (r#"{"mode":"fill"}"#, "target"),
        (r#"{"target":"a","mode":"dots"}"#, "mode"),
        (r#"{"target":"a","mode":"fill","layers":256}"#, "layers"),
        (r#"{"target":"a","mode":"fill","colour":"red"}"#, "colour"),
    ] {
        let result = call(&registry, "studio_paint", bad);
        assert_eq!(code(&result), "validation_error", "{bad}");
        assert!(result.message().contains(word), "{}", result.message());
    }
}

#[test]
fn a_value_that_the_schema_takes_and_the_type_does_not_is_refused_by_name() {
    #[derive(Deserialize, JsonSchema)]
    struct Whole {
        n: i64,
    }
    let registry = registry();
    let whole = Registration::typed(tool("app", "whole"), |_, Whole { n }| {
        Ok(AgentResult::success(Object::new().with("n", n)))
    });
    registry.register(whole.unwrap()).unwrap();
    assert!(call(&registry, "app_whole", r#"{"n":5}"#).is_ok());
    let result = call(&registry, "app_whole", r#"{"n":123456789012345678901234567890}"#);
    assert_eq!(code(&result), "validation_error", "{result:?}");
}

#[test]
fn a_local_call_passes_the_gate_and_leaves_a_record() {
    let (ports, journal, _) = heard();
    let registry = Registry::with_settings(ports, Settings { app: "studio".into(), ..Settings::default() });
    let within = Arc::clone(&journal);
    let seen = Seen::default();
    let noted = seen.clone();
    let descriptor = tool("app", "save").with_input_schema(object(COUNT));
    registry
        .register(Registration::new(descriptor, move |_| {
            // The record is there before anything happens.
            let open = &within.list(&IntentFilter::last(1))?[0];
            noted.add(format!("{} {} {}", open.upstream, open.tool, open.settlement.is_none()));
            Ok(AgentResult::success(Object::new()))
        }))
        .unwrap();
    let ada = Principal::local("ada");
    assert!(!registry.invoke(&Request::new("app_save", br#"{"count":"x"}"#)).is_ok());
    assert!(journal.list(&IntentFilter::last(9)).unwrap().is_empty(), "what is refused leaves none");
    assert!(
        registry.invoke(&Request::new("app_save", br#"{"count":1}"#).on_behalf_of(&ada).in_run("r")).is_ok()
    );
    assert_eq!(seen.all(), ["studio app_save true"]);
    let intents = journal.list(&IntentFilter::last(9)).unwrap();
    let settlement = intents[0].settlement.as_ref().unwrap();
    assert_eq!((settlement.state, settlement.side_effect), (IntentState::Settled, SideEffect::Done));
    assert_eq!((&intents[0].principal, intents[0].run.as_deref()), (&ada, Some("r")));
    let record = journal.show(&intents[0].id.to_string()).unwrap().unwrap();
    assert_eq!(&*record.arguments, br#"{"count":1}"#);
}

#[test]
fn a_result_that_breaks_its_output_schema_is_marked_and_passes() {
    let (ports, journal, _) = heard();
    let registry = Registry::with_settings(ports, Settings { result_bytes_max: 500, ..Settings::default() });
    let descriptor = Descriptor::tool("app", "get", "Gets")
        .unwrap()
        .with_output_schema(object(r#"{"type":"object","required":["id"]}"#));
    registry
        .register(Registration::new(descriptor, |invocation| {
            let data = invocation.object()?;
            Ok(AgentResult::success(data))
        }))
        .unwrap();
    assert!(call(&registry, "app_get", r#"{"id":1}"#).is_ok());
    assert!(call(&registry, "app_get", r#"{"no":1}"#).is_ok());
    let long = format!(r#"{{"id":"{}"}}"#, "x".repeat(600));
    assert_eq!(code(&call(&registry, "app_get", &long)), "invalid_result");
    let intents = journal.list(&IntentFilter::last(9)).unwrap();
    let codes: Vec<_> = intents.iter().map(|intent| intent.settlement.as_ref().unwrap().code).collect();
    assert_eq!(codes, [Some(Code::ResultTooLarge), Some(Code::ResultBreaksOutputSchema), None]);
}

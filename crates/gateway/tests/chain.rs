//! The way of a call through the stages: the bytes stay, the digests tell calls apart, and refusals read well.

use callgate_gateway::Refusal;
use callgate_gateway::call::{Call, Departure, Dispatch, OutputCheck, Terms, resolve};
use callgate_gateway::catalog::{AdmissionSettings, Catalog, admit_tool};
use callgate_gateway::journal::{Command, Journal as _, JournalError, Ledger as _, MemoryJournal};
use callgate_gateway::policy::{Claims, RuleSet};
use callgate_schema::{Limits, Profile};
use callgate_testing::journal::Interposed;
use callgate_wire::{Code, Incarnation, IntentId, Principal, Timestamp};
use proptest::prelude::*;

const TOOL: &str = r#"{"name":"write_note","inputSchema":{"type":"object","properties":{"title":{"type":"string",
"maxLength":8},"copies":{"type":"integer","maximum":3}},"required":["title"],"additionalProperties":false},
"outputSchema":{"type":"object","required":["id"],"properties":{"id":{"type":"integer"}}}}"#;

fn catalog(upstream: &str, definitions: &[&str]) -> Catalog {
    let settings = AdmissionSettings::new(Profile::Standard);
    let admissions =
        definitions.iter().enumerate().map(|(at, raw)| admit_tool(raw.as_bytes(), at, &settings)).collect();
    Catalog::publish(1, upstream, admissions)
}

fn pass(catalog: &Catalog, tool: &str, arguments: &[u8], takes: bool) -> Result<Dispatch, Refusal> {
    let principal = Principal::local("ada");
    let memory = MemoryJournal::new(Incarnation::from_bytes([1; 16]));
    let call = Call { principal: &principal, run: None, tool, arguments };
    let bound = resolve(catalog, call)?.bind(&Limits::default())?;
    let authorized = bound.authorize(&RuleSet::none(), &Claims::none())?;
    let terms = Terms::new(IntentId::from_bytes([2; 16]), memory.incarnation().clone(), Timestamp(5));
    let opening = authorized.open(terms);
    let departure = if takes {
        opening.commit(&memory)
    } else {
        let full = |_: &MemoryJournal, _| Err(JournalError::new(Code::StoreUnavailable, "the disk is full"));
        opening.commit(&Interposed::new(memory, full))
    };
    match departure {
        Ok(Departure::Go(dispatch)) => Ok(*dispatch),
        Ok(Departure::Known(..)) => unreachable!("nothing is known before"),
        Err((refusal, _)) => Err(*refusal),
    }
}

fn refused(tool: &str, arguments: &str) -> String {
    let catalog = catalog("notes", &[TOOL, r#"{"name":"odd","inputSchema":{"type":"object","nmae":1}}"#]);
    match pass(&catalog, tool, arguments.as_bytes(), true) {
        Ok(_) => "permitted".to_owned(),
        Err(refusal) => format!(
            "[{} {} {}]\n{}",
            refusal.stage,
            refusal.class(),
            refusal.side_effect,
            refusal.text_for_model(3)
        ),
    }
}

#[test]
fn a_refusal_says_what_was_expected_what_was_found_and_how_to_mend_it() {
    insta::assert_snapshot!(refused("write_note", r#"{"title":5,"copies":4,"colour":"secret"}"#), @r#"
    [bind validation none]
    refused (call-arguments-invalid): the arguments break the input schema of `write_note`; nothing was sent to the tool
    - $arguments.copies: expected a number at most 3, found a larger one (number-too-large)
    - $arguments.title: expected string, found integer (type-mismatch)
    - $arguments: expected no member `colour`, found one (property-unexpected)
      the members are `copies`, `title`
    mend the arguments and call again
    "#);
    insta::assert_snapshot!(refused("write_note", r#"{"title":"a","title":"b"}"#), @r#"
    [bind validation none]
    refused (call-arguments-invalid): the arguments break the input schema of `write_note`; nothing was sent to the tool
    - expected each member once, found `title` at bytes 1 and 13 (json-duplicate-name)
      keep one of the two members
    mend the arguments and call again
    "#);
    insta::assert_snapshot!(refused("write_note", "[1]"), @r#"
    [bind validation none]
    refused (call-malformed): expected the arguments of `write_note` to be an object, found array; nothing was sent to the tool
    - expected the arguments of `write_note` to be an object, found array (arguments-shape)
    "#);
    insta::assert_snapshot!(refused("write_notes", "{}"), @r#"
    [resolve not_found none]
    refused (call-unknown-tool): expected the name of a tool that is listed, found `write_notes`; nothing was sent to the tool
    did you mean `write_note`?
    "#);
    insta::assert_snapshot!(refused("zzz", "{}"), @r#"
    [resolve not_found none]
    refused (call-unknown-tool): expected the name of a tool that is listed, found `zzz`; nothing was sent to the tool
    list the tools and take one of those
    "#);
    insta::assert_snapshot!(refused("odd", "{}"), @r#"
    [resolve unsupported_capability none]
    refused (call-tool-quarantined): the tool `odd` is not admitted (tool-input-schema-refused); nothing was sent to the tool
    - schema `/nmae`: expected a keyword of JSON Schema 2020-12, found `nmae` (schema-unknown-keyword)
      leave it out, or write it as `x-…` if it only informs people
    use another tool; only the author of this one can mend it
    "#);
    let deep = format!(r#"{{"title":{}{}}}"#, "[".repeat(1000), "]".repeat(1000));
    insta::assert_snapshot!(refused("write_note", &deep), @r#"
    [bind execution_failure none]
    refused (call-arguments-undecided): the arguments for `write_note` could not be judged within the limits; nothing was sent to the tool
    - expected at most 128 (arguments_depth), found more at byte 136 (limit-exceeded)
    send smaller or simpler arguments
    "#);
}

#[test]
fn a_refusal_holds_no_value_of_the_arguments_and_its_lines_are_bounded() {
    let long = "x".repeat(5000);
    let text = refused("write_note", &format!(r#"{{"title":"{long}\n","{long}\n":1}}"#));
    assert!(text.lines().all(|line| line.chars().count() <= 301), "{text}");
    let text = refused("write_note", r#"{"title":"topsecretvalue","copies":77123}"#);
    assert!(!text.contains("topsecret") && !text.contains("77123"), "{text}");
}

#[test]
fn a_journal_that_does_not_take_the_intent_ends_the_call() {
    let refusal = pass(&catalog("notes", &[TOOL]), "write_note", br#"{"title":"a"}"#, false).unwrap_err();
    assert_eq!(refusal.code, Code::StoreUnavailable);
    assert!(!refusal.text_for_model(3).contains("disk"), "the model is told nothing of the machine");
}

#[test]
#[should_panic(expected = "the proof is for this call")]
fn a_proof_of_another_call_lets_nothing_leave() {
    let catalog = catalog("notes", &[TOOL]);
    let principal = Principal::local("ada");
    let call = Call { principal: &principal, run: None, tool: "write_note", arguments: br#"{"title":"a"}"# };
    let bound = resolve(&catalog, call).unwrap().bind(&Limits::default()).unwrap();
    let authorized = bound.authorize(&RuleSet::none(), &Claims::none()).unwrap();
    let memory = MemoryJournal::new(Incarnation::from_bytes([1; 16]));
    let terms = Terms::new(IntentId::from_bytes([2; 16]), memory.incarnation().clone(), Timestamp(5));
    // A store that records another call than the one that it was given.
    let mixed_up = |memory: &MemoryJournal, command| match command {
        Command::Open(mut request) => {
            request.record.intent.call_digest = request.record.intent.arguments_digest;
            memory.commit(Command::Open(request))
        }
        other => memory.commit(other),
    };
    let _ = authorized.open(terms).commit(&Interposed::new(memory, mixed_up));
}

#[test]
fn a_result_is_checked_against_the_output_schema() {
    let dispatch = pass(&catalog("notes", &[TOOL]), "write_note", br#"{"title":"a"}"#, true).unwrap();
    let check =
        |structured: Option<&str>| dispatch.check_output(structured.map(str::as_bytes), &Limits::default());
    let codes = |structured| match check(structured) {
        OutputCheck::Broken(findings) => findings.into_iter().map(|finding| finding.code.as_str()).collect(),
        other => vec![if other == OutputCheck::Kept { "kept" } else { "other" }],
    };
    assert_eq!(codes(Some(r#"{"id":1.0}"#)), ["kept"]);
    assert_eq!(codes(Some(r#"{"id":"1"}"#)), ["type-mismatch"]);
    assert_eq!(codes(Some(r#"{"id":1,"id":1}"#)), ["json-duplicate-name"]);
    assert_eq!(codes(None), ["property-missing"]);
    let deep = "[".repeat(1000) + &"]".repeat(1000);
    assert!(matches!(check(Some(&deep)), OutputCheck::Unchecked(_)), "a limit decides nothing");
}

#[test]
fn the_call_digest_tells_calls_apart_by_each_of_its_four_parts_and_by_nothing_else() {
    let any = |name: &str| format!(r#"{{"name":"{name}","inputSchema":{{}}}}"#);
    let digest = |upstream, definition: &str, tool, arguments: &str| {
        let dispatch = pass(&catalog(upstream, &[definition]), tool, arguments.as_bytes(), true).unwrap();
        dispatch.intent().call_digest
    };
    let base = digest("u", &any("a"), "a", r#"{"n":1,"m":2}"#);
    assert_eq!(base, digest("u", &any("a"), "a", r#" { "m" : 2.0, "n" : 1e0 } "#));
    assert_ne!(base, digest("v", &any("a"), "a", r#"{"n":1,"m":2}"#));
    assert_ne!(base, digest("u", &any("b"), "b", r#"{"n":1,"m":2}"#));
    assert_ne!(base, digest("u", r#"{"name":"a","inputSchema":{},"x":1}"#, "a", r#"{"n":1,"m":2}"#));
    assert_ne!(base, digest("u", &any("a"), "a", r#"{"n":1,"m":3}"#));
}

proptest! {
    #[test]
    fn a_call_passes_exactly_when_its_arguments_keep_the_schema_and_keeps_its_bytes(
        title in "[a-z]{0,12}", copies in proptest::option::of(-2i64..8), pad in " {0,3}", extra in any::<bool>(),
    ) {
        let mut members = vec![format!(r#""title":{pad}"{title}""#)];
        members.extend(copies.map(|copies| format!(r#""copies":{copies}"#)));
        members.extend(extra.then(|| r#""x":null"#.to_owned()));
        let arguments = format!("{{{}{pad}}}", members.join(","));
        let keeps = title.len() <= 8 && copies.is_none_or(|copies| copies <= 3) && !extra;
        let catalog = catalog("notes", &[TOOL]);
        match pass(&catalog, "write_note", arguments.as_bytes(), true) {
            Ok(dispatch) => {
                prop_assert!(keeps);
                prop_assert_eq!(dispatch.arguments(), arguments.as_bytes());
                prop_assert_eq!(&*dispatch.record().arguments, arguments.as_bytes());
                prop_assert_eq!(dispatch.intent().contract_digest, catalog.admitted()[0].contract_digest);
                prop_assert!(dispatch.intent().settlement.is_none());
            }
            Err(refusal) => {
                prop_assert!(!keeps);
                prop_assert_eq!(refusal.code, Code::CallArgumentsInvalid);
                prop_assert!(!refusal.findings.is_empty());
            }
        }
    }
}

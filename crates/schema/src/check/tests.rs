//! What reports say: the ways to a violation, the closest branch, what is bounded.

use super::*;
use crate::json::Tape;
use crate::{Limits, Options};

fn findings(schema: &str, value: &str) -> Vec<Finding> {
    findings_within(schema, value, Limits::default())
}

fn findings_within(schema: &str, value: &str, limits: Limits) -> Vec<Finding> {
    let options = Options { limits, ..Options::value() };
    let program = Program::compile(schema.as_bytes(), &options).expect("the schema is good");
    let mut tape = Tape::new();
    let value = tape.read(value.as_bytes(), &options.limits.arguments_text()).expect("the value is JSON");
    match program.check(value) {
        Verdict::Invalid(violations) => violations.findings,
        other => panic!("expected violations, found {other:?}"),
    }
}

fn ways(schema: &str, value: &str) -> Vec<String> {
    let way = |finding: Finding| finding.way().to_owned();
    findings(schema, value).into_iter().map(way).collect()
}

#[test]
fn the_evaluation_path_goes_through_references_and_places() {
    let schema = r##"{
        "properties": {"a~b": {"items": {"$ref": "#/$defs/n"}}},
        "allOf": [true, {"additionalProperties": false}],
        "$defs": {"n": {"anyOf": [{"type": "null"}, {"type": "string"}]}, "loop": {"$ref": "#"}}
    }"##;
    assert_eq!(
        ways(schema, r#"{"a~b": [1]}"#),
        ["/properties/a~0b/items/$ref/anyOf", "/allOf/1/additionalProperties"]
    );
    let tree = r##"{"properties": {"next": {"$ref": "#"}, "n": {"type": "integer"}}}"##;
    assert_eq!(
        ways(tree, r#"{"next": {"next": {"n": "x"}}}"#),
        ["/properties/next/$ref/properties/next/$ref/properties/n/type"]
    );
    assert_eq!(ways(r#"{"items": false}"#, "[1]"), ["/items"]);
}

fn help(schema: &str, value: &str) -> String {
    findings(schema, value)[0].help.clone().expect("there is advice")
}

#[test]
fn a_failed_union_says_what_the_closest_branch_asks() {
    let schema = r#"{"oneOf": [
        {"properties": {"kind": {"const": "move"}, "to": {"type": "string"}}, "required": ["kind", "to"]},
        {"properties": {"kind": {"const": "drop"}, "why": {"enum": ["old", "bad"]}}, "required": ["kind"]}
    ]}"#;
    assert_eq!(
        help(schema, r#"{"kind": "move"}"#),
        "the closest is alternative 0: expected the member `to`, found none"
    );
    assert_eq!(
        help(schema, r#"{"kind": "drop", "why": "new"}"#),
        r#"the closest is alternative 1: at /why, expected one of "old" or "bad", found another string"#
    );
}

#[test]
fn explaining_nested_unions_is_bounded() {
    let mut schema = r#"{"type": "integer"}"#.to_owned();
    for _ in 0..12 {
        schema = format!(r#"{{"anyOf": [{schema}, {schema}]}}"#);
    }
    assert_eq!(findings(&schema, r#""x""#)[0].code, Code::AnyOfNone);
}

#[test]
fn a_report_never_holds_more_than_its_limit() {
    let items = vec!["1"; 500].join(",");
    let found = findings(r#"{"items": {"type": "string"}}"#, &format!("[{items}]"));
    assert_eq!(found.len(), 100);
}

#[test]
fn a_verdict_stands_even_where_naming_the_places_costs_too_much() {
    // Deciding meets the bad member first, reporting goes by name and meets the long one first.
    let schema = r#"{"properties": {"a": {"items": {"type": "integer"}}, "b": {"type": "null"}}}"#;
    let items = vec!["1"; 100].join(",");
    let limits = Limits { work_base: 40, work_per_byte: 0, ..Limits::default() };
    let found = findings_within(schema, &format!(r#"{{"b": 1, "a": [{items}]}}"#), limits);
    assert_eq!(found[0].code, Code::ValueInvalid);
}

#[test]
fn messages_hold_no_values() {
    let schema = r#"{"properties": {"p": {"type": "integer", "enum": [1], "not": {}, "maxLength": 1, "pattern": "^z"}}}"#;
    for finding in findings(schema, r#"{"p": "hunter2"}"#) {
        let mut json = Vec::new();
        finding.write_json(&mut json);
        assert!(!String::from_utf8_lossy(&json).contains("hunter2"), "{finding:?}");
    }
}

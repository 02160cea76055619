//! The work of a check is a number of the schema and the value alone: the same on every machine and in every build, and
//! near linear where a simple validator is quadratic.
//!
//! Where a change of the engine changes the numbers, `CALLGATE_WORK_ANEW=1` writes `cases/engine-work.jsonl` again; what
//! changed is then read like code.
#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "a test reads its data and may write it again"
)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use callgate_schema::json::Tape;
use callgate_schema::{Limits, Options, Program, Verdict};
use serde_json::value::RawValue;

fn program(schema: &str) -> Program {
    Program::compile(schema.as_bytes(), &Options::value()).expect("the schema is admitted")
}

/// The work, with the verdict in a word.
fn work(program: &Program, value: &str) -> (u64, &'static str) {
    let mut tape = Tape::new();
    let node =
        tape.read(value.as_bytes(), &Limits::default().arguments_text()).expect("the value can be read");
    let verdict = match program.check(node) {
        Verdict::Valid => "valid",
        Verdict::Invalid(_) => "invalid",
        Verdict::Failed(_) => "failed",
    };
    (program.work_of(node), verdict)
}

#[test]
fn the_work_of_each_pair_is_the_number_on_record() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases/engine-work.jsonl");
    let recorded = std::fs::read_to_string(&path).expect("the pairs can be read");
    let mut found = String::new();
    for line in recorded.lines() {
        let row: BTreeMap<&str, &RawValue> = serde_json::from_str(line).expect("a row is JSON");
        let text = |name: &str| row[name].get();
        let instance: String = serde_json::from_str(text("instance_text")).expect("an instance is a text");
        let (work, verdict) = work(&program(text("schema")), &instance);
        let (name, schema, instance) = (text("name"), text("schema"), text("instance_text"));
        let row = format!(
            r#"{{"name":{name},"schema":{schema},"instance_text":{instance},"verdict":"{verdict}","work":{work}}}"#
        );
        writeln!(found, "{row}").expect("a text takes what is written");
    }
    if std::env::var_os("CALLGATE_WORK_ANEW").is_some() {
        std::fs::write(&path, &found).expect("the pairs can be written");
    } else {
        assert!(found == recorded, "the work is not what is on record; found\n{found}");
    }
}

/// The work of a value of so many parts.
fn grows(schema: impl Fn(usize) -> String, value: impl Fn(usize) -> String, count: usize) -> u64 {
    let (work, verdict) = work(&program(&schema(count)), &value(count));
    assert_ne!(verdict, "failed", "{count} parts are too many");
    work
}

/// Ten times the parts take at most eleven times the work.
fn near_linear(schema: impl Fn(usize) -> String, value: impl Fn(usize) -> String, most: usize) {
    let few = grows(&schema, &value, most / 10);
    let many = grows(&schema, &value, most);
    assert!(many <= 11 * few, "{few} for {} parts, {many} for {most}", most / 10);
    assert!(many <= 40 * most as u64, "{many} for {most} parts");
}

/// An array of items that are made from numbers of six digits, so that all are of one length.
fn list(count: usize, item: impl Fn(usize) -> String) -> String {
    let items: Vec<String> = (100_000..100_000 + count).map(item).collect();
    format!("[{}]", items.join(","))
}

#[test]
fn unique_items_are_near_linear() {
    let schema = |_| r#"{"uniqueItems":true}"#.to_owned();
    near_linear(schema, |count| list(count, |at| at.to_string()), 100_000);
    near_linear(schema, |count| list(count, |at| format!("\"text {at}\"")), 100_000);
    near_linear(schema, |count| list(count, |at| format!("{{\"a\":{at}}}")), 100_000);
    near_linear(schema, |count| list(count, |at| format!("[{at}.0,[]]")), 100_000);
}

#[test]
fn a_large_enum_is_no_more_work_than_a_small_one() {
    let schema = |count| format!("{{\"enum\":{}}}", list(count, |at| format!("\"member {at}\"")));
    let small = grows(schema, |_| "\"member 100009\"".to_owned(), 10);
    for value in ["\"member 100009\"", "\"member 109999\"", "\"no member\"", "3"] {
        let large = grows(schema, |_| value.to_owned(), 10_000);
        assert!(large <= small + 200, "{small} for 10 members, {large} for 10,000 and {value}");
    }
}

#[test]
fn many_values_against_a_large_enum_are_near_linear() {
    let schema = |_| {
        let members = list(10_000, |at| format!("{{\"id\":{at}}}"));
        format!("{{\"items\":{{\"enum\":{members}}}}}")
    };
    near_linear(schema, |count| list(count, |at| format!("{{\"id\":{}.0}}", 100_000 + at % 10_000)), 20_000);
}

#[test]
fn objects_of_many_members_are_near_linear() {
    let schema = |count| {
        let properties: Vec<String> =
            (100_000..100_000 + count).map(|at| format!("\"p{at}\":{{\"type\":\"integer\"}}")).collect();
        format!("{{\"properties\":{{{}}},\"additionalProperties\":false}}", properties.join(","))
    };
    let value = |count| {
        let members: Vec<String> =
            (100_000..100_000 + count).rev().map(|at| format!("\"p{at}\":{at}")).collect();
        format!("{{{}}}", members.join(","))
    };
    near_linear(schema, value, 10_000);
}

#[test]
fn left_over_members_are_near_linear() {
    let schema = |_| {
        r#"{"anyOf":[{"patternProperties":{"^p":true}},{"required":["q"]}],"unevaluatedProperties":false}"#
            .to_owned()
    };
    let value = |count| {
        let members: Vec<String> = (100_000..100_000 + count).map(|at| format!("\"p{at}\":{at}")).collect();
        format!("{{{}}}", members.join(","))
    };
    near_linear(schema, value, 20_000);
}

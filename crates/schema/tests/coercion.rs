//! Laws of coercion, for schemas and values that are made up, and its bounds.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "what fails here fails the test"
)]

mod generate;

use callgate_schema::json::{Kind, Node, Tape, write_string};
use callgate_schema::{Code, Coerced, Coercion, Detail, Dialect, Finding, Options, Profile, Program};
use generate::made;
use proptest::prelude::*;
use proptest::test_runner::{Config, FileFailurePersistence, TestRunner};
use std::cell::RefCell;

fn coerce(
    coercion: &Coercion,
    options: &Options,
    text: &[u8],
) -> Result<(Vec<u8>, callgate_schema::Edits), Box<Finding>> {
    let mut tape = Tape::new();
    let value = tape.read(text, &options.limits.arguments_text()).expect("a value can be read");
    let Coerced { bytes, edits } = coercion.coerce(value)?;
    Ok((bytes.into_owned(), edits))
}

/// What holds in every profile: the edits give the outcome, only texts were changed, and a second time nothing is.
fn laws(coercion: &Coercion, options: &Options, text: &[u8]) -> Option<Vec<u8>> {
    let (bytes, edits) = match coerce(coercion, options, text) {
        Ok(outcome) => outcome,
        Err(finding) => {
            assert!(matches!(finding.code, Code::WorkExhausted | Code::LimitExceeded), "{finding:?}");
            return None;
        }
    };
    let limits = options.limits.arguments_text();
    let shown = String::from_utf8_lossy(text);
    assert_eq!(edits.replay(text, &limits).as_ref(), Ok(&bytes), "the edits of {shown}");
    let mut tape = Tape::new();
    for edit in edits.iter() {
        let from = tape.read(edit.from.as_bytes(), &limits).expect("an edit holds JSON");
        assert_eq!(from.kind(), Kind::String, "{shown} at {}", edit.at);
    }
    let (again, none) = coerce(coercion, options, &bytes).expect("an outcome is within limits");
    let outcome = String::from_utf8_lossy(&bytes);
    assert!(
        none.is_empty() && again == bytes,
        "{shown} gives {outcome}, and that {}",
        String::from_utf8_lossy(&again)
    );
    Some(bytes)
}

#[derive(Debug, Default)]
struct Counts {
    changed: usize,
    same: usize,
    made_good: usize,
    undecided: usize,
}

fn run(cases: u32, check: impl Fn(&[u8])) {
    let persistence = Some(Box::new(FileFailurePersistence::Off) as Box<_>);
    let mut runner = TestRunner::new(Config { cases, failure_persistence: persistence, ..Config::default() });
    let run = runner.run(&proptest::collection::vec(any::<u8>(), 0..600), |bytes| {
        check(&bytes);
        Ok(())
    });
    if let Err(failure) = run {
        panic!("{failure}");
    }
}

#[test]
fn in_profile_standard_only_texts_change_a_valid_value_stays_and_an_outcome_stays() {
    let counts = RefCell::new(Counts::default());
    run(1_500, |bytes| {
        let made = made(bytes);
        let dialect = if made.draft_07 { Dialect::Draft07 } else { Dialect::Draft202012 };
        let options = Options { dialect, ..Options::value() };
        let Ok(program) = Program::compile(made.schema.as_bytes(), &options) else { return };
        let coercion = Coercion::of(&program);
        for value in &made.values {
            let texts = with_texts(value.as_bytes(), bytes, &options);
            for text in [value.as_bytes(), &texts] {
                standard(&program, &coercion, &options, text, &mut counts.borrow_mut());
            }
        }
    });
    let counts = counts.into_inner();
    assert!(counts.changed * 40 > counts.same && counts.made_good * 3 > counts.changed, "{counts:?}");
    assert!(counts.undecided * 100 < counts.changed, "{counts:?}");
}

fn standard(program: &Program, coercion: &Coercion, options: &Options, text: &[u8], counts: &mut Counts) {
    let valid = |text: &[u8]| {
        let mut tape = Tape::new();
        let value = tape.read(text, &options.limits.arguments_text()).expect("a value can be read");
        program.is_valid(value).expect("a small value is decided")
    };
    let before = valid(text);
    let Some(outcome) = laws(coercion, options, text) else {
        counts.undecided += 1;
        return;
    };
    if before {
        assert_eq!(outcome, text, "a valid value was changed");
    }
    counts.changed += usize::from(outcome != text);
    counts.same += usize::from(outcome == text);
    counts.made_good += usize::from(!before && valid(&outcome));
    // Nothing is guessed: each edit puts the value there that the text is the JSON of.
    let (_, edits) = coerce(coercion, options, text).expect("it was coerced before");
    let limits = options.limits.arguments_text();
    for edit in edits.iter() {
        let (mut from, mut inner, mut to) = (Tape::new(), Tape::new(), Tape::new());
        let from = from.read(edit.from.as_bytes(), &limits).expect("an edit holds JSON");
        let from = from.as_str().expect("a text").into_owned();
        let read = inner.read(from.as_bytes(), &limits).expect("the text was JSON");
        let to =
            to.read(edit.to.expect("nothing is dropped").as_bytes(), &limits).expect("an edit holds JSON");
        assert!(read.equals(to), "{} became {:?}", edit.from, edit.to);
    }
}

/// The value with some of its parts as texts, those within texts included.
fn with_texts(value: &[u8], choices: &[u8], options: &Options) -> Vec<u8> {
    let mut tape = Tape::new();
    let value = tape.read(value, &options.limits.arguments_text()).expect("a value can be read");
    let mut out = Vec::new();
    write_with_texts(value, &mut choices.iter().rev().copied().cycle(), &mut out);
    out
}

fn write_with_texts(value: Node<'_>, choices: &mut impl Iterator<Item = u8>, out: &mut Vec<u8>) {
    let mut written = Vec::new();
    match value.kind() {
        Kind::Array => {
            written.push(b'[');
            for (number, item) in value.items().enumerate() {
                written.extend_from_slice(if number > 0 { b", " } else { b"" });
                write_with_texts(item, choices, &mut written);
            }
            written.push(b']');
        }
        Kind::Object => {
            written.push(b'{');
            for (number, member) in value.members().enumerate() {
                written.extend_from_slice(if number > 0 { b" ,\n" } else { b" " });
                write_string(&mut written, &member.name());
                written.push(b':');
                write_with_texts(member.value(), choices, &mut written);
            }
            written.push(b'}');
        }
        _ => written.extend_from_slice(value.raw()),
    }
    if value.kind() != Kind::String && choices.next().is_some_and(|choice| choice % 2 == 0) {
        write_string(out, &String::from_utf8_lossy(&written));
    } else {
        out.extend_from_slice(&written);
    }
}

/// Texts that a text map may hold, for better or worse.
const TEXTS: &[&str] = &[
    "",
    " ",
    "\u{feff}",
    "7",
    " +7 ",
    "007",
    "0x1f",
    "-0x10",
    "0xFFFFFFFFFFFFFFFF",
    "-0",
    "1e3",
    "1e400",
    "1e-400",
    ".5",
    "5.",
    "-1.e3",
    "NaN",
    "9223372036854775808",
    "yes",
    " No ",
    "TRUE",
    "on",
    "word",
    "a,b",
    "null",
    "[]",
    "[1, \"2\"]",
    "[\"\", \" \"]",
    "{}",
    "{name}",
    " {\"a\": \"1\", \"b\": \"\"} ",
    "{\"a\":1,\"a\":2}",
    "{\"a\": {\"b\": \"{\\\"c\\\": \\\"0x2\\\"}\"}}",
    "[{\"a\": \"\"}, \"{\\\"a\\\": \\\" 1 \\\"}\"]",
    "{\"a\": [\"1\", \"\", \"x\"]}",
    "\"x\"",
    "{\"a\"",
    "[1,",
];

/// A schema that profile `wire` has rules for, and now and then one that it has not.
fn wire_schema(choices: &mut dyn Iterator<Item = u8>, depth: usize, out: &mut Vec<u8>) {
    let pick = choices.next().unwrap_or(0);
    let scalars = ["string", "integer", "number", "boolean", "list", "null"];
    match pick % 16 {
        0 => out.extend_from_slice(b"{}"),
        1 => out.extend_from_slice(br#"{"type": ["integer", "null"]}"#),
        2 => out.extend_from_slice(br#"{"type": "object", "additionalProperties": true}"#),
        3 => out.extend_from_slice(br#"{"type": "array"}"#),
        4 => out.extend_from_slice(b"true"),
        5..=8 if depth > 0 => {
            out.extend_from_slice(br#"{"type": "object", "properties": {"#);
            for (number, name) in ["a", "b", "c"].iter().enumerate() {
                out.extend_from_slice(if number > 0 { b", " } else { b"" });
                out.extend_from_slice(format!("\"{name}\": ").as_bytes());
                wire_schema(choices, depth - 1, out);
            }
            out.extend_from_slice(b"}}");
        }
        9..=11 if depth > 0 => {
            out.extend_from_slice(br#"{"type": "array", "items": "#);
            wire_schema(choices, depth - 1, out);
            out.push(b'}');
        }
        scalar => {
            let name = scalars[usize::from(scalar) % scalars.len()];
            out.extend_from_slice(format!("{{\"type\": \"{name}\"}}").as_bytes());
        }
    }
}

fn wire_value(choices: &mut dyn Iterator<Item = u8>, depth: usize, out: &mut Vec<u8>) {
    let pick = usize::from(choices.next().unwrap_or(0));
    match pick % 8 {
        0 if depth > 0 => {
            out.push(b'{');
            for (number, name) in ["a", "b", "c", "d"].iter().take(pick / 8 % 5).enumerate() {
                out.extend_from_slice(if number > 0 { b" , " } else { b" " });
                out.extend_from_slice(format!("\"{name}\" : ").as_bytes());
                wire_value(choices, depth - 1, out);
            }
            out.extend_from_slice(b" }");
        }
        1 if depth > 0 => {
            out.push(b'[');
            for number in 0..pick / 8 % 5 {
                out.extend_from_slice(if number > 0 { b" , " } else { b" " });
                wire_value(choices, depth - 1, out);
            }
            out.extend_from_slice(b" ]");
        }
        2 => out.extend_from_slice([&b"null"[..], b"5", b"5.0", b"true"][pick / 8 % 4]),
        _ => write_string(out, TEXTS[usize::from(choices.next().unwrap_or(0)) % TEXTS.len()]),
    }
}

#[test]
fn in_profile_wire_only_texts_change_and_an_outcome_stays() {
    let options = Options::tool(Profile::Wire);
    let counts = RefCell::new((0, 0));
    run(4_000, |bytes| {
        let mut choices = bytes.iter().copied();
        let mut schema = br#"{"type": "object", "properties": {"#.to_vec();
        let mut value = b"{".to_vec();
        for (number, name) in ["a", "b", "c"].iter().enumerate() {
            for text in [&mut schema, &mut value] {
                text.extend_from_slice(if number > 0 { b", " } else { b" " });
                text.extend_from_slice(format!("\"{name}\": ").as_bytes());
            }
            wire_schema(&mut choices, 3, &mut schema);
            wire_value(&mut choices, 3, &mut value);
        }
        schema.extend_from_slice(b"}}");
        value.push(b'}');
        let coercion = Coercion::compile(&schema, &options).expect("it is JSON");
        let outcome = laws(&coercion, &options, &value).expect("a small value is within limits");
        let mut counts = counts.borrow_mut();
        if outcome == value { counts.0 += 1 } else { counts.1 += 1 }
    });
    let (same, changed) = counts.into_inner();
    assert!(changed * 3 > same, "{same} stayed, {changed} changed");
}

/// `levels` texts within each other, each the member `a` of an object.
fn texts_within_texts(levels: usize) -> Vec<u8> {
    let mut text = "{}".to_owned();
    for _ in 0..levels {
        let mut quoted = Vec::new();
        write_string(&mut quoted, &text);
        text = format!("{{\"a\":{}}}", String::from_utf8(quoted).expect("UTF-8"));
    }
    text.into_bytes()
}

/// A schema that reads any number of texts within each other: by a reference, or by an open object.
const RECURSIVE: &[u8] = br##"{"type": "object", "properties": {"a": {"$ref": "#"}}}"##;
const OPEN: &[u8] =
    br#"{"type": "object", "properties": {"a": {"type": "object", "additionalProperties": true}}}"#;

#[test]
fn texts_within_texts_are_read_up_to_a_limit() {
    for (profile, schema) in [(Profile::Standard, RECURSIVE), (Profile::Wire, OPEN)] {
        let options = Options::tool(profile);
        let coercion = Coercion::compile(schema, &options).expect("it is enforceable");
        let (outcome, edits) =
            coerce(&coercion, &options, &texts_within_texts(15)).expect("it is within limits");
        assert_eq!(
            (outcome, edits.len()),
            ([br#"{"a":"#.repeat(15), b"{}".to_vec(), b"}".repeat(15)].concat(), 15)
        );
        let finding = coerce(&coercion, &options, &texts_within_texts(17)).expect_err("it is too deep");
        assert_eq!(finding.code, Code::LimitExceeded);
        assert!(finding.details.contains(&("limit", Detail::Text("coercion_rounds".into()))), "{finding:?}");
    }
}

#[test]
fn a_text_over_a_limit_is_no_text_that_is_not_json() {
    for (profile, schema) in [(Profile::Standard, RECURSIVE), (Profile::Wire, OPEN)] {
        let options = Options::tool(profile);
        let coercion = Coercion::compile(schema, &options).expect("it is enforceable");
        let deep = format!("{{\"a\":\"{{\\\"a\\\":{}{}}}\"}}", "[".repeat(100_000), "]".repeat(100_000));
        let long = format!("{{\"a\":\"{{\\\"n\\\":{}}}\"}}", "1".repeat(5_000));
        for (text, limit) in [(deep, "arguments_depth"), (long, "number_digits")] {
            let finding = coerce(&coercion, &options, text.as_bytes()).expect_err("it is over a limit");
            assert_eq!(finding.code, Code::LimitExceeded);
            let named = |(name, detail): &(&str, Detail)| {
                *name == "limit" && matches!(detail, Detail::Text(text) if text.contains(limit))
            };
            assert!(finding.details.iter().any(named), "{finding:?}");
        }
    }
}

#[test]
fn a_large_text_is_read_and_nothing_else_of_it_is_copied_twice() {
    let inner = format!("{{\"t\":\"{}\"}}", "x".repeat(6 << 20));
    let mut text = b"{\"a\":".to_vec();
    write_string(&mut text, &inner);
    text.push(b'}');
    for (profile, schema) in [(Profile::Standard, RECURSIVE), (Profile::Wire, OPEN)] {
        let options = Options::tool(profile);
        let coercion = Coercion::compile(schema, &options).expect("it is enforceable");
        let (outcome, edits) = coerce(&coercion, &options, &text).expect("it is within limits");
        assert_eq!(edits.len(), 1);
        assert_eq!(outcome, format!("{{\"a\":{inner}}}").into_bytes());
    }
}

/// Alternatives within alternatives, each of which might do until the innermost value is seen.
#[test]
fn alternatives_that_multiply_end_at_the_allowance() {
    let schema = br##"{"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"anyOf": [
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}, "b": {"type": "integer"}}, "required": ["a"]},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}, "b": {"type": "number"}}, "required": ["a"]},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}, "b": {"type": "boolean"}}, "required": ["a"]}]}}}"##;
    let options = Options::tool(Profile::Standard);
    let coercion = Coercion::compile(schema, &options).expect("it is enforceable");
    let text = [br#"{"a":"#.repeat(40), b"1".to_vec(), b"}".repeat(40)].concat();
    let finding = coerce(&coercion, &options, &text).expect_err("there is no end in sight");
    assert_eq!(finding.code, Code::WorkExhausted);
}

#[test]
fn flags_are_refused_where_their_meaning_would_be_a_guess() {
    let schema = br#"{"type": "object", "properties": {
        "limit": {"type": "integer"}, "name": {"type": ["string", "null"]}, "dry": {"type": "boolean"},
        "tag": {"type": "array", "items": {"type": "integer"}}, "filter.name": {"type": "string"},
        "where": {"anyOf": [{"type": "object"}, {"type": "null"}]}}}"#;
    let program = Program::compile(schema, &Options::tool(Profile::Standard)).expect("it is enforceable");
    let read = |flags: &[&str]| match program.read_flags(flags) {
        Ok(arguments) => String::from_utf8(arguments).expect("UTF-8"),
        Err(finding) => format!("{}: {}", finding.code, finding.message),
    };
    let lines: Vec<_> = [
        &["--limit", "-5", "--dry", "name=a=b", "filter.name=x"][..],
        &["--dry", "false", "--tag", "1", "--tag=2"],
        &["--tag", "[1,\"2\"]", "--where", "{\"a\":\"1\"}"],
        &["--tag", "3"],
        &["--name", "null", "--where", "null"],
        &["--limit", "007"],
        &["--limt", "5"],
        &["limit:=5"],
        &["--limit"],
        &["--name", "--dry"],
        &["--limit", "1", "limit=2"],
        &["5"],
        &["--", "5"],
        &["--where.a", "5"],
    ]
    .iter()
    .map(|flags| format!("{} => {}", flags.join(" "), read(flags)))
    .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

//! The engine says what the plain reference evaluator says: of schemas and values that are made up, and of every
//! recorded call. On the way, laws that hold for each value.
//!
//! `CALLGATE_TORTURE_CASES` sets the number of schemas that are made up.
#![expect(clippy::expect_used, clippy::print_stdout, reason = "what fails here fails the test")]

mod collections;
mod generate;
mod reference;

use callgate_schema::json::Tape;
use callgate_schema::{CompileError, Dialect, Options, Program, Verdict};
use generate::made;
use proptest::prelude::*;
use proptest::test_runner::{Config, FileFailurePersistence, TestRunner};
use reference::Reference;
use serde_json::value::RawValue;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Schemas made up in a short run.
const CASES: u32 = 2_000;

/// Of the schemas made up, one in so many may be refused: otherwise the run proves less than it seems to.
const REFUSED_SHARE: usize = 10;

fn options(dialect: Dialect) -> Options {
    Options { dialect, ..Options::value() }
}

/// The engine's answer by each of its ways; nothing if a limit was reached.
fn engine(program: &Program, options: &Options, value: &str) -> Option<bool> {
    let mut tape = Tape::new();
    let value = tape.read(value.as_bytes(), &options.limits.arguments_text()).expect("a value can be read");
    let verdict = program.check(value);
    let decided = program.is_valid(value);
    match verdict {
        Verdict::Valid => assert_eq!(decided, Ok(true)),
        Verdict::Invalid(violations) => {
            assert_eq!(decided, Ok(false));
            assert!(!violations.findings.is_empty(), "a value is refused and nothing is said about it");
            assert!(violations.findings.len() as u64 <= options.limits.findings_max);
            assert!(violations.findings.iter().all(|finding| finding.instance_location.is_some()));
        }
        Verdict::Failed(finding) => {
            assert_eq!(decided, Err(finding));
            return None;
        }
    }
    decided.ok()
}

fn by_reference(reference: &Reference, options: &Options, value: &str) -> bool {
    let mut tape = Tape::new();
    let value = tape.read(value.as_bytes(), &options.limits.arguments_text()).expect("a value can be read");
    reference.is_valid(value)
}

#[derive(Debug, Default)]
struct Counts {
    schemas: usize,
    refused: BTreeMap<String, usize>,
    valid: usize,
    invalid: usize,
    undecided: usize,
}

#[test]
fn the_engine_says_what_the_reference_says_of_schemas_made_up() {
    let counts = RefCell::new(Counts::default());
    let persistence = Some(Box::new(FileFailurePersistence::Off) as Box<_>);
    let mut runner =
        TestRunner::new(Config { cases: cases(), failure_persistence: persistence, ..Config::default() });
    let bytes = proptest::collection::vec(any::<u8>(), 0..600);
    let run = runner.run(&bytes, |bytes| {
        compare(&bytes, &mut counts.borrow_mut());
        Ok(())
    });
    if let Err(failure) = run {
        panic!("{failure}");
    }
    let counts = counts.into_inner();
    println!("{counts:?}");
    let refused: usize = counts.refused.values().sum();
    assert!(refused * REFUSED_SHARE <= counts.schemas, "too many are refused: {:?}", counts.refused);
    assert!(counts.valid * 10 > counts.invalid && counts.invalid * 10 > counts.valid, "{counts:?}");
}

#[expect(clippy::disallowed_methods, reason = "how long to run is the caller's matter")]
fn cases() -> u32 {
    std::env::var("CALLGATE_TORTURE_CASES").map_or(CASES, |cases| cases.parse().expect("a number of cases"))
}

fn compare(bytes: &[u8], counts: &mut Counts) {
    let made = made(bytes);
    let options = options(if made.draft_07 { Dialect::Draft07 } else { Dialect::Draft202012 });
    counts.schemas += 1;
    let program = match Program::compile(made.schema.as_bytes(), &options) {
        Ok(program) => program,
        Err(CompileError { findings, .. }) => {
            let codes = findings.iter().map(|finding| finding.code.as_str());
            *counts.refused.entry(codes.collect::<Vec<_>>().join(" ")).or_default() += 1;
            return;
        }
    };
    let reference = Reference::new(made.schema.as_bytes(), &options).expect("a schema can be read");
    for value in &made.values {
        match engine(&program, &options, value) {
            None => counts.undecided += 1,
            Some(found) => {
                *(if found { &mut counts.valid } else { &mut counts.invalid }) += 1;
                let expected = by_reference(&reference, &options, value);
                assert_eq!(
                    found, expected,
                    "engine and reference differ\nschema {}\nvalue {value}",
                    made.schema
                );
            }
        }
    }
}

#[test]
fn the_engine_says_what_the_reference_says_of_every_recorded_call() {
    let Some(corpus) = collections::corpus() else { return };
    let (mut compared, mut wrong) = (0, Vec::new());
    for entry in std::fs::read_dir(corpus.join("tool-calls")).expect("the folder can be listed") {
        let path = entry.expect("an entry can be read").path();
        if path.extension().is_none_or(|extension| extension != "jsonl") {
            continue;
        }
        for (at, line) in read(&path).lines().enumerate() {
            let row: BTreeMap<String, Box<RawValue>> = serde_json::from_str(line).expect("a row is JSON");
            let options = options(Dialect::Draft202012);
            let (schema, value) = (row["schema"].get(), row["arguments"].get());
            let Ok(program) = Program::compile(schema.as_bytes(), &options) else { continue };
            let reference = Reference::new(schema.as_bytes(), &options).expect("a schema can be read");
            let found = engine(&program, &options, value);
            compared += 1;
            let recorded = serde_json::from_str::<bool>(row["valid"].get()).ok();
            let expected = Some(by_reference(&reference, &options, value));
            if found != expected || recorded.is_some() && found != recorded {
                wrong.push(format!("{}:{}: {found:?}, {expected:?}, {recorded:?}", path.display(), at + 1));
            }
        }
    }
    println!("compared {compared} calls");
    assert!(compared > 10_000, "only {compared} calls");
    assert!(wrong.is_empty(), "engine, reference, recorded:\n{}", wrong.join("\n"));
}

#[expect(clippy::disallowed_methods, reason = "a test reads its cases")]
fn read(path: &std::path::Path) -> String {
    std::fs::read_to_string(path).expect("a collection can be read")
}

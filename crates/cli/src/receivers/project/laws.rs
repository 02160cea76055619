//! The laws of projections, tried on schemas and values that are made up.

use callgate_schema::json::Tape;
use callgate_schema::{Limits, Options, Profile, Program, UnknownKeywords};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::super::{Tree, judge, receivers};
use super::project;

#[path = "../../../../schema/tests/generate/mod.rs"]
mod generate;

/// Schemas made up in a run, each with six values, for each receiver; more where `PROPTEST_CASES` asks for more.
const CASES: u32 = 1_000;

fn tree(text: &str) -> Tree {
    let mut tape = Tape::new();
    Tree::of(tape.read(text.as_bytes(), &Limits::default().schema_text()).unwrap())
}

fn program(schema: &Tree) -> Result<Program, callgate_schema::CompileError> {
    let options = Options { unknown_keywords: UnknownKeywords::Annotate, ..Options::tool(Profile::Standard) };
    Program::compile(schema.written().as_bytes(), &options)
}

/// The answer; nothing if a limit came first, or the value is no object.
fn accepts(program: &Program, value: &str) -> Option<bool> {
    let mut tape = Tape::new();
    let value = tape.read(value.as_bytes(), &Limits::default().arguments_text()).unwrap();
    if value.kind() != callgate_schema::json::Kind::Object {
        return None;
    }
    program.is_valid(value).ok()
}

#[derive(Default)]
struct Counts {
    schemas: usize,
    draft_07: usize,
    values: usize,
    changed: usize,
    given_up: usize,
}

/// Tries one schema with its values against every receiver.
fn try_laws(schema: &Tree, values: &[String], counts: &mut Counts) {
    let Ok(original) = program(schema) else { return };
    counts.schemas += 1;
    for receiver in receivers() {
        let projection = project(schema, receiver);
        let left = judge(&projection.schema, receiver);
        assert!(left.is_empty(), "{}: {left:?} in {}", receiver.name, projection.schema.written());
        if judge(schema, receiver).is_empty() {
            assert_eq!(&projection.schema, schema, "{}: what is taken stays as it is", receiver.name);
            continue;
        }
        counts.changed += 1;
        counts.given_up += usize::from(projection.schema.members().len() == 1);
        let relaxed = program(&projection.relaxed).unwrap();
        let tightened = program(&projection.schema).unwrap();
        for value in values {
            let told = || {
                format!(
                    "{} of {value}\n{}\nrelaxed\n{}\nprojected\n{}",
                    receiver.name,
                    schema.written(),
                    projection.relaxed.written(),
                    projection.schema.written()
                )
            };
            let Some(before) = accepts(&original, value) else { continue };
            let Some(after) = accepts(&relaxed, value) else { continue };
            assert!(after || !before, "stricter: {}", told());
            counts.values += usize::from(before);
            if projection.relaxed == projection.schema || value.contains("null") {
                continue;
            }
            if accepts(&tightened, value) == Some(true) {
                assert!(after, "looser than relaxed: {}", told());
            }
        }
    }
}

#[test]
fn a_projection_is_taken_and_never_stricter_than_it_says() {
    let counts = std::cell::RefCell::new(Counts::default());
    let asked = Config::default();
    let config = Config { cases: asked.cases.max(CASES), failure_persistence: None, ..asked };
    TestRunner::new(config)
        .run(&prop::collection::vec(any::<u8>(), 0..400), |bytes| {
            let made = generate::made(&bytes);
            counts.borrow_mut().draft_07 += usize::from(made.draft_07);
            let mut schema = tree(&made.schema);
            if schema.is_object() && !schema.has("type") {
                schema.set("type", Tree::text("object"));
            }
            try_laws(&schema, &made.values, &mut counts.borrow_mut());
            Ok(())
        })
        .unwrap();
    let counts = counts.into_inner();
    assert!(counts.draft_07 > 50 && counts.schemas > 500, "{} of {}", counts.draft_07, counts.schemas);
    assert!(counts.values > 500, "{} values were accepted: too few to prove anything", counts.values);
    assert!(counts.given_up * 3 < counts.changed, "{} of {} given up", counts.given_up, counts.changed);
}

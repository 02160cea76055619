//! The rows of `cases/receivers.jsonl`: of each rule, a schema that it minds and one that it just does not; and values
//! under `keeps` that a schema accepts and its projection must accept too, or under `refuses` that both refuse.

use std::collections::HashSet;

use callgate_schema::json::{ReadLimits, Tape};
use callgate_schema::{Options, Profile, Program, UnknownKeywords};

use super::{Tree, judge, named, project, receivers};

const ROWS: &str = include_str!("../../../../cases/receivers.jsonl");

fn rows() -> Vec<Tree> {
    let limits = ReadLimits { nodes_max: 1_000_000, ..callgate_schema::Limits::default().schema_text() };
    let mut tape = Tape::new();
    ROWS.lines().map(|line| Tree::of(tape.read(line.as_bytes(), &limits).unwrap())).collect()
}

fn text<'t>(row: &'t Tree, name: &str) -> &'t str {
    row.get(name).and_then(Tree::as_text).unwrap()
}

fn program(schema: &Tree) -> Program {
    let options = Options { unknown_keywords: UnknownKeywords::Annotate, ..Options::tool(Profile::Standard) };
    Program::compile(schema.written().as_bytes(), &options).unwrap()
}

#[test]
fn every_row_is_judged_as_it_says() {
    let mut met = HashSet::new();
    for row in rows() {
        let receiver = named(text(&row, "receiver")).unwrap();
        let remarks = judge(row.get("schema").unwrap(), receiver);
        let told: Vec<String> =
            remarks.iter().map(|remark| format!("{} {}", remark.rule.id, remark.pointer)).collect();
        let expected: Vec<&str> =
            row.get("remarks").unwrap().items().iter().map(|remark| remark.as_text().unwrap()).collect();
        assert_eq!(told, expected, "{}", text(&row, "name"));
        met.extend(remarks.into_iter().map(|remark| &remark.rule.id));
    }
    for rule in receivers().iter().flat_map(|receiver| &receiver.rules) {
        assert!(met.contains(&rule.id), "{} has no row", rule.id);
    }
}

#[test]
fn every_row_is_projected_to_what_is_taken() {
    for row in rows() {
        let receiver = named(text(&row, "receiver")).unwrap();
        let projection = project(row.get("schema").unwrap(), receiver);
        assert!(judge(&projection.schema, receiver).is_empty(), "{}", text(&row, "name"));
        let taken = row.get("remarks").unwrap().items().is_empty();
        assert_eq!(projection.changes.is_empty(), taken, "{}", text(&row, "name"));
        // What is demanded of a receiver is never less than what is relaxed, also where all is given up.
        let (mut tape, limits) = (Tape::new(), callgate_schema::Limits::default().arguments_text());
        let empty = tape.read(b"{}", &limits).unwrap();
        let takes_nothing = |schema: &Tree| program(schema).is_valid(empty).unwrap();
        assert!(
            !takes_nothing(&projection.schema) || takes_nothing(&projection.relaxed),
            "{}",
            text(&row, "name")
        );
    }
}

#[test]
fn what_a_row_accepts_its_projection_accepts_and_what_it_says_is_refused_stays_so() {
    let accepts = |schema: &Tree, value: &Tree| {
        let (mut tape, text) = (Tape::new(), value.written());
        let limits = callgate_schema::Limits::default().arguments_text();
        program(schema).is_valid(tape.read(text.as_bytes(), &limits).unwrap()).unwrap()
    };
    let mut values = 0;
    for row in rows() {
        let (name, original) = (text(&row, "name"), row.get("schema").unwrap());
        let projection = project(original, named(text(&row, "receiver")).unwrap());
        for value in row.get("keeps").map(Tree::items).unwrap_or_default() {
            assert!(accepts(original, value) && accepts(&projection.relaxed, value), "{name}");
            values += 1;
        }
        for value in row.get("refuses").map(Tree::items).unwrap_or_default() {
            assert!(!accepts(original, value) && !accepts(&projection.schema, value), "{name}");
            values += 1;
        }
    }
    assert!(values > 4, "{values} values");
}

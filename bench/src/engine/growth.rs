//! How time and size grow with the number of properties, branches and items, and with the depth.

use std::fmt::Write as _;
use std::hint::black_box;

use anyhow::{Result, bail};

use crate::peers::{self, Engines, JSONSCHEMA, OURS};
use crate::turns::{Contest, Key, Times};

/// One size of one thing that grows.
#[derive(Debug)]
pub(super) struct Point {
    pub(super) axis: &'static str,
    pub(super) size: usize,
    pub(super) bytes: usize,
    pub(super) program_bytes: u64,
    pub(super) times: Times,
}

/// What grows, and how far.
const AXES: &[(&str, [usize; 4])] = &[
    ("properties", [4, 16, 64, 256]),
    ("branches", [2, 8, 32, 128]),
    ("items", [10, 100, 1_000, 10_000]),
    ("depth", [4, 8, 16, 32]),
];

pub(super) fn measure(turns: usize) -> Result<Vec<Point>> {
    let mut points = Vec::new();
    for (axis, sizes) in AXES {
        for size in *sizes {
            points.push(point(axis, size, turns)?);
        }
    }
    Ok(points)
}

fn point(axis: &'static str, size: usize, turns: usize) -> Result<Point> {
    let (schema, value) = schema_and_value(axis, size);
    let (schema, value) = (schema.as_bytes(), value.as_bytes());
    let engines = Engines::compile(schema)?;
    if let Some((who, _)) = engines.verdicts(value).into_iter().find(|(_, verdict)| !verdict) {
        bail!("{who} refuses the value for {size} {axis}");
    }
    let mut contest = Contest::default();
    let key = |from, who| Key { from, what: "valid", who };
    contest.enter(key("bytes", OURS), || engines.ours_of(value));
    contest.enter(key("bytes", JSONSCHEMA), || engines.jsonschema_of(value));
    contest.enter(key("compile", OURS), || peers::compile_ours(schema));
    contest.enter(key("compile", "serde_json Value"), || {
        serde_json::from_slice::<serde_json::Value>(black_box(schema))
    });
    let times = contest.run(turns);
    Ok(Point { axis, size, bytes: value.len(), program_bytes: engines.ours.program().bytes(), times })
}

/// A schema and a value that keeps it, of so many `properties`, `branches`, `items` or levels of `depth`.
pub fn schema_and_value(axis: &str, size: usize) -> (String, String) {
    match axis {
        "properties" => properties(size),
        "branches" => branches(size),
        "items" => items(size),
        _ => depth(size),
    }
}

/// `part, part, part`, so many of them.
fn list(size: usize, part: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for index in 0..size {
        let comma = if index == 0 { "" } else { "," };
        // Writing to a text does not fail.
        let _ = write!(text, "{comma}{}", part(index));
    }
    text
}

/// A closed object with all of its members.
fn properties(size: usize) -> (String, String) {
    let schemas = list(size, |index| match index % 3 {
        0 => format!(r#""depth_{index}":{{"type":"integer","minimum":0}}"#),
        1 => format!(r#""label_{index}":{{"type":"string","maxLength":40}}"#),
        _ => format!(r#""shown_{index}":{{"type":"boolean"}}"#),
    });
    let members = list(size, |index| match index % 3 {
        0 => format!(r#""depth_{index}":{index}"#),
        1 => format!(r#""label_{index}":"buoy {index}""#),
        _ => format!(r#""shown_{index}":true"#),
    });
    let schema = format!(r#"{{"type":"object","properties":{{{schemas}}},"additionalProperties":false}}"#);
    (schema, format!("{{{members}}}"))
}

/// A union of objects that a constant tells apart; the value is of the last kind.
fn branches(size: usize) -> (String, String) {
    let branches = list(size, |index| {
        format!(
            r#"{{"type":"object","properties":{{"kind":{{"const":"kind {index}"}},"count":{{"type":"integer"}}}},"required":["kind","count"],"additionalProperties":false}}"#
        )
    });
    (
        format!(r#"{{"oneOf":[{branches}]}}"#),
        format!(r#"{{"kind":"kind {}","count":7}}"#, size.saturating_sub(1)),
    )
}

/// A list of small objects.
fn items(size: usize) -> (String, String) {
    let items = list(size, |index| format!(r#"{{"id":{index},"name":"berth {index}","free":false}}"#));
    let schema = r#"{"type":"array","items":{"type":"object","properties":{"id":{"type":"integer"},"name":{"type":"string","minLength":1},"free":{"type":"boolean"}},"required":["id"],"additionalProperties":false}}"#;
    (schema.to_owned(), format!("[{items}]"))
}

/// A chain of objects, each inside the one before, by a schema that refers to itself.
fn depth(size: usize) -> (String, String) {
    let schema = r##"{"$ref":"#/$defs/link","$defs":{"link":{"type":"object","properties":{"name":{"type":"string"},"next":{"$ref":"#/$defs/link"}},"required":["name"],"additionalProperties":false}}}"##;
    let open = r#"{"name":"link","next":"#.repeat(size.saturating_sub(1));
    (schema.to_owned(), format!(r#"{open}{{"name":"end"}}{}"#, "}".repeat(size.saturating_sub(1))))
}

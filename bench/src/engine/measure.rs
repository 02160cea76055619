//! One case: every engine on every value, from bytes and from a `Value`, and its compilation.

use std::hint::black_box;

use anyhow::Result;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::allocations::{Allocations, Counts};
use crate::case::Case;
use crate::peers::{self, BOON, Boon, Engines, JSONSCHEMA, OURS, SONIC};
use crate::turns::{Contest, Key, Times};

/// Parsers alone.
pub(super) const FLOORS: [&str; 3] = ["serde_json Value", "serde_json IgnoredAny", "sonic-rs Value"];

/// The figures of one case.
#[derive(Debug)]
pub(super) struct Figures {
    pub(super) name: String,
    pub(super) bytes: usize,
    pub(super) schema_bytes: usize,
    pub(super) program_bytes: u64,
    pub(super) patterns: bool,
    pub(super) times: Times,
    pub(super) allocations: Option<Counts>,
}

pub(super) fn case(
    case: &Case,
    engines: &Engines,
    allocations: &Allocations,
    turns: usize,
) -> Result<Figures> {
    let [valid, invalid, multi] =
        [&case.valid, &case.invalid, &case.multi].map(|text| serde_json::from_slice::<Value>(text));
    let values = [("valid", valid?), ("invalid", invalid?), ("multi", multi?)];
    let schema: Value = serde_json::from_slice(&case.schema)?;
    let mut contest = Contest::default();
    from_bytes(&mut contest, engines, case);
    for (what, value) in &values {
        from_value(&mut contest, engines, what, value);
    }
    compile(&mut contest, &case.schema, &schema);
    Ok(Figures {
        name: case.name.clone(),
        bytes: case.valid.len(),
        schema_bytes: case.schema.len(),
        program_bytes: engines.ours.program().bytes(),
        patterns: case.has_patterns(),
        times: contest.run(turns),
        allocations: allocations.of(&case.name),
    })
}

fn from_bytes<'a>(contest: &mut Contest<'a>, engines: &'a Engines, case: &'a Case) {
    let valid: &[u8] = &case.valid;
    let key = |who| Key { from: "bytes", what: "valid", who };
    contest.enter(key(OURS), || engines.ours_of(valid));
    contest.enter(key(JSONSCHEMA), || engines.jsonschema_of(valid));
    contest.enter(key(SONIC), || engines.on_sonic_of(valid));
    contest.enter(key(BOON), || engines.boon_of(valid));
    let [tree, grammar, sonic] = FLOORS;
    contest.enter(key(tree), || serde_json::from_slice::<Value>(black_box(valid)));
    contest.enter(key(grammar), || serde_json::from_slice::<IgnoredAny>(black_box(valid)));
    contest.enter(key(sonic), || sonic_rs::from_slice::<sonic_rs::Value>(black_box(valid)));
    for (what, text) in [("invalid", &case.invalid), ("multi", &case.multi)] {
        let key = |who| Key { from: "bytes", what, who };
        contest.enter(key(OURS), || engines.ours_told(text));
        contest.enter(key(JSONSCHEMA), || engines.jsonschema_told(text));
        contest.enter(key(BOON), || engines.boon_told(text));
    }
}

fn from_value<'a>(contest: &mut Contest<'a>, engines: &'a Engines, what: &'static str, value: &'a Value) {
    let key = |who| Key { from: "value", what, who };
    if what == "valid" {
        contest.enter(key(OURS), || engines.ours.is_valid(black_box(value)));
        contest.enter(key(JSONSCHEMA), || engines.jsonschema_of_value(value));
        contest.enter(key(BOON), || engines.boon_of_value(value));
    } else {
        contest.enter(key(OURS), || engines.ours_told_of_value(value));
        contest.enter(key(JSONSCHEMA), || engines.jsonschema_told_of_value(value));
    }
}

/// Ours begins with the schema's text, the others with a value of it.
fn compile<'a>(contest: &mut Contest<'a>, text: &'a [u8], schema: &'a Value) {
    let key = |who| Key { from: "compile", what: "schema", who };
    contest.enter(key(FLOORS[0]), || serde_json::from_slice::<Value>(black_box(text)));
    contest.enter(key(OURS), || peers::compile_ours(text));
    contest.enter(key(JSONSCHEMA), || peers::compile_jsonschema(schema));
    contest.enter(key(BOON), || Boon::compile(schema));
}

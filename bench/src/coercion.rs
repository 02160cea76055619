//! Coercion of a text map of ten members, from bytes to bytes, beside `serde_json`'s own parse of the same text.

use anyhow::{anyhow, ensure};
use callgate_schema::json::Tape;
use callgate_schema::{Coercion, Options, Profile, Scratch};
use serde_json::Value;

use crate::turns::{TURNS, batch};

const SCHEMA: &str = r#"{"type": "object", "additionalProperties": false, "required": ["path", "lines"], "properties": {
    "path": {"type": "string"}, "lines": {"type": "integer"}, "from": {"type": "integer"}, "scale": {"type": "number"},
    "follow": {"type": "boolean"}, "quiet": {"type": "boolean"}, "label": {"type": "string"},
    "filter": {"type": "object", "properties": {"level": {"type": "string"}, "least": {"type": "integer"}}},
    "tags": {"type": "array", "items": {"type": "string"}}, "note": {"type": "string"}}}"#;

const INPUT: &str = r#"{"path": "/var/log/notes.log", "lines": "250", "from": "-12", "scale": "1.75", "follow": "true",
    "quiet": "false", "label": "0042", "filter": "{\"level\": \"warn\", \"least\": 3}", "tags": "[\"a\", \"b\"]",
    "note": "ten members, each of them a text"}"#;

const OUTPUT: &str = r#"{"path": "/var/log/notes.log", "lines": 250, "from": -12, "scale": 1.75, "follow": true,
    "quiet": false, "label": "0042", "filter": {"level": "warn", "least": 3}, "tags": ["a", "b"],
    "note": "ten members, each of them a text"}"#;

pub fn run() -> anyhow::Result<()> {
    let mut least = [f64::MAX; 4];
    let mut contestants = [Contestant::new(Profile::Wire)?, Contestant::new(Profile::Standard)?];
    for contestant in &mut contestants {
        ensure!(contestant.coerce(|bytes| bytes == OUTPUT.as_bytes()), "the outcome is another one");
    }
    let [wire, standard] = &mut contestants;
    for _ in 0..TURNS {
        let turn = [
            batch(|| wire.coerce(|_| true)),
            batch(|| standard.coerce(|_| true)),
            batch(|| serde_json::from_slice::<Value>(INPUT.as_bytes()).is_ok()),
            batch(|| serde_json::from_slice::<Value>(OUTPUT.as_bytes()).is_ok()),
        ];
        for (least, now) in least.iter_mut().zip(turn) {
            *least = least.min(now);
        }
    }
    println!("nanoseconds, least of {TURNS} turns; {} bytes of ten texts, read and coerced\n", INPUT.len());
    for (name, time) in [
        ("profile wire", least[0]),
        ("profile standard, which ends with a check", least[1]),
        ("serde_json parses the texts", least[2]),
        ("serde_json parses the outcome", least[3]),
    ] {
        println!("{name:<44}{time:>10.0}");
    }
    Ok(())
}

struct Contestant {
    coercion: Coercion,
    options: Options,
    tape: Tape,
    scratch: Scratch,
}

impl Contestant {
    fn new(profile: Profile) -> anyhow::Result<Contestant> {
        let options = Options::tool(profile);
        let coercion =
            Coercion::compile(SCHEMA.as_bytes(), &options).map_err(|error| anyhow!("{error:?}"))?;
        Ok(Contestant { coercion, options, tape: Tape::new(), scratch: Scratch::default() })
    }

    fn coerce(&mut self, judge: impl FnOnce(&[u8]) -> bool) -> bool {
        let limits = self.options.limits.arguments_text();
        let Ok(value) = self.tape.read(INPUT.as_bytes(), &limits) else { return false };
        self.coercion.coerce_with(&mut self.scratch, value).is_ok_and(|coerced| judge(&coerced.bytes))
    }
}

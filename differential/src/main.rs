//! The engine beside the crates `jsonschema` and `boon`: the official suites, every recorded call, and schemas made up.
//! Each difference belongs to a class that `docs/reference/differences.md` explains; one that belongs to none fails.
//!
//! usage: callgate-differential CORPUS [SCHEMAS [SEED]]

#[path = "../../crates/schema/tests/suites/cases.rs"]
mod cases;
mod classes;
#[path = "../../crates/schema/tests/generate/mod.rs"]
mod generate;
mod peers;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use callgate_schema::{Dialect, Options};
use classes::{Class, Difference};
use peers::{Answer, Schema};
use serde_json::value::RawValue;

/// Schemas that are made up unless another number is given.
const SCHEMAS: u64 = 20_000;

/// Differences of one class and peer that are shown.
const SHOWN: usize = 2;

/// What was found.
#[derive(Default)]
struct Tally {
    asked: usize,
    classes: BTreeMap<(&'static str, &'static str, Class), usize>,
}

fn main() -> Result<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    let corpus = arguments.next().context("usage: callgate-differential CORPUS [SCHEMAS [SEED]]")?;
    let schemas = arguments.next().map_or(Ok(SCHEMAS), |text| text.parse())?;
    let seed = arguments.next().map_or(Ok(1), |text| text.parse())?;
    // A peer that panics says so in its answer.
    std::panic::set_hook(Box::new(|_| {}));
    let mut tally = Tally::default();
    suites(&mut tally, Path::new(&corpus));
    calls(&mut tally, Path::new(&corpus))?;
    made_up(&mut tally, schemas, seed);
    println!("{} answers compared", tally.asked);
    for ((source, peer, class), count) in &tally.classes {
        println!("{count:>7}  {source:<8}  {peer:<10}  {class:?}");
    }
    let unexplained = tally.classes.keys().any(|(_, _, class)| *class == Class::Unexplained);
    Ok(if unexplained { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn suites(tally: &mut Tally, corpus: &Path) {
    for (suite, dialect) in cases::SUITES {
        for case in cases::cases(corpus, suite, dialect) {
            // The two are told to assert no format.
            if case.name.contains("format-assertion") {
                continue;
            }
            let schema = Schema { text: &case.schema, options: &case.options };
            // Which of the two is right where they differ, by the suite.
            let name = format!("{} ({})", case.name, if case.valid { "valid" } else { "invalid" });
            tally.compare("suites", &schema, &[&case.instance], &name);
        }
    }
}

fn calls(tally: &mut Tally, corpus: &Path) -> Result<()> {
    let options = Options::value();
    let mut paths: Vec<_> = std::fs::read_dir(corpus.join("tool-calls"))?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    paths.sort();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "jsonl")) {
        for line in std::fs::read_to_string(path)?.lines() {
            let row: BTreeMap<String, Box<RawValue>> = serde_json::from_str(line)?;
            let (schema, value) =
                (row.get("schema").context("no schema")?, row.get("arguments").context("no value")?);
            tally.compare("calls", &Schema { text: schema.get(), options: &options }, &[value.get()], "");
        }
    }
    Ok(())
}

fn made_up(tally: &mut Tally, schemas: u64, seed: u64) {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut roll = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    for _ in 0..schemas {
        let bytes: Vec<u8> = (0..usize::from(roll()) * 2).map(|_| roll()).collect();
        let made = generate::made(&bytes);
        let dialect = if made.draft_07 { Dialect::Draft07 } else { Dialect::Draft202012 };
        let options = Options { dialect, ..Options::value() };
        let values: Vec<&str> = made.values.iter().map(String::as_str).collect();
        tally.compare("made up", &Schema { text: &made.schema, options: &options }, &values, "");
    }
}

impl Tally {
    fn compare(&mut self, source: &'static str, schema: &Schema<'_>, values: &[&str], name: &str) {
        let ours = schema.ours(values);
        for (peer, theirs) in [("jsonschema", schema.jsonschema(values)), ("boon", schema.boon(values))] {
            for ((value, ours), theirs) in values.iter().zip(&ours).zip(&theirs) {
                self.asked += 1;
                if ours == theirs || matches!((ours, theirs), (Answer::Refused(_), Answer::Refused(_))) {
                    continue;
                }
                let difference = Difference { peer, schema: schema.text, value, ours, theirs };
                let class = classes::of(&difference);
                let seen = self.classes.entry((source, peer, class)).or_default();
                *seen += 1;
                if *seen <= SHOWN || class == Class::Unexplained && *seen < 30 {
                    println!(
                        "{source} {peer} {class:?}: {name}\n  {ours:?} / {theirs:?}\n  {}\n  {value}",
                        schema.text
                    );
                }
            }
        }
    }
}

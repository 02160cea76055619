//! The engine from bytes to verdict. Each case is measured in turns with its peers; the least of several batches counts,
//! since noise only ever adds.

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use callgate_schema::json::Tape;
use callgate_schema::{Options, Profile, Program, Verdict};
use serde_json::Value;
use serde_json::value::RawValue;

const CASES: &[(&str, &str)] = &[
    ("flat", include_str!("../cases/flat.json")),
    ("list", include_str!("../cases/list.json")),
    ("union", include_str!("../cases/union.json")),
    ("tree", include_str!("../cases/tree.json")),
    ("text", include_str!("../cases/text.json")),
];

/// Turns in which every contestant is measured once.
pub(crate) const TURNS: usize = 30;
/// How long one contestant is measured in a turn.
const BATCH: Duration = Duration::from_millis(4);

/// A case as it stands in its file, so that the bytes are those of the file.
struct Case {
    name: &'static str,
    schema: Box<RawValue>,
    valid: Box<RawValue>,
    invalid: Box<RawValue>,
}

pub(crate) fn run() -> anyhow::Result<()> {
    println!("nanoseconds, least of {TURNS} turns; ratios to serde_json + jsonschema (above 1: faster)\n");
    println!(
        "{:<8}{:>8} | {:>10}{:>12}{:>14}{:>8} | {:>10}{:>14}{:>8}",
        "case",
        "bytes",
        "callgate",
        "serde_json",
        "+ jsonschema",
        "ratio",
        "refused",
        "+ jsonschema",
        "ratio"
    );
    let (mut valid_ratios, mut refused_ratios) = (Vec::new(), Vec::new());
    for (name, text) in CASES {
        let case = Case::read(name, text)?;
        let [ours, parse, peer, refused, peer_refused] = case.measure()?;
        let (ratio, refused_ratio) = (peer / ours, peer_refused / refused);
        println!(
            "{:<8}{:>8} | {ours:>10.0}{parse:>12.0}{peer:>14.0}{ratio:>8.2} | {refused:>10.0}{peer_refused:>14.0}{refused_ratio:>8.2}",
            case.name,
            case.valid.get().len(),
        );
        valid_ratios.push(ratio);
        refused_ratios.push(refused_ratio);
    }
    println!(
        "\ngeometric mean: valid {:.2}, refused with every reason {:.2}",
        crate::geometric_mean(&valid_ratios),
        crate::geometric_mean(&refused_ratios)
    );
    Ok(())
}

impl Case {
    fn read(name: &'static str, text: &str) -> anyhow::Result<Case> {
        let mut members: std::collections::HashMap<&str, Box<RawValue>> = serde_json::from_str(text)?;
        let mut take = |member| members.remove(member).context("a member is missing");
        Ok(Case { name, schema: take("schema")?, valid: take("valid")?, invalid: take("invalid")? })
    }

    /// Ours, parsing alone, the peer; then ours and the peer on the value that is refused, all reasons told.
    fn measure(&self) -> anyhow::Result<[f64; 5]> {
        let options = Options::tool(Profile::Standard);
        let program = Program::compile(self.schema.get().as_bytes(), &options)?;
        let peer = jsonschema::validator_for(&serde_json::from_str(self.schema.get())?)?;
        let (valid, invalid) = (self.valid.get().as_bytes(), self.invalid.get().as_bytes());
        let limits = options.limits.arguments_text();
        let mut tape = Tape::new();
        let mut check = |bytes: &[u8]| match tape.read(bytes, &limits) {
            Ok(value) => match program.check(value) {
                Verdict::Valid => 0,
                Verdict::Invalid(violations) => violations.findings.len(),
                Verdict::Failed(_) => usize::MAX,
            },
            Err(_) => usize::MAX,
        };
        let told = |bytes: &[u8]| {
            let value: Value = serde_json::from_slice(bytes).unwrap_or_default();
            peer.iter_errors(&value).map(|error| error.to_string().len()).sum::<usize>()
        };
        let is_valid =
            |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).is_ok_and(|value| peer.is_valid(&value));
        ensure!(check(valid) == 0 && is_valid(valid), "{}: the good value is refused", self.name);
        ensure!(
            (1..100).contains(&check(invalid)) && told(invalid) > 0,
            "{}: the bad value passes",
            self.name
        );
        let mut least = [f64::MAX; 5];
        for _ in 0..TURNS {
            let turn = [
                batch(|| check(valid)),
                batch(|| serde_json::from_slice::<Value>(valid).is_ok()),
                batch(|| is_valid(valid)),
                batch(|| check(invalid)),
                batch(|| told(invalid)),
            ];
            for (least, now) in least.iter_mut().zip(turn) {
                *least = least.min(now);
            }
        }
        Ok(least)
    }
}

/// Nanoseconds of one run, from as many as fit a batch.
pub(crate) fn batch<T>(mut work: impl FnMut() -> T) -> f64 {
    let start = Instant::now();
    let mut runs = 0.0;
    loop {
        for _ in 0..16 {
            black_box(work());
        }
        runs += 16.0;
        let spent = start.elapsed();
        if spent >= BATCH {
            return spent.as_secs_f64() * 1e9 / runs;
        }
    }
}

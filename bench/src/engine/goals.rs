//! What the engine is meant to hold, and whether it does. Only told: times on shared machines are no gate.

use super::measure::{FLOORS, Figures};
use crate::geometric_mean;
use crate::peers::{JSONSCHEMA, OURS, SONIC};

/// A goal with what was measured.
#[derive(Debug)]
pub(super) struct Goal {
    pub(super) text: &'static str,
    /// `None`: it is only told.
    pub(super) wanted: Option<f64>,
    pub(super) found: f64,
    /// The case that decides, if one does.
    pub(super) case: Option<String>,
    /// Whether more is better.
    more: bool,
}

impl Goal {
    /// `None` if nothing is wanted.
    pub(super) fn holds(&self) -> Option<bool> {
        let wanted = self.wanted?;
        Some(if self.more { self.found >= wanted } else { self.found <= wanted })
    }

    pub(super) fn sign(&self) -> char {
        if self.more { '≥' } else { '≤' }
    }
}

/// Nanoseconds that the error path may take beyond the verdict on a good value, whatever the ratio.
const ERROR_PATH_EXTRA: f64 = 1_000.0;
/// How many times as long as the verdict on a good value the error path may take, in every case.
const ERROR_PATH_MAX: f64 = 3.0;

pub(super) fn of(cases: &[Figures]) -> Vec<Goal> {
    let beside = |from, what, who| {
        move |case: &Figures| case.times.of(from, what, who) / case.times.of(from, what, OURS)
    };
    let mut goals = Vec::new();
    let mut at_least = |cases: &[Figures], mean, least, ratio: &dyn Fn(&Figures) -> f64| {
        let ratios: Vec<f64> = cases.iter().map(ratio).collect();
        let (text, wanted) = mean;
        goals.push(Goal { text, wanted, found: geometric_mean(&ratios), case: None, more: true });
        let (text, wanted) = least;
        if let Some((case, found)) = extreme(cases, |ratio| -ratio, ratio) {
            goals.push(Goal { text, wanted, found, case: Some(case), more: true });
        }
    };
    at_least(
        cases,
        ("valid from bytes, times serde_json + jsonschema, geometric mean", Some(4.0)),
        ("the least of it", Some(2.5)),
        &beside("bytes", "valid", JSONSCHEMA),
    );
    at_least(
        cases,
        ("valid from bytes, times sonic-rs + jsonschema, geometric mean", Some(2.0)),
        ("the least of it", Some(1.0)),
        &beside("bytes", "valid", SONIC),
    );
    at_least(
        cases,
        ("valid from a Value, times jsonschema, geometric mean", Some(1.0)),
        ("the least of it", None),
        &beside("value", "valid", JSONSCHEMA),
    );
    at_least(
        cases,
        ("one violation from bytes with text, times jsonschema, geometric mean", Some(2.0)),
        ("the least of it", None),
        &beside("bytes", "invalid", JSONSCHEMA),
    );
    goals.extend(own(cases));
    goals
}

/// What is measured by ourselves alone.
fn own(cases: &[Figures]) -> Vec<Goal> {
    let error_path = |case: &Figures| {
        let (valid, invalid) =
            (case.times.of("bytes", "valid", OURS), case.times.of("bytes", "invalid", OURS));
        let ratio = invalid / valid;
        if invalid - valid <= ERROR_PATH_EXTRA { ratio.min(ERROR_PATH_MAX) } else { ratio }
    };
    let compile = |case: &Figures| {
        case.times.of("compile", "schema", OURS) / case.times.of("compile", "schema", FLOORS[0])
    };
    let allocations = |case: &Figures| {
        let count = case.allocations.as_ref().and_then(|counts| counts.get(&format!("valid {OURS}")));
        count.and_then(|count| u32::try_from(*count).ok()).map_or(f64::NAN, f64::from)
    };
    let most = |text, wanted, cases: &[&Figures], measure: &dyn Fn(&Figures) -> f64| {
        let worst = cases.iter().map(|case| (case.name.clone(), measure(case)));
        let (case, found) = worst.max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(Goal { text, wanted: Some(wanted), found, case: Some(case), more: false })
    };
    let all: Vec<&Figures> = cases.iter().collect();
    let plain: Vec<&Figures> = cases.iter().filter(|case| !case.patterns).collect();
    [
        most("one violation with text, times our own valid, or 1 µs more", ERROR_PATH_MAX, &all, &error_path),
        most("compile, times parsing the schema, without patterns", 10.0, &plain, &compile),
        most("allocations of a valid verdict from bytes", 0.0, &all, &allocations),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The case in which `ratio` is the most by `rank`.
fn extreme(
    cases: &[Figures],
    rank: impl Fn(f64) -> f64,
    ratio: &dyn Fn(&Figures) -> f64,
) -> Option<(String, f64)> {
    let ratios = cases.iter().map(|case| (case.name.clone(), ratio(case)));
    ratios.max_by(|a, b| rank(a.1).total_cmp(&rank(b.1)))
}

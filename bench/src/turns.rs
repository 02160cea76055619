//! Contestants in turns. Each is measured for less than a millisecond, then the next one, and so on for many turns; the
//! least counts, since noise only ever adds, and a slow moment of the machine meets all of them.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Turns in which every contestant is measured once, unless said otherwise.
pub const TURNS: usize = 150;
/// How long one contestant is measured in a turn: so short that most turns pass between two interruptions by others.
const BATCH: Duration = Duration::from_micros(400);

/// What was measured: who did what, on what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// `bytes`, `value`, `parse`, `compile`.
    pub from: &'static str,
    /// `valid`, `invalid`, `multi`, `schema`.
    pub what: &'static str,
    /// The product, or the products that work together.
    pub who: &'static str,
}

/// Nanoseconds of one run of each contestant.
#[derive(Debug, Default)]
pub struct Times(BTreeMap<Key, f64>);

impl Times {
    /// The time of one contestant; not a number if it did not take part.
    pub fn of(&self, from: &'static str, what: &'static str, who: &'static str) -> f64 {
        self.0.get(&Key { from, what, who }).copied().unwrap_or(f64::NAN)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (&Key, f64)> {
        self.0.iter().map(|(key, time)| (key, *time))
    }
}

/// Contestants that wait for their turns.
#[derive(Default)]
pub struct Contest<'a> {
    entries: Vec<Entry<'a>>,
}

struct Entry<'a> {
    key: Key,
    batch: Box<dyn FnMut(usize) -> Duration + 'a>,
    /// Runs that fill a batch.
    runs: usize,
    least: f64,
}

impl<'a> Contest<'a> {
    /// Enters a contestant.
    pub fn enter<T>(&mut self, key: Key, mut work: impl FnMut() -> T + 'a) {
        let batch = Box::new(move |runs| {
            let start = Instant::now();
            for _ in 0..runs {
                black_box(work());
            }
            start.elapsed()
        });
        self.entries.push(Entry { key, batch, runs: 0, least: f64::MAX });
    }

    /// Measures all of them in so many turns.
    pub fn run(mut self, turns: usize) -> Times {
        for entry in &mut self.entries {
            entry.find_runs();
        }
        for _ in 0..turns {
            for entry in &mut self.entries {
                entry.turn();
            }
        }
        Times(self.entries.iter().map(|entry| (entry.key, entry.least)).collect())
    }
}

impl Entry<'_> {
    /// Warms up, and finds how many runs fill a batch.
    fn find_runs(&mut self) {
        let mut runs = 1;
        let mut spent = (self.batch)(runs);
        while spent < BATCH / 4 {
            runs *= 4;
            spent = (self.batch)(runs);
        }
        let fill = BATCH.as_nanos() * runs as u128 / spent.as_nanos().max(1);
        self.runs = usize::try_from(fill).unwrap_or(runs).max(1);
    }

    fn turn(&mut self) {
        let spent = (self.batch)(self.runs);
        let runs = u32::try_from(self.runs).map_or(f64::MAX, f64::from);
        self.least = self.least.min(spent.as_secs_f64() * 1e9 / runs);
    }
}

/// Nanoseconds of one run, from as many as fit a batch.
pub fn batch<T>(mut work: impl FnMut() -> T) -> f64 {
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

//! The fuzz targets on a stable toolchain: the committed seeds, and a loop that changes their bytes at random.
//!
//! It is no match for libFuzzer, which sees what an input reaches (fuzz/README.md); it keeps the targets true between
//! two long runs. `CALLGATE_FUZZ_SECONDS` sets how long each target is driven, otherwise it is a number of inputs that
//! is the same on every machine. `CALLGATE_FUZZ_SEED` begins elsewhere.
#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a driver reads its settings, its seeds and a clock, and talks to the person who runs it"
)]

mod generate;
mod reference;
#[path = "../../../fuzz/src/targets.rs"]
mod targets;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

/// Inputs for each target where no time is set.
const INPUTS: u64 = 5_000;

/// No input grows longer.
const BYTES_MAX: usize = 4_096;

const DICTIONARY: &str = include_str!("../../../fuzz/json.dict");

#[test]
fn the_reader_keeps_its_laws() {
    drive("reader", targets::reader);
}

#[test]
fn patterns_keep_their_laws() {
    drive("pattern", targets::pattern);
}

#[test]
fn compiling_keeps_its_laws() {
    drive("compile", targets::compile);
}

#[test]
fn checking_keeps_its_laws() {
    drive("validate", targets::validate);
}

fn drive(name: &str, target: fn(&[u8])) {
    let seeds = seeds(name);
    let words = words();
    for seed in &seeds {
        run(name, target, seed);
    }
    let start = setting("CALLGATE_FUZZ_SEED").unwrap_or(1);
    let time = setting("CALLGATE_FUZZ_SECONDS").map(Duration::from_secs);
    let began = Instant::now();
    let mut dice = Dice(start.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut inputs = 0;
    while time.map_or(inputs < INPUTS, |time| began.elapsed() < time) {
        let mut input = dice.of(&seeds).clone();
        for _ in 0..=dice.roll(8) {
            dice.change(&mut input, &seeds, &words);
        }
        input.truncate(BYTES_MAX);
        run(name, target, &input);
        inputs += 1;
    }
    println!("{name}: {} seeds and {inputs} inputs", seeds.len());
}

/// Runs one input; if a law is broken, says which input did it.
fn run(name: &str, target: fn(&[u8]), input: &[u8]) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| target(input))) {
        println!("{name} fails for \"{}\"", input.escape_ascii());
        resume_unwind(panic);
    }
}

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

fn seeds(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(name);
    let entries = std::fs::read_dir(folder).expect("the seeds can be listed");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry can be read").path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).expect("a seed can be read")).collect()
}

/// The words of the dictionary, which has one in quotes a line.
fn words() -> Vec<Vec<u8>> {
    let quoted = DICTIONARY.lines().filter_map(|line| line.strip_prefix('"')?.strip_suffix('"'));
    quoted.map(|word| word.replace("\\\"", "\"").replace("\\\\", "\\").into_bytes()).collect()
}

/// Numbers that are the same on every machine.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).expect("31 bits") % sides.max(1)
    }

    fn of<'a>(&mut self, all: &'a [Vec<u8>]) -> &'a Vec<u8> {
        all.get(self.roll(all.len())).expect("there are some")
    }

    /// One change: a bit, a byte, a word put in, a part taken out, repeated or brought from another seed.
    fn change(&mut self, input: &mut Vec<u8>, seeds: &[Vec<u8>], words: &[Vec<u8>]) {
        let from = self.roll(input.len() + 1);
        let to = (from + 1 + self.roll(16)).min(input.len());
        match self.roll(7) {
            0 => {
                let bit = 1 << self.roll(8);
                if let Some(byte) = input.get_mut(from) {
                    *byte ^= bit;
                }
            }
            1 => {
                let new = self.roll(256).to_le_bytes();
                input.splice(from..from, new.into_iter().take(1));
            }
            2 | 3 => {
                let word = self.of(words).clone();
                input.splice(from..from, word);
            }
            4 => _ = input.drain(from..to.max(from)),
            5 => {
                let part = input.get(from..to).unwrap_or_default().to_vec();
                input.splice(from..from, part);
            }
            _ => {
                let other = self.of(seeds);
                let start = self.roll(other.len() + 1);
                let part = other.get(start..(start + 32).min(other.len())).unwrap_or_default().to_vec();
                input.splice(from..to.max(from), part);
            }
        }
    }
}

//! Broken frames against `callgate serve`: what clients send, over standard input and over HTTP, and what servers answer,
//! as programs and over HTTP. Good messages of both eras are changed at random, from a seed, and go to a real gate.
//!
//! What must hold whatever comes ([`judge::Promise`]): the gate neither breaks nor hangs nor swells, a call goes through
//! between any two lots, and no call arrives whose arguments were not valid or whose message was refused.
//!
//! | file | holds |
//! |---|---|
//! | `good` | good messages of both eras, and the tool that they call |
//! | `mutate` | what is done to a message |
//! | `gate` | a gate under test: its start, its good call, its memory, its end |
//! | `lines` | lots of lines over standard input |
//! | `requests` | lots of requests over HTTP |
//! | `requests_odd` | requests that no good client makes |
//! | `wire` | one request over HTTP: its bytes, and what comes back |
//! | `garbler` | a server whose answers are changed, as a program and over HTTP |
//! | `answers` | good calls to such a server |
//! | `judge` | what is broken, and what arrived |

mod answers;
pub mod garbler;
mod gate;
mod good;
mod judge;
mod lines;
mod mutate;
mod requests;
mod requests_odd;
mod wire;

use std::time::{Duration, Instant};

use self::judge::Findings;
use super::Ground;
use super::lot::Lot;
use crate::report::Report;

/// How long a gate is fuzzed before the next one starts with a store of its own.
const STRETCH: Duration = Duration::from_secs(20);

/// For how long, and from which seed.
#[derive(Debug, Clone, Copy)]
pub struct Frames {
    /// All of it together.
    pub time: Duration,
    /// Where the random numbers start.
    pub seed: u64,
}

/// From where the broken messages come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum From {
    ClientLines,
    ClientRequests,
    ServerLines,
    ServerResponses,
}

const ALL: [From; 4] = [From::ClientLines, From::ClientRequests, From::ServerLines, From::ServerResponses];

/// Fuzzes gates until the time is over; the report gets one check a promise.
///
/// # Errors
/// When a gate does not start, or a file cannot be read.
pub fn run(ground: &Ground, frames: Frames, report: &mut Report) -> anyhow::Result<()> {
    let begun = Instant::now();
    report.say(&format!("frames: seed {}, {} s", frames.seed, frames.time.as_secs()));
    let stretch = STRETCH.min(frames.time / 4).max(Duration::from_secs(1));
    let mut findings = Findings::default();
    let mut number: u64 = 0;
    while begun.elapsed() < frames.time {
        for from in ALL {
            let mut lot = Lot::new(frames.seed.wrapping_add(number));
            let folder = ground.path(&format!("stretch-{number}"));
            std::fs::create_dir(&folder)?;
            let own = Ground { folder: folder.clone(), ..ground.clone() };
            let until = Instant::now() + stretch;
            match from {
                From::ClientLines => lines::stretch(&own, until, &mut lot, &mut findings)?,
                From::ClientRequests => requests::stretch(&own, until, &mut lot, &mut findings)?,
                From::ServerLines | From::ServerResponses => {
                    let over_http = from == From::ServerResponses;
                    answers::stretch(&own, over_http, until, &mut lot, &mut findings)?;
                }
            }
            let seconds = begun.elapsed().as_secs();
            report.say(&format!("{seconds:>6} s  stretch {number} {from:?}: {}", findings.counts()));
            for breach in findings.fresh() {
                report.say(&format!("        BROKEN {breach}"));
            }
            std::fs::remove_dir_all(&folder)?;
            number += 1;
        }
    }
    findings.report(report, frames.seed);
    Ok(())
}

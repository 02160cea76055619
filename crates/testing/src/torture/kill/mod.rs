//! The gate is killed (SIGKILL) at a random moment while eight callers wait for it, again and again, on one store; on
//! PostgreSQL the server is, too, in some of the rounds.
//!
//! Each round has tools of its own, so that a call, its line in the fixture's log, its effect and its intent are told
//! apart by the tool's name alone. Three calls need nothing; three take from a budget that has room for two, and from one of all rounds; and two are
//! the same call, which a person has approved once and which comes again in the next round. After the kill the next round's gate starts, and then must hold what
//! [`judge::Promise`] says.
//!
//! | file | holds |
//! |---|---|
//! | `round` | one round: its tools, its gate, its calls, its end |
//! | `judge` | what must hold after it |

mod judge;
mod round;

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use self::judge::{Findings, Promise};
use self::round::{Killed, Round};
use super::lot::Lot;
use super::{Ground, Intent};
use crate::peer::PATIENCE;
use crate::postgres::Server;
use crate::report::Report;

/// The rounds before the first kill: they measure how long a round takes.
const ROUNDS_OF_PRACTICE: u32 = 5;
/// The lease of gates on PostgreSQL: the shortest that there is.
const LEASE_MS: u64 = 1_000;
/// How long after a kill the gate is surely known to be gone.
const GONE_AFTER: Duration = Duration::from_millis(LEASE_MS + 500);

/// How the gate is killed.
#[derive(Debug, Clone, Copy)]
pub struct Kills {
    /// How often.
    pub rounds: u32,
    /// In how many of the rounds the store's server is killed, too.
    pub server_kills: u32,
    /// Where the random numbers start.
    pub seed: u64,
}

/// Kills gates on a store in a file; the report gets one check a promise.
///
/// # Errors
/// When the gate or the fixture does not do its part.
pub fn run(ground: &Ground, kills: Kills, report: &mut Report) -> anyhow::Result<()> {
    torture(ground, None, Duration::ZERO, kills, report)
}

/// Kills gates on a store on PostgreSQL, and its server; nothing where the machine has none.
///
/// # Errors
/// When the gate, the fixture or the server does not do its part.
pub fn run_postgres(ground: &Ground, kills: Kills, report: &mut Report) -> anyhow::Result<()> {
    let Some(server) = Server::fresh() else { return Ok(()) };
    let parameters = format!("&lease_ms={LEASE_MS}&renewal_ms={}", LEASE_MS / 4);
    let store = Some(server.address("kills", &parameters));
    let ground = Ground { store, folder: ground.folder.join("postgres"), ..ground.clone() };
    std::fs::create_dir_all(&ground.folder)?;
    torture(&ground, Some(&server), GONE_AFTER, kills, report)
}

fn torture(
    ground: &Ground,
    server: Option<&Server>,
    gone_after: Duration,
    kills: Kills,
    report: &mut Report,
) -> anyhow::Result<()> {
    let store = if server.is_some() { "PostgreSQL" } else { "SQLite" };
    let mut lot = Lot::new(kills.seed);
    // Room for about half of what is asked for, so that it runs out on the way.
    let total = kills.rounds + ROUNDS_OF_PRACTICE * 2;
    round::configure(ground, total)?;
    let mut window = Duration::ZERO;
    for number in 0..ROUNDS_OF_PRACTICE {
        window = window.max(Round::plan(ground, number, &mut lot)?.measure(ground)?);
    }
    report.say(&format!(
        "{store}, seed {}: {} kills of the gate and {} of the server, each within {} µs of the first of 8 calls",
        kills.seed,
        kills.rounds,
        kills.server_kills,
        window.as_micros()
    ));
    let mut findings = Findings::default();
    let mut waiting: VecDeque<(Killed, Instant)> = VecDeque::new();
    let mut round = Round::plan(ground, ROUNDS_OF_PRACTICE, &mut lot)?;
    let mut gate = round.start(ground)?;
    let every = kills.rounds.checked_div(kills.server_kills).unwrap_or(0);
    for number in 0..kills.rounds {
        let server = server.filter(|_| every > 0 && number % every == every - 1);
        let killed = round.play_and_kill(&mut gate, server, window, &mut lot)?;
        waiting.push_back((killed, Instant::now()));
        // The next gate finds what the dead one left.
        round = Round::plan(ground, round.number + 1, &mut lot)?;
        gate = round.start(ground)?;
        while let Some((killed, at)) = waiting.front()
            && at.elapsed() >= gone_after
        {
            findings.judge(ground, killed)?;
            waiting.pop_front();
        }
    }
    std::thread::sleep(gone_after);
    for (killed, _) in &waiting {
        findings.judge(ground, killed)?;
    }
    gate.close();
    gate.wait(PATIENCE)?;
    let last: BTreeMap<String, Intent> =
        ground.intents(u32::MAX)?.into_iter().map(|intent| (intent.id.clone(), intent)).collect();
    findings.compare(&last);
    findings.count_spent(&last, ground.taken("all")?, total);
    findings.compare_doubts(&last, &ground.doubts()?);
    report.say(&format!("{store}: {}", findings.moments.text()));
    for promise in Promise::ALL {
        report.check(&format!("{store}: {}", promise.text()), findings.of(promise));
    }
    Ok(())
}

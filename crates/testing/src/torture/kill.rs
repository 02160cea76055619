//! The gate is killed (SIGKILL) at a random moment between a call's arrival and its answer, again and again, on one store.
//!
//! Each round has tools of its own, one a call, so that a call, its line in the fixture's log, its effect and its intent
//! are told apart by the tool's name alone. After the kill the next round's gate starts, and then must hold:
//!
//! * no call reached the tool server, and none had an effect, without an intent;
//! * no call reached it twice, and none has two intents;
//! * a call that was answered as run is settled, with its side effect done;
//! * every other intent is settled too, or open, in doubt, its side effect unknown: none is just open;
//! * at the end, every intent that was ever seen is still there, unchanged.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde_json::Value;

use super::lot::Lot;
use super::{Ground, Intent, call, command};
use crate::peer::{PATIENCE, Peer, until};
use crate::report::Report;

/// The longest that a scripted tool waits before its effect, and again after it.
const TOOL_WAIT_MS_MAX: u64 = 3;
/// The most calls in one round.
const CALLS_MAX: u64 = 4;
/// The rounds before the first kill: they measure how long a round takes.
const ROUNDS_OF_PRACTICE: u32 = 5;

/// One round's plan and files.
struct Round {
    number: u32,
    tools: Vec<String>,
    waits: Vec<(u64, u64)>,
    tools_file: PathBuf,
    log: PathBuf,
    effects: PathBuf,
    alive: PathBuf,
}

/// How far the calls had come when the gate was killed.
#[derive(Debug, Default)]
struct Moments {
    before_intent: u32,
    intent_not_sent: u32,
    sent_no_effect: u32,
    effect_not_settled: u32,
    settled_not_answered: u32,
    answered: u32,
}

/// Kills the gate `rounds` times; the report gets one check a promise.
pub fn run(ground: &Ground, rounds: u32, seed: u64, report: &mut Report) -> anyhow::Result<()> {
    let mut lot = Lot::new(seed);
    let mut window = Duration::ZERO;
    for number in 0..ROUNDS_OF_PRACTICE {
        let round = Round::plan(ground, number, &mut lot)?;
        window = window.max(round.measure(ground)?);
    }
    report.say(&format!(
        "seed {seed}: {rounds} kills, each within {} µs of the first call",
        window.as_micros()
    ));

    let mut moments = Moments::default();
    let mut faults: BTreeMap<Promise, Vec<String>> = BTreeMap::new();
    let mut seen: BTreeMap<String, Intent> = BTreeMap::new();
    let mut round = Round::plan(ground, ROUNDS_OF_PRACTICE, &mut lot)?;
    let mut gate = round.start(ground)?;
    for _ in 0..rounds {
        let answers = round.play_and_kill(&mut gate, window, &mut lot)?;
        // The next gate finds what the dead one left.
        let next = Round::plan(ground, round.number + 1, &mut lot)?;
        gate = next.start(ground)?;
        round.judge(ground, &answers, &mut moments, &mut faults, &mut seen)?;
        round = next;
    }
    gate.close();
    gate.wait(PATIENCE)?;

    let last: BTreeMap<String, Intent> =
        ground.intents()?.into_iter().map(|intent| (intent.id.clone(), intent)).collect();
    for (id, intent) in &seen {
        if last.get(id) != Some(intent) {
            faults.entry(Promise::Kept).or_default().push(format!("{intent:?} became {:?}", last.get(id)));
        }
    }
    report.say(&moments.text());
    for promise in Promise::ALL {
        report.check(promise.text(), faults.get(&promise).map(|found| found.join("; ")));
    }
    Ok(())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Promise {
    Intent,
    Once,
    Settled,
    InDoubt,
    Kept,
}

impl Promise {
    const ALL: [Promise; 5] =
        [Promise::Intent, Promise::Once, Promise::Settled, Promise::InDoubt, Promise::Kept];

    fn text(self) -> &'static str {
        match self {
            Promise::Intent => "no call reached the tool server without an intent",
            Promise::Once => "no call was dispatched twice",
            Promise::Settled => "every call that was answered as run is settled, its side effect done",
            Promise::InDoubt => "every other intent is settled, or in doubt with an unknown side effect",
            Promise::Kept => "no intent was lost or changed by a later kill",
        }
    }
}

impl Round {
    fn plan(ground: &Ground, number: u32, lot: &mut Lot) -> anyhow::Result<Round> {
        let count = 1 + lot.up_to(CALLS_MAX - 1);
        let tools: Vec<String> = (0..count).map(|call| format!("r{number}c{call}")).collect();
        let waits =
            tools.iter().map(|_| (lot.up_to(TOOL_WAIT_MS_MAX), lot.up_to(TOOL_WAIT_MS_MAX))).collect();
        let definitions: Vec<String> = tools
            .iter()
            .map(|tool| {
                format!(
                    r#"{{"name":"{tool}","inputSchema":{{"type":"object","properties":{{"marker":{{"type":"string"}}}}}}}}"#
                )
            })
            .collect();
        let tools_file = ground.path(&format!("tools-{number}"));
        std::fs::write(&tools_file, format!("[{}]\n", definitions.join(",")))?;
        Ok(Round {
            number,
            tools,
            waits,
            tools_file,
            log: ground.path(&format!("log-{number}")),
            effects: ground.path(&format!("effects-{number}")),
            alive: ground.path(&format!("alive-{number}")),
        })
    }

    /// Starts the gate before a fixture of this round, up to the point where it has the list of tools.
    fn start(&self, ground: &Ground) -> anyhow::Result<Peer> {
        let mut words = Vec::new();
        for (flag, file) in [
            ("--tools", &self.tools_file),
            ("--log", &self.log),
            ("--effects", &self.effects),
            ("--alive", &self.alive),
        ] {
            words.extend([flag.to_owned(), super::text(file)?]);
        }
        for (tool, (before, after)) in self.tools.iter().zip(&self.waits) {
            let script = format!("{tool}=wait:{before} effect wait:{after} answer");
            words.extend(["--script".to_owned(), script]);
        }
        let mut gate = Peer::spawn(&mut command(&ground.gate(&words)?)?)?;
        gate.initialize()?;
        gate.send(r#"{"jsonrpc":"2.0","id":"list","method":"tools/list"}"#)?;
        gate.answer("\"list\"", PATIENCE)?;
        Ok(gate)
    }

    fn send_calls(&self, gate: &mut Peer) -> anyhow::Result<()> {
        let lines: Vec<String> =
            (0..).zip(&self.tools).map(|(id, tool)| call(id, tool, tool) + "\n").collect();
        gate.send_raw(lines.concat())
    }

    /// How long it takes from the first call to the last answer.
    fn measure(&self, ground: &Ground) -> anyhow::Result<Duration> {
        let mut gate = self.start(ground)?;
        let begun = Instant::now();
        self.send_calls(&mut gate)?;
        for (id, _) in (0..).zip(&self.tools) {
            let id: u32 = id;
            gate.answer(&id.to_string(), PATIENCE)?;
        }
        let taken = begun.elapsed();
        gate.close();
        gate.wait(PATIENCE)?;
        Ok(taken)
    }

    /// Plays the calls, kills the gate, waits for the fixture's end, and returns the answers that had been written.
    fn play_and_kill(
        &self,
        gate: &mut Peer,
        window: Duration,
        lot: &mut Lot,
    ) -> anyhow::Result<BTreeMap<u32, Value>> {
        let micros = u64::try_from(window.as_micros())?;
        let moment = Duration::from_micros(lot.up_to(micros));
        self.send_calls(gate)?;
        let begun = Instant::now();
        // A sleep would be late by more than the steps that are to be hit.
        while begun.elapsed() < moment {
            std::hint::spin_loop();
        }
        gate.kill()?;
        let mut answers = BTreeMap::new();
        for line in gate.rest(PATIENCE)? {
            // The last line may be cut off: then it is no answer.
            let Ok(answer) = serde_json::from_slice::<Value>(&line) else { continue };
            if let Some(id) = answer.get("id").and_then(Value::as_u64) {
                answers.insert(u32::try_from(id)?, answer);
            }
        }
        let alive = File::open(&self.alive).context("the fixture never ran")?;
        until("the end of the fixture", PATIENCE, || alive.try_lock().is_ok())?;
        Ok(answers)
    }

    fn judge(
        &self,
        ground: &Ground,
        answers: &BTreeMap<u32, Value>,
        moments: &mut Moments,
        faults: &mut BTreeMap<Promise, Vec<String>>,
        seen: &mut BTreeMap<String, Intent>,
    ) -> anyhow::Result<()> {
        let intents = ground.intents()?;
        let log = std::fs::read_to_string(&self.log)?;
        let effects = std::fs::read_to_string(&self.effects)?;
        for (id, tool) in (0..).zip(&self.tools) {
            let call = Call {
                sent: log.matches(&format!("\"{tool}\",")).count(),
                effects: effects.lines().filter(|line| line.split(' ').nth(1) == Some(tool)).count(),
                answer: answers.get(&id),
                intents: intents.iter().filter(|intent| intent.tool == *tool).collect(),
            };
            moments.count(&call);
            for promise in call.broken() {
                faults.entry(promise).or_default().push(format!("{tool}: {call:?}"));
            }
            seen.extend(call.intents.iter().map(|&intent| (intent.id.clone(), intent.clone())));
        }
        Ok(())
    }
}

/// What is known of one call after the kill.
#[derive(Debug)]
struct Call<'a> {
    sent: usize,
    effects: usize,
    answer: Option<&'a Value>,
    intents: Vec<&'a Intent>,
}

impl Call<'_> {
    fn settled(&self) -> bool {
        self.intents.iter().any(|intent| intent.state == "settled" && intent.side_effect == "done")
    }

    fn broken(&self) -> Vec<Promise> {
        let reached = self.sent > 0 || self.effects > 0;
        let answered_as_run = self.answer.is_some_and(|answer| answer.get("result").is_some());
        let certain = |intent: &Intent| match intent.state.as_str() {
            "settled" => !intent.in_doubt,
            "open" => intent.in_doubt && intent.side_effect == "unknown",
            _ => false,
        };
        [
            (Promise::Intent, reached && self.intents.is_empty()),
            (Promise::Once, self.sent > 1 || self.effects > 1 || self.intents.len() > 1),
            (Promise::Settled, answered_as_run && !self.settled()),
            (Promise::InDoubt, !self.intents.iter().all(|intent| certain(intent))),
        ]
        .into_iter()
        .filter_map(|(promise, broken)| broken.then_some(promise))
        .collect()
    }
}

impl Moments {
    fn count(&mut self, call: &Call<'_>) {
        let moment = if call.answer.is_some() {
            &mut self.answered
        } else if call.settled() {
            &mut self.settled_not_answered
        } else if call.effects > 0 {
            &mut self.effect_not_settled
        } else if call.sent > 0 {
            &mut self.sent_no_effect
        } else if call.intents.is_empty() {
            &mut self.before_intent
        } else {
            &mut self.intent_not_sent
        };
        *moment += 1;
    }

    fn text(&self) -> String {
        format!(
            "when killed, the calls were: {} before their intent, {} with an intent and not sent, {} sent without an \
             effect, {} with an effect and not settled, {} settled and not answered, {} answered",
            self.before_intent,
            self.intent_not_sent,
            self.sent_no_effect,
            self.effect_not_settled,
            self.settled_not_answered,
            self.answered,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn intent(state: &str, side_effect: &str, in_doubt: bool) -> Intent {
        let text = str::to_owned;
        Intent {
            id: text("i"),
            tool: text("t"),
            state: text(state),
            side_effect: text(side_effect),
            in_doubt,
        }
    }

    #[test]
    fn each_promise_is_seen_when_it_is_broken() {
        let settled = intent("settled", "done", false);
        let doubtful = intent("open", "unknown", true);
        let forgotten = intent("open", "unknown", false);
        let answer = serde_json::json!({"result": {}});
        let broken = |sent, effects, answer, intents: &[&Intent]| {
            Call { sent, effects, answer, intents: intents.to_vec() }.broken()
        };
        assert_eq!(broken(0, 0, None, &[]), []);
        assert_eq!(broken(1, 1, Some(&answer), &[&settled]), []);
        assert_eq!(broken(1, 0, None, &[&doubtful]), []);
        assert_eq!(broken(1, 0, None, &[]), [Promise::Intent]);
        assert_eq!(broken(2, 1, None, &[&doubtful]), [Promise::Once]);
        assert_eq!(broken(1, 1, None, &[&doubtful, &doubtful]), [Promise::Once]);
        assert_eq!(broken(1, 1, Some(&answer), &[&doubtful]), [Promise::Settled]);
        assert_eq!(broken(1, 1, None, &[&forgotten]), [Promise::InDoubt]);
    }
}

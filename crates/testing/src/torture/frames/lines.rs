//! Lots of lines to a gate over standard input and output.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use serde_json::Value;

use super::super::Ground;
use super::super::lot::Lot;
use super::gate::{Gate, IN_TIME, Way};
use super::judge::{self, Findings, Promise, shown};
use super::{good, mutate};

/// The most messages of a lot.
const LOT_MAX: u64 = 60;

/// What the gate said of the messages: the markers of those that it refused and of those that it sent on.
#[derive(Default)]
struct Said {
    refused: BTreeMap<String, String>,
    sent_on: BTreeSet<String>,
}

/// One gate, lot after lot until the time is over.
pub(super) fn stretch(
    ground: &Ground,
    until: Instant,
    lot: &mut Lot,
    findings: &mut Findings,
) -> anyhow::Result<()> {
    let mut gate = Gate::start(ground, Way::Lines, "")?;
    let mut said = Said::default();
    let mut number = 1;
    while Instant::now() < until {
        if one_lot(&mut gate, &mut number, lot, &mut said, findings).is_err() {
            // The gate does not read any more: its end says why.
            findings.broke(Promise::Alive, "the gate does not read its standard input".to_owned());
            break;
        }
    }
    for marker in gate.end(findings)? {
        if let Some(answer) = said.refused.get(&marker)
            && !said.sent_on.contains(&marker)
        {
            findings.broke(Promise::Refused, format!("{marker} arrived, after {answer}"));
        }
    }
    Ok(())
}

fn one_lot(
    gate: &mut Gate,
    number: &mut u64,
    lot: &mut Lot,
    said: &mut Said,
    findings: &mut Findings,
) -> anyhow::Result<()> {
    let mut bytes = Vec::new();
    let mut markers = BTreeMap::new();
    for _ in 0..=lot.up_to(LOT_MAX - 1) {
        let good = good::message(*number, lot);
        markers.insert(number.to_string(), good.marker.clone());
        let mut frame = good.frame.to_string().into_bytes();
        if lot.up_to(7) > 0 {
            frame = mutate::mutated(frame, lot);
        }
        bytes.extend(frame);
        bytes.push(b'\n');
        *number += 1;
        findings.sent += 1;
    }
    let demands = demands(&bytes);
    let id = gate.fresh_id();
    gate.peer.send_raw(&bytes)?;
    gate.peer.send(good::plain_call(&id, "mark").to_string())?;
    let mut answers = Answers { open: demands, without_id: 0, plain: format!("\"{id}\""), plain_came: false };
    hear(gate, &mut answers, &markers, said, findings);
    if !answers.plain_came {
        findings.broke(Promise::Alive, format!("no answer to the good call after {}", shown(&bytes)));
    }
    // A frame that was not taken may be answered without its id.
    if answers.open.len() > answers.without_id {
        let open: Vec<String> = answers.open.values().map(|line| shown(line)).take(3).collect();
        findings.broke(Promise::Answered, open.join(" and "));
    }
    Ok(())
}

/// What is waited for after a lot.
struct Answers {
    /// Requests by their ids, and their lines.
    open: BTreeMap<String, Vec<u8>>,
    /// Answers to nobody in particular.
    without_id: usize,
    plain: String,
    plain_came: bool,
}

/// Reads until everything that is demanded has come, or too long.
fn hear(
    gate: &mut Gate,
    answers: &mut Answers,
    markers: &BTreeMap<String, String>,
    said: &mut Said,
    findings: &mut Findings,
) {
    let deadline = Instant::now() + IN_TIME;
    while !answers.plain_came || answers.open.len() > answers.without_id {
        let Ok(Some(line)) = gate.peer.line(deadline.saturating_duration_since(Instant::now())) else {
            return;
        };
        let frame = judge::readable(&line, findings);
        if frame.get("method").is_some() {
            continue;
        }
        let id = frame.get("id").map(Value::to_string).unwrap_or_default();
        answers.plain_came |= id == answers.plain;
        if matches!(id.as_str(), "" | "null") {
            answers.without_id += 1;
        } else if answers.open.remove(&id).is_some() {
            findings.answered += 1;
        }
        note(&frame, markers.get(&id), said);
    }
}

/// Notes what an answer says of the message with this marker, and of the arguments that it repeats.
fn note(frame: &Value, marker: Option<&String>, said: &mut Said) {
    if judge::is_refusal(frame) {
        if let Some(marker) = marker {
            said.refused.insert(marker.clone(), shown(frame.to_string().as_bytes()));
        }
        return;
    }
    let text = frame.pointer("/result/content/0/text").and_then(Value::as_str).unwrap_or_default();
    let echoed: Value = serde_json::from_str(text).unwrap_or_default();
    said.sent_on.extend(echoed.get("marker").and_then(Value::as_str).map(str::to_owned));
}

/// The requests that have to be answered. One that is withdrawn may not be, and a stream of changes ends with the gate.
fn demands(bytes: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut open = BTreeMap::new();
    let mut withdrawn = BTreeSet::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        // A line that cannot be read may still withdraw something.
        if let Ok(frame) = serde_json::from_slice::<Value>(line)
            && let Some(id) = frame.pointer("/params/requestId")
        {
            withdrawn.insert(id.to_string());
        }
        if let Some(request) = judge::request(line)
            && request.method != "subscriptions/listen"
        {
            open.insert(request.id, line.to_vec());
        }
    }
    open.retain(|id, _| !withdrawn.contains(id));
    open
}

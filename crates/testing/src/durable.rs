//! What becomes of records, step by step: the rows of `cases/durable.jsonl`, played on any journal. Each step is a command,
//! and says what the journal answers to it.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "a test that cannot read its rows shall stop"
)]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use callgate_gateway::call::{held, repeated};
use callgate_gateway::catalog::{AdmissionSettings, Catalog, admit_tools};
use callgate_gateway::intent::Observation;
use callgate_gateway::journal::{
    AcceptRequest, Answer, Ask, Command, DecideRequest, Hold, Journal, OpenRequest, Opened, ReconcileRequest,
    Verdict,
};
use callgate_schema::Limits;
use callgate_schema::Profile;
use callgate_schema::json::{Digest, Document, digest};
use callgate_wire::{
    ApprovalId, Attempt, Charge, Code, Intent, IntentId, IntentRecord, Pinned, Principal, SideEffect,
    Timestamp,
};
use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::journal::Interposed;

/// The rows.
const ROWS: &str = include_str!("../../../cases/durable.jsonl");

/// One test a row, on the journal that `fresh` makes for it.
pub fn trials<J: Journal + 'static>(store: &str, fresh: fn() -> J) -> Vec<Trial> {
    let name = |line: &str| {
        let row: Value = serde_json::from_str(line).expect("a row is JSON");
        row["name"].as_str().expect("a row has a name").to_owned()
    };
    ROWS.lines()
        .map(|line| {
            Trial::test(format!("{store}: {}", name(line)), move || {
                play(&fresh(), line).map_err(Failed::from)
            })
        })
        .collect()
}

/// Plays each row once for each of its steps and each fault: the store fails before it does what the step asks, or does it and
/// its answer is lost. The step is given again, as whoever holds a journal does, and nothing may be other than without the
/// fault.
///
/// # Errors
///
/// The first row that goes otherwise, with the step and the fault.
pub fn play_with_faults<J: Journal + 'static>(fresh: fn() -> J) -> Result<usize, String> {
    let mut played = 0;
    // A row of thousands of commits would be played thousands of times.
    for line in ROWS.lines().filter(|line| !line.contains("ask_many")) {
        for lost in [false, true] {
            for at in 0.. {
                let count = AtomicUsize::new(0);
                let faulty = |journal: &J, command: Command| {
                    if count.fetch_add(1, Ordering::Relaxed) == at {
                        if lost {
                            // Whatever it answers is lost.
                            let _ = journal.commit(command.clone());
                        }
                        return journal.commit(command.again());
                    }
                    journal.commit(command)
                };
                let fault = if lost { "its answer is lost" } else { "the store fails" };
                play(&Interposed::new(fresh(), faulty), line)
                    .map_err(|error| format!("{error} (at commit {at} {fault}, and it is given again)"))?;
                played += 1;
                if count.load(Ordering::Relaxed) <= at {
                    break;
                }
            }
        }
    }
    Ok(played)
}

/// Plays a row; the error says what went otherwise.
///
/// # Errors
///
/// The first step that was not answered as it says.
pub fn play(journal: &dyn Journal, line: &str) -> Result<(), String> {
    let row: Value = serde_json::from_str(line).map_err(|error| format!("{error}: {line}"))?;
    let name = row["name"].as_str().unwrap_or_default();
    let mut stage = Stage::new(journal);
    for (at, step) in row["steps"].as_array().into_iter().flatten().enumerate() {
        stage.play(step).map_err(|fault| format!("{name}: step {}: {fault}", at + 1))?;
    }
    Ok(())
}

/// A journal on which steps are played one by one.
pub struct Stage<'a> {
    journal: &'a dyn Journal,
    now: i64,
    /// The code of the last call that was held.
    code: Option<Code>,
    /// The names of a row's calls, in the order in which they came.
    ids: BTreeMap<String, u8>,
}

fn some_digest(text: &str) -> Digest {
    let text = serde_json::to_string(text).expect("a text is JSON");
    let document =
        Document::read(text.into_bytes(), &Limits::default().arguments_text()).expect("it is JSON");
    digest("test", document.root())
}

impl<'a> Stage<'a> {
    /// Before the first step. The calls of the steps get the ids 1, 2, … in the order in which they are named: every
    /// byte of an id is its number.
    pub fn new(journal: &'a dyn Journal) -> Stage<'a> {
        Stage { journal, now: 0, code: None, ids: BTreeMap::new() }
    }

    /// Plays one step.
    ///
    /// # Errors
    ///
    /// It was not answered as it says.
    pub fn play(&mut self, step: &Value) -> Result<(), String> {
        let found = self.step(step);
        let wanted = step["gives"].as_str().unwrap_or_default();
        if found == wanted { Ok(()) } else { Err(format!("expected `{wanted}`, found `{found}`: {step}")) }
    }
}

impl Stage<'_> {
    /// Plays one step, and gives what the journal answers to it.
    pub fn answer(&mut self, step: &Value) -> String {
        self.step(step)
    }

    fn step(&mut self, step: &Value) -> String {
        if let Some(now) = step["now"].as_i64() {
            self.now = now;
        }
        let text = |key: &str| step[key].as_str();
        if let Some(call) = text("open") {
            return self.open(call, step);
        }
        if let Some(count) = step["ask_many"].as_u64() {
            return self.ask_many(count);
        }
        if let Some(call) = text("settle") {
            return self.settle(call, step);
        }
        if let Some(call) = text("approve").or(text("deny")) {
            return self.decide(call, step);
        }
        for verdict in ["adopt", "retry", "abandon"] {
            if let Some(call) = text(verdict) {
                return self.reconcile(verdict, call, step);
            }
        }
        if let Some(id) = text("publish") {
            return self.publish(id, step);
        }
        if let Some(tool) = text("accept") {
            return self.accept(tool, step);
        }
        if let Some(call) = text("show") {
            return self.show(call);
        }
        if let Some(budget) = text("budget") {
            return self.budget(budget);
        }
        if text("history").is_some() {
            return self.history();
        }
        if step["now"].is_null() { format!("unknown step {step}") } else { String::new() }
    }

    fn bytes(&mut self, name: &str) -> [u8; 16] {
        let next = u8::try_from(self.ids.len() + 1).unwrap_or(u8::MAX);
        [*self.ids.entry(name.to_owned()).or_insert(next); 16]
    }

    fn name(&self, id: &str) -> &str {
        let named = |(_, n): &(&String, &u8)| IntentId::from_bytes([**n; 16]).as_str() == id;
        self.ids.iter().find(named).map_or("?", |(name, _)| name)
    }

    fn record(&mut self, call: &str, step: &Value) -> IntentRecord {
        let text = |key: &str, default: &str| step[key].as_str().unwrap_or(default).to_owned();
        let (tool, arguments) = (text("tool", "pay"), text("arguments", "{}"));
        let (contract, upstream) = (text("contract", "1"), text("upstream", "bank"));
        let flag = |key: &str| step[key].as_bool().unwrap_or_default();
        let intent = Intent {
            id: IntentId::from_bytes(self.bytes(call)),
            opened_at: Timestamp(self.now),
            principal: Principal::local(&text("principal", "ada")),
            run: step["run"].as_str().map(str::to_owned),
            contract_digest: some_digest(&contract),
            arguments_digest: some_digest(&arguments),
            call_digest: some_digest(&format!("{upstream}/{tool}/{contract}/{arguments}")),
            upstream,
            tool,
            key: step["key"].as_str().map(str::to_owned),
            approval: None,
            pinned: Pinned { read_only: flag("read_only"), idempotent: flag("idempotent") },
            attempt: Attempt::FIRST,
            fence: self.journal.incarnation().clone(),
            retry_permitted: false,
            settlement: None,
        };
        IntentRecord { intent, arguments: arguments.into_bytes().into() }
    }

    fn open(&mut self, call: &str, step: &Value) -> String {
        let record = self.record(call, step);
        let ask = step["ask"].as_str().map(|rules| Ask {
            id: ApprovalId::of(&record.intent.id),
            rules_digest: some_digest(rules),
            rules: vec![rules.to_owned()],
            expires_at: Timestamp(step["expires"].as_i64().unwrap_or(self.now + 100)),
        });
        let charges = step["charges"].as_array().into_iter().flatten().map(charge).collect();
        let command = Command::Open(Box::new(OpenRequest { record, ask, charges, again: false }));
        match self.journal.commit(command) {
            Ok(Answer::Opened(opened)) => {
                self.code = code_of(&opened);
                self.opened(&opened)
            }
            Ok(other) => format!("{other:?}"),
            Err(error) => error.code().to_string(),
        }
    }

    /// Asks for the approvals of so many different calls; gives how many were asked for.
    fn ask_many(&mut self, count: u64) -> String {
        let mut asked = 0;
        for number in 0..count {
            let mut record = self.record("many", &Value::Null);
            record.intent.id = IntentId::from_bytes(u128::from(number).to_le_bytes());
            record.intent.call_digest = some_digest(&number.to_string());
            let ask = Some(Ask {
                id: ApprovalId::of(&record.intent.id),
                rules_digest: some_digest("r"),
                rules: Vec::new(),
                expires_at: Timestamp(self.now + 100),
            });
            let request = OpenRequest { record, ask, charges: Vec::new(), again: false };
            if let Ok(Answer::Opened(opened)) = self.journal.commit(Command::Open(Box::new(request))) {
                asked +=
                    u64::from(matches!(*opened, Opened::Held(Hold::ApprovalPending { asked: true, .. })));
            }
        }
        format!("asked {asked}")
    }

    fn opened(&self, opened: &Opened) -> String {
        match opened {
            Opened::Go(intent) => format!("go {} try {}", self.name(intent.id.as_str()), intent.attempt.0),
            Opened::Known(intent, result) => {
                let result = result.as_deref().map(String::from_utf8_lossy);
                format!("known {} {}", self.name(intent.id.as_str()), result.as_deref().unwrap_or("-"))
            }
            Opened::Held(Hold::Fenced) => "fenced".to_owned(),
            Opened::Held(Hold::InDoubt(id)) => format!("in doubt {}", self.name(id.as_str())),
            Opened::Held(Hold::KeyInFlight(id)) => format!("key in flight {}", self.name(id.as_str())),
            Opened::Held(Hold::KeyConflict(id)) => format!("key conflict {}", self.name(id.as_str())),
            Opened::Held(Hold::ApprovalPending { id, expires_at, asked }) => {
                let asked = if *asked { "asked" } else { "pending" };
                format!("{asked} {} until {}", self.name(id.as_str()), expires_at.0)
            }
            Opened::Held(Hold::ApprovalDenied(id)) => format!("denied {}", self.name(id.as_str())),
            Opened::Held(Hold::ApprovalsFull) => "approvals full".to_owned(),
            Opened::Held(Hold::BudgetExceeded { charge, used }) => {
                format!("budget {} used {used} of {}", charge.budget, charge.limit)
            }
        }
    }

    fn settle(&mut self, call: &str, step: &Value) -> String {
        let id = IntentId::from_bytes(self.bytes(call));
        let observation = match step["observed"].as_str().unwrap_or("result") {
            "result" => Observation::Result { is_error: false, bytes: 2, breaks_output: false },
            "error-result" => Observation::Result { is_error: true, bytes: 2, breaks_output: false },
            "large-result" => Observation::ResultTooLarge { bytes: 9 },
            "unanswered-question" => Observation::InputUnavailable,
            "rpc-error" => Observation::RpcError,
            "timeout" => Observation::Timeout,
            "gone" => Observation::UpstreamGone,
            "cancelled" => Observation::CancelledAfterDispatch,
            "withdrawn" => Observation::CancelledBeforeDispatch,
            "rejected" => Observation::RejectedBeforeDispatch,
            other => return format!("unknown observation {other}"),
        };
        let pinned = match self.journal.show(id.as_str()) {
            Ok(Some(record)) => record.intent.pinned,
            _ => Pinned::default(),
        };
        let result = step["result"].as_str().map(|text| text.as_bytes().into());
        match self.journal.settle(&id, &observation.settlement(pinned, Timestamp(self.now)), result) {
            Ok(()) => self.show(call),
            Err(error) => error.code().to_string(),
        }
    }

    fn decide(&mut self, call: &str, step: &Value) -> String {
        let command = Command::Decide(DecideRequest {
            id: ApprovalId::of(&IntentId::from_bytes(self.bytes(call))),
            approve: step["approve"].is_string(),
            by: "operator".to_owned(),
            reason: None,
            at: Timestamp(self.now),
            expires_at: Timestamp(step["expires"].as_i64().unwrap_or(self.now + 100)),
        });
        match self.journal.commit(command) {
            Ok(Answer::Decided(approval)) => approval.state.to_string(),
            Ok(other) => format!("{other:?}"),
            Err(error) => error.code().to_string(),
        }
    }

    fn reconcile(&mut self, verdict: &str, call: &str, step: &Value) -> String {
        let verdict = match (verdict, step["effect"].as_str()) {
            ("adopt", Some("none")) => Verdict::Adopt(SideEffect::None),
            ("adopt", _) => Verdict::Adopt(SideEffect::Done),
            ("retry", _) => Verdict::Retry,
            _ => Verdict::Abandon,
        };
        let command = Command::Reconcile(ReconcileRequest {
            id: IntentId::from_bytes(self.bytes(call)),
            verdict,
            by: "operator".to_owned(),
            reason: "looked".to_owned(),
            at: Timestamp(self.now),
        });
        match self.journal.commit(command) {
            Ok(Answer::Reconciled(_)) => self.show(call),
            Ok(other) => format!("{other:?}"),
            Err(error) => error.code().to_string(),
        }
    }

    fn publish(&mut self, id: &str, step: &Value) -> String {
        let definitions: Vec<String> =
            step["tools"].as_array().into_iter().flatten().map(Value::to_string).collect();
        let settings = AdmissionSettings::new(Profile::Standard);
        let admissions = admit_tools(definitions.iter().map(String::as_bytes), &settings);
        let catalog = Catalog::publish(1, "bank", admissions);
        let mut request = catalog.publication(id.to_owned(), "gate".to_owned(), Timestamp(self.now));
        request.expected = step["expected"].as_u64();
        request.strict = step["strict"].as_bool().unwrap_or_default();
        match self.journal.publish(request) {
            Ok(published) => {
                let held: Vec<_> = published.held.iter().map(|change| change.tool.as_str()).collect();
                format!(
                    "revision {} first [{}] held [{}] missing [{}]",
                    published.head.revision,
                    published.first_seen.join(" "),
                    held.join(" "),
                    published.missing.join(" ")
                )
            }
            Err(error) => error.code().to_string(),
        }
    }

    fn accept(&mut self, tool: &str, step: &Value) -> String {
        let pins = self.journal.pinned(Some("bank")).unwrap_or_default();
        let pin = pins.into_iter().map(|record| record.pin).find(|pin| pin.tool == tool);
        let held = pin.and_then(|pin| pin.held).map(|held| held.digest);
        let seen = if step["seen"] == "another" { None } else { held };
        let command = Command::Accept(AcceptRequest {
            upstream: "bank".to_owned(),
            tool: tool.to_owned(),
            digest: seen.unwrap_or_else(|| some_digest("another")),
            by: "operator".to_owned(),
            at: Timestamp(self.now),
        });
        match self.journal.commit(command) {
            Ok(Answer::Accepted) => "accepted".to_owned(),
            Ok(other) => format!("{other:?}"),
            Err(error) => error.code().to_string(),
        }
    }

    fn show(&mut self, call: &str) -> String {
        let id = IntentId::from_bytes(self.bytes(call));
        let Ok(Some(record)) = self.journal.show(id.as_str()) else { return "no intent".to_owned() };
        let intent = record.intent;
        let Some(settlement) = &intent.settlement else { return "open".to_owned() };
        let doubt = if settlement.in_doubt { " in doubt" } else { "" };
        let retry = if intent.retry_permitted { " retry" } else { "" };
        format!("{} {}{doubt}{retry}", settlement.state, settlement.side_effect)
    }

    fn budget(&self, budget: &str) -> String {
        let counters = self.journal.counters().unwrap_or_default();
        let of: Vec<String> = counters
            .iter()
            .filter(|counter| counter.charge.budget == budget)
            .map(|counter| format!("{}+{}", counter.committed, counter.reserved))
            .collect();
        of.join(" ")
    }

    fn history(&self) -> String {
        let filter = callgate_gateway::journal::EventFilter { limit: 100, intent: None };
        let events = self.journal.history(&filter).unwrap_or_default();
        let kinds: Vec<&str> = events.iter().rev().map(|event| event.kind.as_str()).collect();
        kinds.join(" ")
    }
}

/// The code by which the caller learns that it may not leave.
fn code_of(opened: &Opened) -> Option<Code> {
    match opened {
        Opened::Go(_) | Opened::Known(_, Some(_)) => None,
        Opened::Known(intent, None) => Some(repeated(intent).code),
        Opened::Held(hold) => Some(held(hold).code),
    }
}

/// `[budget, amount, limit]` and perhaps a scope and the beginning of a window.
fn charge(row: &Value) -> Charge {
    Charge {
        budget: row[0].as_str().unwrap_or_default().to_owned(),
        scope: row[3].as_str().unwrap_or_default().to_owned(),
        window: row[4].as_i64().map(Timestamp),
        resets_at: None,
        amount: row[1].as_u64().unwrap_or_default(),
        limit: row[2].as_u64().unwrap_or_default(),
    }
}

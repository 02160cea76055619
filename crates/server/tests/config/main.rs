//! Configurations, and what follows from them: rows of data first, then what one row cannot say.
//!
//! `cases/config.jsonl`, `cases/policy.jsonl` and `cases/budgets.jsonl` are expanded to one named test a row.
//!
//! | member | says |
//! |---|---|
//! | `name` | the test's name, a sentence |
//! | `config` | the text of the configuration |
//! | `tool` | the qualified name of what is asked for |
//! | `principal`, `claims`, `run`, `arguments`, `now` | who asks, and how; the arguments are the bytes that stand in the row |
//! | `expect` | of a configuration: `{"good": true}`, or its `code` and `faults`, each as `LINE:COLUMN KEY: ` and a text in its message or help; of a call: the effect; of a budget: the charges, or the `code` of the refusal |
//! | `rules` | the ids that determine the effect, in order |
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test that cannot read its rows shall stop"
)]

mod documents;

use std::collections::BTreeMap;
use std::path::Path;

use callgate_gateway::budget::CallFacts;
use callgate_gateway::policy::{Claims, Question, Target};
use callgate_schema::Limits;
use callgate_schema::json::Document;
use callgate_server::config::Config;
use callgate_wire::{Charge, Principal, Timestamp};
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use serde_json::value::RawValue;

type Row<'a> = BTreeMap<String, &'a RawValue>;

fn main() -> std::process::ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = documents::trials();
    trials.extend(rows("config", config));
    trials.extend(rows("policy", policy));
    trials.extend(rows("budgets", budgets));
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn rows(file: &str, judge: fn(&Row<'_>) -> Result<(), String>) -> Vec<Trial> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../cases/{file}.jsonl"));
    let text = std::fs::read_to_string(path).expect("the rows are there");
    let trial = |(number, line): (usize, &str)| {
        let line = line.to_owned();
        let row: Row<'_> = serde_json::from_str(&line).expect("a row is an object");
        let name = text_of(&row, "name").unwrap_or_else(|| format!("line {}", number + 1));
        trial(format!("{file}: {name}"), move || judge(&serde_json::from_str(&line).expect("it was read")))
    };
    text.lines().enumerate().map(trial).collect()
}

fn trial(name: String, run: impl FnOnce() -> Result<(), String> + Send + 'static) -> Trial {
    Trial::test(name, move || run().map_err(Failed::from))
}

fn text_of(row: &Row<'_>, name: &str) -> Option<String> {
    serde_json::from_str(row.get(name)?.get()).ok()
}

fn value_of(row: &Row<'_>, name: &str) -> Value {
    row.get(name).and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or(Value::Null)
}

/// The configuration of a row, which has to be good.
fn loaded(row: &Row<'_>) -> Result<Config, String> {
    let text = text_of(row, "config").ok_or("no `config`")?;
    Config::parse("gate.toml", &text).map_err(|error| error.to_string())
}

fn same<T: PartialEq + std::fmt::Debug>(found: &T, expected: &T) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("found {found:?}, expected {expected:?}")) }
}

fn config(row: &Row<'_>) -> Result<(), String> {
    let text = text_of(row, "config").ok_or("no `config`")?;
    let expect = value_of(row, "expect");
    let Err(error) = Config::parse("gate.toml", &text) else {
        return same(&expect, &serde_json::json!({"good": true}));
    };
    if error.to_string().contains("hunter2") {
        return Err(format!("the message holds the secret: {error}"));
    }
    same(&Value::from(error.code().as_str()), &expect["code"])?;
    let expected: Vec<&str> =
        expect["faults"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    same(&error.faults.len(), &expected.len()).map_err(|what| format!("{what}: {error}"))?;
    for (fault, expected) in error.faults.iter().zip(expected) {
        let start = format!("{}:{} {}: ", fault.line, fault.column, fault.key);
        let said = format!("{} {}", fault.message, fault.help.as_deref().unwrap_or_default());
        match expected.strip_prefix(start.as_str()) {
            Some(text) if said.contains(text.trim()) => {}
            _ => return Err(format!("found `{start}{said}`, expected `{expected}`")),
        }
    }
    Ok(())
}

fn arguments(row: &Row<'_>) -> Document {
    let text = row.get("arguments").map_or("{}", |raw| raw.get());
    Document::read(text.as_bytes(), &Limits::default().arguments_text())
        .expect("arguments of a row can be read")
}

fn policy(row: &Row<'_>) -> Result<(), String> {
    let config = loaded(row)?;
    let principal = Principal::from_stored(text_of(row, "principal").ok_or("no `principal`")?);
    let claims = match row.get("claims") {
        Some(claims) => Claims::read(claims.get().as_bytes()).map_err(|finding| finding.message)?,
        None => config.claims(&principal),
    };
    let (arguments, tool) = (arguments(row), text_of(row, "tool").ok_or("no `tool`")?);
    let question = Question {
        principal: &principal,
        claims: &claims,
        target: Target::parse(&tool).ok_or("no qualified name")?,
        arguments: arguments.root(),
    };
    let decision = config.rules.judge(&question).decision;
    same(&Value::from(decision.effect.as_str()), &value_of(row, "expect"))?;
    same(&Value::from(decision.determining), &value_of(row, "rules"))
}

fn budgets(row: &Row<'_>) -> Result<(), String> {
    let config = loaded(row)?;
    let principal = Principal::from_stored(text_of(row, "principal").ok_or("no `principal`")?);
    let (arguments, tool) = (arguments(row), text_of(row, "tool").ok_or("no `tool`")?);
    let target = Target::parse(&tool).ok_or("no qualified name")?;
    let (pins, run) = (config.rules.pins(&target), text_of(row, "run"));
    let facts = CallFacts {
        principal: &principal,
        run: run.as_deref(),
        upstream: target.upstream,
        tool: target.name,
        cost: pins.cost.as_ref(),
        arguments: arguments.root(),
    };
    let now: jiff::Timestamp =
        text_of(row, "now").ok_or("no `now`")?.parse().map_err(|error: jiff::Error| error.to_string())?;
    let found = match config.budgets.charges(&facts, Timestamp(now.as_millisecond())) {
        Ok(charges) => charges.iter().map(charge).collect(),
        Err(refusal) => serde_json::json!({ "code": refusal.code.as_str() }),
    };
    same(&found, &value_of(row, "expect"))
}

fn charge(charge: &Charge) -> Value {
    let time = |at: Option<Timestamp>| {
        at.map(|at| jiff::Timestamp::from_millisecond(at.0).expect("a time of the calendar").to_string())
    };
    serde_json::json!({
        "budget": charge.budget,
        "scope": charge.scope,
        "window": time(charge.window),
        "resets_at": time(charge.resets_at),
        "amount": charge.amount,
        "limit": charge.limit,
    })
}

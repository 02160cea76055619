//! `policy test`, `explain-call` and `config` through the built program: the rows of `cases/policy.jsonl`, and what people
//! read.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot write its files, or finds an output without what it must have, shall stop"
)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use serde_json::value::RawValue;

const BINARY: &str = env!("CARGO_BIN_EXE_callgate");

const CONFIG: &str = r#"
[[tools]]
name = "bank/*"
cost = { argument = "/amount" }

[[rules]]
id = "small"
effect = "permit"
tools = ["bank/pay"]
when = { properties = { amount = { maximum = 100 } }, required = ["amount"] }

[[rules]]
id = "own"
effect = "permit"
principals = ["local:*"]
tools = ["bank/*"]
annotations = { readOnlyHint = true }
equal = [{ argument = "/owner", claim = "sub" }]

[[rules]]
id = "no-transfers"
effect = "forbid"
tools = ["bank/transfer"]

[[budgets]]
name = "daily"
per = ["principal"]
limit = { cost = 1000 }
window = "day at 06:00 in Europe/Berlin"
"#;

struct Folder(tempfile::TempDir);

impl Folder {
    fn with(files: &[(&str, &str)]) -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        for (name, content) in files {
            std::fs::write(folder.0.path().join(name), content).unwrap();
        }
        folder
    }

    /// The exit code and what was said on either output.
    fn run(&self, arguments: &[&str]) -> (i32, String) {
        let output = Command::new(BINARY)
            .current_dir(self.0.path())
            .env_remove("CALLGATE_CONFIG")
            .args(arguments)
            .output()
            .unwrap();
        let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
        (output.status.code().unwrap(), said)
    }

    fn told(&self, arguments: &[&str]) -> String {
        let (exit, said) = self.run(arguments);
        format!("{said}[exit {exit}]")
    }
}

/// A row as a line of a table: without its configuration, and with a decision that is expected.
fn table_line(row: &BTreeMap<String, &RawValue>, expect: &str) -> String {
    let kept = row.iter().filter(|(name, _)| !matches!(name.as_str(), "config" | "expect"));
    let members: Vec<String> = kept.map(|(name, value)| format!("\"{name}\":{}", value.get())).collect();
    format!("{{{},\"expect\":{expect}}}\n", members.join(","))
}

#[test]
fn every_row_is_decided_as_it_says_and_a_wrong_expectation_is_found() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases/policy.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let mut rows = 0;
    for line in text.lines() {
        let row: BTreeMap<String, &RawValue> = serde_json::from_str(line).unwrap();
        let config: String = serde_json::from_str(row["config"].get()).unwrap();
        let expect = row["expect"].get();
        let wrong = if expect == "\"ask\"" { "\"permit\"" } else { "\"ask\"" };
        let folder = Folder::with(&[
            ("gate.toml", &config),
            ("good.jsonl", &table_line(&row, expect)),
            ("wrong.jsonl", &table_line(&row, wrong)),
        ]);
        let (exit, said) = folder.run(&["policy", "test", "good.jsonl", "--config", "gate.toml"]);
        assert_eq!(exit, 0, "{line}\n{said}");
        let (exit, said) =
            folder.run(&["policy", "test", "wrong.jsonl", "--config", "gate.toml", "--format", "json"]);
        assert!(exit == 1 && said.contains("\"good\":false"), "{line}\n{said}");
        rows += 1;
    }
    assert!(rows >= 60, "only {rows} rows");
}

#[test]
fn a_table_shows_each_decision_and_of_wrong_ones_what_came_of_the_rules() {
    let calls = r#"
[[calls]]
name = "a small payment"
tool = "bank/pay"
arguments = { amount = 100 }
expect = "permit"
rules = ["small"]

[[calls]]
name = "a large payment"
tool = "bank/pay"
arguments = { amount = 101, owner = "user" }
expect = "permit"
rules = ["small"]

[[calls]]
tool = "bank/transfer"
expect = "forbid"
"#;
    let folder = Folder::with(&[("gate.toml", CONFIG), ("calls.toml", calls)]);
    insta::assert_snapshot!(folder.told(&["policy", "test", "calls.toml", "--config", "gate.toml"]));
}

#[test]
fn a_table_that_cannot_be_read_says_where_and_how_to_mend_it() {
    let folder = Folder::with(&[
        ("gate.toml", CONFIG),
        ("misspelt.jsonl", "\n{\"tool\":\"bank/pay\",\"expct\":\"permit\"}\n"),
        ("word.jsonl", "{\"tool\":\"bank/pay\",\"expect\":\"allow\"}\n"),
        ("twice.jsonl", "{\"tool\":\"bank/pay\",\"tool\":\"bank/pay\",\"expect\":\"ask\"}\n"),
        ("name.jsonl", "{\"tool\":\"pay\",\"expect\":\"ask\"}\n"),
        ("empty.jsonl", "\n"),
    ]);
    let mut said = String::new();
    for file in ["misspelt", "word", "twice", "name", "empty", "absent"] {
        said += &folder.told(&["policy", "test", &format!("{file}.jsonl"), "--config", "gate.toml"]);
        said += "\n";
    }
    insta::assert_snapshot!(said);
}

fn call(tool: &str, arguments: &str) -> String {
    let schema = r#"{"type":"object","properties":{"amount":{"type":"integer"},"owner":{"type":"string"}}}"#;
    format!(
        r#"{{"upstream":"bank","tools":[{{"name":"pay","inputSchema":{schema}}},{{"name":"transfer","inputSchema":{schema}}},
        {{"name":"odd","inputSchema":{{"type":"object","nmae":1}}}}],
        "principal":"local:ada","tool":"{tool}","arguments":{arguments},"now":"2026-03-29T12:00:00Z"}}"#
    )
}

#[test]
fn a_call_is_explained_stage_by_stage_and_rule_by_rule() {
    let folder = Folder::with(&[
        ("gate.toml", CONFIG),
        ("good.json", &call("pay", r#"{"amount":25}"#)),
        ("large.json", &call("pay", r#"{"amount":250}"#)),
        ("transfer.json", &call("transfer", r#"{"amount":2}"#)),
        ("malformed.json", &call("pay", r#"{"amount":"2"}"#)),
        ("odd.json", &call("odd", "{}")),
    ]);
    let mut said = String::new();
    for file in ["good", "large", "transfer", "malformed", "odd"] {
        let _ = writeln!(said, "--- {file}");
        said += &folder.told(&["explain-call", &format!("{file}.json"), "--config", "gate.toml"]);
        said += "\n";
    }
    said += "--- without a configuration\n";
    said += &folder.told(&["explain-call", "transfer.json"]);
    insta::assert_snapshot!(said);
}

#[test]
fn programs_get_the_same_explanation_as_an_object() {
    let folder = Folder::with(&[("gate.toml", CONFIG), ("call.json", &call("pay", r#"{"amount":25}"#))]);
    let (exit, said) =
        folder.run(&["explain-call", "call.json", "--config", "gate.toml", "--format", "json"]);
    let value: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!((exit, &value["decision"], &value["determining"][0]), (0, &"permit".into(), &"small".into()));
    assert_eq!(value["charges"][0]["amount"], 25);
    assert_eq!(value["charges"][0]["resets_at"], "2026-03-30T04:00:00Z");
    assert_eq!(value["refusal"], serde_json::Value::Null);
    assert_eq!(value["rules"][1]["reason"], "the operator has not pinned `readOnlyHint = true`");
}

#[test]
fn a_configuration_is_checked_and_shown_without_its_secrets() {
    let bad = "[gaet]\n[[rules]]\nid = \"a\"\nefect = \"permit\"\ntools = [\"x\"]\n";
    let secret = "[[upstreams]]\nname = \"a\"\nurl = \"https://a.example/\"\nheaders = { Authorization = { file = \"token\" }, X-Key = { env = \"CALLGATE_TEST_NONE\" } }\n";
    let doubtful = "[[rules]]\nid = \"a\"\neffect = \"forbid\"\ntools = [\"*\"]\nwhen = { type = \"string\", enum = [1] }\n";
    let folder = Folder::with(&[
        ("good.toml", CONFIG),
        ("bad.toml", bad),
        ("secret.toml", secret),
        ("doubtful.toml", doubtful),
        ("token", "hunter2\n"),
    ]);
    let mut said = String::new();
    for arguments in [
        ["config", "check", "good.toml"],
        ["config", "check", "bad.toml"],
        ["config", "check", "doubtful.toml"],
        ["config", "check", "absent.toml"],
        ["config", "show", "bad.toml"],
    ] {
        let _ = writeln!(said, "$ {}\n{}", arguments.join(" "), folder.told(&arguments));
    }
    insta::assert_snapshot!(said);
    // Paths in a configuration are relative to it, and the command runs beside it.
    let shown = folder.told(&["config", "show", "secret.toml"]);
    assert!(shown.contains("{ file = \"token\" } is set") && shown.contains("is not set"), "{shown}");
    assert!(!shown.contains("hunter2"), "{shown}");
    let (exit, schema) = folder.run(&["config", "schema"]);
    assert!(exit == 0 && schema.contains("\"Rule\""), "{schema}");
}

#[test]
fn a_gate_does_not_start_with_a_fault() {
    let folder =
        Folder::with(&[("bad.toml", "[[rules]]\nid = \"a\"\neffect = \"permit\"\ntools = [\"x\"]\n")]);
    let (exit, said) =
        folder.run(&["wrap", "--config", "bad.toml", "--store", "s.sqlite", "--", BINARY, "--version"]);
    assert!(exit == 2 && said.contains("bad.toml:4:10: rules[0].tools[0]"), "{said}");
    assert!(!folder.0.path().join("s.sqlite").exists(), "nothing was begun");
}

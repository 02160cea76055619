//! `callgate validate` as people and scripts see it.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot write its files or start the program shall stop"
)]

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

const BINARY: &str = env!("CARGO_BIN_EXE_callgate");

const CATALOG: &str = r#"[
  {"name": "search", "inputSchema": {
    "type": "object",
    "properties": {
      "query": {"type": "string", "minLength": 2},
      "limit": {"type": "integer", "maximum": 100}
    },
    "required": ["query"],
    "additionalProperties": false}},
  {"name": "bad", "inputSchema": {"type": "object", "properties": {"a": {"maxlength": 3}}}},
  {"name": "ping", "inputSchema": {"type": "object"}}
]"#;

/// Runs the verb in a folder with `tools.json` and `schema.json`, and with this text on standard input.
fn validate(arguments: &[&str], input: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("tools.json"), CATALOG).unwrap();
    std::fs::write(
        folder.path().join("schema.json"),
        r#"{"type":"object","properties":{"n":{"type":"integer"}}}"#,
    )
    .unwrap();
    let mut child = Command::new(BINARY)
        .current_dir(&folder)
        .arg("validate")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // Beside the reading, so that neither waits for the other. Whoever does not read all of it closes the pipe.
        scope.spawn(move || drop(stdin.write_all(input.as_bytes())));
        child.wait_with_output().unwrap()
    })
}

/// Both streams and the exit code.
fn shown(output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    // The lines of a table end with blanks.
    let out: Vec<&str> = out.lines().map(str::trim_end).collect();
    let err = if err.is_empty() { String::new() } else { format!("--- stderr\n{err}") };
    format!("{}\n{err}exit {}", out.join("\n"), output.status.code().unwrap())
}

fn search(arguments: &str, flags: &[&str]) -> String {
    let common = ["--catalog", "tools.json", "--tool", "search", "--args", arguments];
    shown(&validate(&[&common[..], flags].concat(), ""))
}

#[test]
fn a_verdict_shows_each_place_in_the_arguments() {
    insta::assert_snapshot!(search("{\"query\": \"r\",\n \"limit\": 1e3, \"sort\": \"date\"}", &[]));
    insta::assert_snapshot!(search(r#"{"query": "rust", "limit": 1e2}"#, &[]), @r"
    arguments: valid, as `search` wants it
    exit 0
    ");
}

#[test]
fn arguments_that_cannot_be_read_or_are_no_object_are_findings() {
    insta::assert_snapshot!(search(r#"{"query": "a", "query": "b"}"#, &[]));
    insta::assert_snapshot!(search("[1]", &[]), @r"
    error[arguments-shape]: expected an object as the arguments, found array
     --> arguments:1:1
      |
    1 | [1]
      | ^^^ $arguments
      |

    arguments: invalid for `search`: 1 finding
    exit 1
    ");
}

#[test]
fn a_model_is_told_what_a_gate_would_tell_it() {
    insta::assert_snapshot!(search(r#"{"limit": "7"}"#, &["--for-model"]), @r"
    refused (call-arguments-invalid): the arguments break the input schema of `search`; nothing was sent to the tool
    - $arguments: expected the member `query`, found none (property-missing)
    - $arguments.limit: expected integer, found string (type-mismatch)
    mend the arguments and call again
    exit 1
    ");
    insta::assert_snapshot!(search(r#"{"query": "rust"}"#, &["--for-model"]), @r"

    --- stderr
    a gate would tell the model nothing: the call goes to the tool
    exit 0
    ");
}

#[test]
fn programs_get_the_findings_with_their_places() {
    let output = validate(&["--schema", "schema.json", "--format", "json", "-"], "\n{\"n\": 1.5}");
    assert_eq!(output.status.code(), Some(1));
    let verdict: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(verdict["verdict"], "invalid");
    assert_eq!((&verdict["findings"][0]["line"], &verdict["findings"][0]["column"]), (&2.into(), &7.into()));
    assert_eq!(verdict["findings"][0]["finding"]["code"], "type-mismatch");
}

#[test]
fn what_cannot_be_judged_ends_with_2() {
    for (arguments, says) in [
        (&["--catalog", "tools.json", "--tool", "serch", "--args", "{}"][..], "did you mean `search`?"),
        (&["--catalog", "tools.json", "--tool", "bad", "--args", "{}"], "callgate check tools.json"),
        (&["--catalog", "tools.json", "--args", "{}"], "expected `--tool`"),
        (&["--catalog", "schema.json", "--tool", "a", "--args", "{}"], "`--schema`"),
        (&["--schema", "gone.json", "--args", "{}"], "failed to read `gone.json`"),
        (&["--args", "{}"], "expected `--schema` or `--catalog`"),
        (&["--schema", "schema.json"], "--args"),
        (&["--schema", "schema.json", "--jsonl", "gone.jsonl"], "failed to read `gone.jsonl`"),
    ] {
        let output = validate(arguments, "");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {told}");
        assert!(told.contains(says), "{arguments:?}: {told}");
    }
}

const CALLS: &str = r#"{"name": "search", "arguments": {"query": "rust"}}
{"name": "search", "arguments": {"query": "r", "limit": 200}}

{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ping"}}
{"name": "search"}
{"name": "bad", "arguments": {}}
{"name": "gone", "arguments": {}}
{"arguments": {}}
{"name": "ping", "arguments": [1]}
{"name": "search", "arguments": {"query": "ru\u001b]0;x\u0007st", "a\u001b[2J\n": 1}}
{"name": "search", "name": "ping"}
not json
{"name": "search", "arguments": {"query": "last"}}"#;

#[test]
fn each_line_is_a_call_and_the_summary_counts_them() {
    let output = validate(&["--catalog", "tools.json", "--jsonl", "-"], CALLS);
    assert!(!output.stdout.contains(&0x1b) && !output.stdout.contains(&0x07));
    insta::assert_snapshot!(shown(&output));
}

#[test]
fn each_line_is_the_arguments_where_the_tool_is_known() {
    let lines = "{\"n\": 1}\n{\"n\": \"1\"}\n[]\n";
    insta::assert_snapshot!(shown(&validate(
        &["--schema", "schema.json", "--jsonl", "-", "--show", "1"],
        lines
    )));
    let good = shown(&validate(&["--schema", "schema.json", "--jsonl", "-"], "{}\n{\"n\":2}"));
    insta::assert_snapshot!(good, @r"
    -: 2 lines, 2 valid, 0 refused, 0 undecided
    exit 0
    ");
}

#[test]
fn a_line_can_bring_its_own_schema() {
    let lines = r#"{"schema": {"type": "object", "required": ["a"]}, "arguments": {"a": 1}}
{"schema": {"type": "object", "required": ["a"]}, "arguments": {}}
{"schema": {"type": "object", "requird": ["a"]}, "arguments": {"a": 1}}
{"arguments": {}}"#;
    let output = validate(&["--format", "json", "--jsonl", "-"], lines);
    let rows: Vec<Value> = output
        .stdout
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect();
    let told: Vec<(u64, &str)> = rows
        .iter()
        .filter_map(|row| Some((row["line"].as_u64()?, row["findings"][0]["code"].as_str()?)))
        .collect();
    assert_eq!(told, [(2, "property-missing"), (3, "schema-unknown-keyword"), (4, "request-malformed")]);
    let summary = &rows.last().unwrap()["summary"];
    assert_eq!(
        (&summary["lines"], &summary["valid"], &summary["refused"]),
        (&4.into(), &1.into(), &3.into())
    );
    assert_eq!(summary["by_code"]["property-missing"], 1);
}

/// The same bytes whatever the threads do, and every line told where it stands.
#[test]
fn the_output_is_in_the_order_of_the_file() {
    let line = |at: usize| {
        let query = if at.is_multiple_of(7) { "r".to_owned() } else { "x".repeat(2 + at % 300) };
        format!(r#"{{"name":"search","arguments":{{"query":"{query}"}}}}"#)
    };
    let lines = (0..50_000).map(line).collect::<Vec<String>>().join("\n");
    let run = || validate(&["--catalog", "tools.json", "--format", "json", "--jsonl", "-"], &lines).stdout;
    let first = run();
    let told: Vec<u64> = first
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice::<Value>(line).ok()?["line"].as_u64())
        .collect();
    let expected: Vec<u64> = (0..50_000).filter(|at: &u64| at.is_multiple_of(7)).map(|at| at + 1).collect();
    assert_eq!(told, expected);
    assert_eq!(run(), first);
}

#[test]
fn a_line_that_is_too_long_is_a_finding_and_the_next_one_is_read() {
    let long = "x".repeat(12 << 20);
    let lines = format!("{{\"n\": 1}}\n{{\"n\": \"{long}\"}}\n{{\"n\": 2}}\n{long}");
    let output = validate(&["--schema", "schema.json", "--format", "json", "--jsonl", "-"], &lines);
    let text = String::from_utf8(output.stdout).unwrap();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<_> = rows.iter().map(|row| row["line"].as_u64()).collect();
    assert_eq!(told, [Some(2), Some(4), None]);
    assert_eq!(rows[0]["findings"][0]["details"]["limit"], "line_bytes");
    assert_eq!((&rows[2]["summary"]["valid"], &rows[2]["summary"]["undecided"]), (&2.into(), &2.into()));
}

#[test]
fn a_reader_that_goes_ends_it_quietly() {
    let lines = "{\"n\": \"1\"}\n".repeat(200_000);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("schema.json"),
        r#"{"type":"object","properties":{"n":{"type":"integer"}}}"#,
    )
    .unwrap();
    std::fs::write(folder.path().join("lines.jsonl"), lines).unwrap();
    let mut child = Command::new(BINARY)
        .current_dir(&folder)
        .args(["validate", "--schema", "schema.json", "--format", "json", "--jsonl", "lines.jsonl"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(1));
}

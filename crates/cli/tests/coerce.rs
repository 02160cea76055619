//! `callgate coerce` as people and scripts see it.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot write its files shall stop"
)]

use std::io::Write as _;
use std::process::{Command, Stdio};

const BINARY: &str = env!("CARGO_BIN_EXE_callgate");
const SCHEMA: &str = r#"{"type": "object", "properties": {"count": {"type": "integer", "maximum": 9}, "on": {"type": "boolean"}}}"#;

/// What is printed, and the exit code, for arguments on standard input.
fn coerce(schema: &str, arguments: &str, flags: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("tool.json"), schema).unwrap();
    let mut command = Command::new(BINARY);
    command.current_dir(&folder).args(["coerce", "--schema", "tool.json"]).args(flags).arg("-");
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(arguments.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let [printed, said] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    format!("{printed}{said}exit {}", output.status.code().unwrap())
}

#[test]
fn the_outcome_is_printed_and_the_edits_when_asked_for() {
    insta::assert_snapshot!(coerce(SCHEMA, r#"{ "count": "0x4", "on": " " }"#, &[]), @r#"
    { "count": 4 }
    exit 0
    "#);
    insta::assert_snapshot!(coerce(SCHEMA, r#"{"count": "0x4", "on": " "}"#, &["--edits"]), @r#"
    {"count": 4}
      /count: "0x4" -> 4
      /on: " " -> removed
    exit 0
    "#);
    insta::assert_snapshot!(coerce(SCHEMA, r#"{"on": "true"}"#, &["--format", "json"]), @r#"
    {"ok":true,"arguments":{"on": true},"edits":[{"at":"/on","from":"true","to":true}]}
    exit 0
    "#);
}

#[test]
fn the_profile_decides_what_a_text_stands_for() {
    insta::assert_snapshot!(coerce(SCHEMA, r#"{"count": "0x4", "on": "yes"}"#, &["--profile", "standard"]), @r#"
    {"count": "0x4", "on": "yes"}
    exit 0
    "#);
}

#[test]
fn what_is_refused_is_said_with_its_place() {
    insta::assert_snapshot!(coerce(SCHEMA, r#"{"count": "12"}"#, &["--validate"]), @r#"
    number-too-large at /count: expected a number at most 9, found a larger one
    exit 1
    "#);
    insta::assert_snapshot!(coerce(SCHEMA, "[1]", &[]), @r"
    arguments-shape: expected an object as the arguments, found array
    exit 1
    ");
    insta::assert_snapshot!(coerce(r#"{"type": "object", "maximun": 1}"#, "{}", &["--profile", "standard"]), @r#"
    schema-unknown-keyword at the schema, /maximun: expected a keyword of JSON Schema 2020-12, found `maximun`
        help: did you mean `maximum`?
    exit 1
    "#);
    insta::assert_snapshot!(coerce(SCHEMA, "{", &["--format", "json"]), @r#"
    {"ok":false,"errors":[{"class":"validation","code":"json-syntax","message":"expected a name in quotes at byte 1","offset":1}]}
    exit 1
    "#);
}

#[test]
fn a_file_that_is_not_there_is_a_wrong_use() {
    let output = Command::new(BINARY)
        .args(["coerce", "--schema", "/nowhere/tool.json", "-"])
        .stdin(Stdio::null())
        .output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("failed to read `/nowhere/tool.json`"));
}

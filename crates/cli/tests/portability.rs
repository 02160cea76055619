//! `callgate check --for` and `callgate project` as people and scripts see them.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test that cannot write its files shall stop"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

const BINARY: &str = env!("CARGO_BIN_EXE_callgate");
const ALL: &str = "openai,openai-strict,anthropic,gemini,mcp-2025-11-25,mcp-2026-07-28";

/// Runs a verb on a file `tools.json` of this content in a folder of its own.
fn run(content: &str, arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("tools.json"), content).unwrap();
    Command::new(BINARY).current_dir(&folder).args(arguments).arg("tools.json").output().unwrap()
}

/// Both streams and the exit code.
fn shown(output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    // The lines of a table end with blanks.
    let out: Vec<&str> = out.lines().map(str::trim_end).collect();
    let err = if err.is_empty() { String::new() } else { format!("--- stderr\n{err}") };
    format!("{}\n{err}exit {}", out.join("\n"), output.status.code().unwrap())
}

fn check(content: &str, receivers: &str) -> String {
    shown(&run(content, &["check", "--for", receivers]))
}

const CATALOG: &str = r##"[
  {"name": "now", "inputSchema": {
    "type": "object", "properties": {}, "required": [], "additionalProperties": false}},
  {"name": "search", "inputSchema": {
    "type": "object",
    "properties": {
      "query": {"type": "string", "minLength": 1, "default": "*"},
      "limit": {"type": ["integer", "null"], "exclusiveMinimum": 0},
      "by": {"oneOf": [{"const": "name"}, {"const": "date"}]},
      "site": {"type": "string", "format": "uri", "pattern": "^(?=https:)"}
    },
    "required": ["query"]}},
  {"name": "move", "inputSchema": {
    "type": "object",
    "properties": {"from": {"$ref": "#/$defs/place", "description": "the start"}, "x y": true},
    "anyOf": [{"required": ["from"]}, {"required": ["x y"]}],
    "$defs": {"place": {"type": "array", "x-mcp-header": "Place"}}}}
]"##;

#[test]
fn each_receiver_says_what_it_does_and_where() {
    insta::assert_snapshot!(check(CATALOG, ALL));
}

#[test]
fn what_every_receiver_takes_is_said_in_one_line_each() {
    let schema = r#"{"type":"object","properties":{},"required":[],"additionalProperties":false}"#;
    insta::assert_snapshot!(check(schema, "openai,openai-strict,anthropic"), @r"
    Is the schema taken as it is?
     tool       openai   openai-strict   anthropic
    ───────────────────────────────────────────────
     (schema)   yes      yes             yes

    openai         takes 1 of 1 tool as they are
    openai-strict  takes 1 of 1 tool as they are
    anthropic      takes 1 of 1 tool as they are
    exit 0
    ");
}

#[test]
fn a_keyword_that_is_only_ignored_is_told_and_fails_nothing() {
    let schema = r#"{"type":"object","properties":{"a":{"type":"string","default":"x"}}}"#;
    insta::assert_snapshot!(check(schema, "gemini"), @r"
    tools.json  (schema)
        gemini drops  `default`: taken and ignored
            line 1: /properties/a/default

    Is the schema taken as it is?
     tool       gemini
    ────────────────────
     (schema)   drops 1

    gemini  takes 0 of 1 tool as they are, and 1 more without something in them

    Where that is said:
        2026-11-30  gemini/default  https://hexdocs.pm/geminix/Geminix.V1beta.Schema.html
    exit 0
    ");
}

#[test]
fn nothing_from_the_file_reaches_the_terminal_as_it_is() {
    let content = r#"[{"name":"a\u001b]0;owned\u0007\nb","inputSchema":{"type":"object","properties":{"\u001b[2J":true}}},
        {"name":"\u202ex","inputSchema":{"a\u001b":1,"a\u001b":2}}]"#;
    for arguments in [
        &["check", "--for", ALL][..],
        &["project", "--for", "anthropic"],
        &["project", "--for", "gemini", "--tool", "\u{1b}[2J"],
    ] {
        let output = run(content, arguments);
        let shown = [output.stdout, output.stderr].concat();
        assert!(!shown.is_empty());
        assert!(!shown.contains(&0x1b) && !shown.contains(&0x07), "{}", String::from_utf8_lossy(&shown));
    }
}

#[test]
fn programs_get_the_rule_the_place_and_the_source() {
    let output = run(CATALOG, &["check", "--format", "json", "--for", "gemini"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["receivers"][0]["as_is"], 0);
    let verdict = &report["files"][0]["tools"][2]["receivers"][0];
    assert_eq!((&verdict["receiver"], &verdict["verdict"]), (&"gemini".into(), &"refuses".into()));
    let remark = &verdict["remarks"][0];
    assert_eq!(remark["rule"], "gemini/fields");
    assert_eq!(remark["pointer"], "/2/inputSchema/$defs");
    assert_eq!(remark["line"], 17);
    let rules = report["rules"].as_array().unwrap();
    assert!(rules.iter().all(|rule| rule["source"].as_str().unwrap().starts_with("https://")));
}

#[test]
fn a_projection_says_what_the_receiver_will_not_enforce() {
    insta::assert_snapshot!(shown(&run(CATALOG, &["project", "--for", "gemini"])));
}

#[test]
fn a_strict_receiver_demands_more() {
    insta::assert_snapshot!(shown(&run(CATALOG, &["project", "--for", "openai-strict", "--tool", "search"])));
}

#[test]
fn what_cannot_be_projected_is_said() {
    insta::assert_snapshot!(shown(&run("[5]", &["project", "--for", "gemini"])), @r"

    --- stderr
    callgate: failed to project `tools.json`: tool 0 of the list: expected an object, found number
    exit 2
    ");
    insta::assert_snapshot!(shown(&run(CATALOG, &["project", "--for", "gemini", "--tool", "gone"])), @r"

    --- stderr
    callgate: failed to project `tools.json`: expected a tool `gone`, found none of that name
    exit 2
    ");
}

/// The folder of the public catalogs, if it is there.
fn catalogs() -> Option<PathBuf> {
    let shared = std::env::var_os("CALLGATE_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let catalogs = shared.join("corpus/mcp-catalogs");
    if catalogs.is_dir() {
        return Some(catalogs);
    }
    let required = std::env::var("CI").is_ok_and(|ci| ci == "true");
    assert!(!required, "{} is missing", catalogs.display());
    println!("skipped: {} is missing", catalogs.display());
    None
}

/// Every public tool is written for every receiver, and none is then refused or given up.
#[test]
fn every_public_tool_can_be_projected() {
    let Some(folder) = catalogs() else { return };
    let scratch = tempfile::tempdir().unwrap();
    let files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    for receiver in ALL.split(',') {
        let mut projected = Vec::new();
        for file in &files {
            let output =
                Command::new(BINARY).args(["project", "--for", receiver]).arg(file).output().unwrap();
            assert!(
                output.status.success(),
                "{}: {}",
                file.display(),
                String::from_utf8_lossy(&output.stderr)
            );
            let path = scratch.path().join(file.file_name().unwrap());
            std::fs::write(&path, &output.stdout).unwrap();
            projected.push(path);
        }
        let output = Command::new(BINARY)
            .args(["check", "--format", "json", "--for", receiver])
            .args(&projected)
            .output()
            .unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let tools: usize = report["files"]
            .as_array()
            .unwrap()
            .iter()
            .map(|file| file["tools"].as_array().unwrap().len())
            .sum();
        assert!(tools > 3_900, "{tools}");
        assert_eq!(report["receivers"][0]["as_is"], tools, "{receiver}");
    }
}

//! `callgate check` as people and scripts see it, and what becomes of any verb whose output nobody takes.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test that cannot write its files, or finds a report without what it must have, shall stop"
)]

use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

const BINARY: &str = env!("CARGO_BIN_EXE_callgate");

/// Checks a file `tools.json` of this content in a folder of its own.
fn check(content: impl AsRef<[u8]>, flags: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("tools.json"), content).unwrap();
    let mut command = Command::new(BINARY);
    command.current_dir(&folder).arg("check").args(flags).arg("tools.json").output().unwrap()
}

/// The exit code and what is printed for people.
fn text(content: impl AsRef<[u8]>) -> String {
    let output = check(content, &[]);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    format!("{}exit {}", String::from_utf8(output.stdout).unwrap(), output.status.code().unwrap())
}

fn json(content: impl AsRef<[u8]>) -> Value {
    let output = check(content, &["--format", "json"]);
    serde_json::from_slice::<Value>(&output.stdout).unwrap()[0].take()
}

/// The exit code, and of each finding its place and code.
fn codes(content: &str) -> (i32, Vec<String>) {
    let findings = json(content)["findings"].as_array().unwrap().clone();
    let show = |finding: &Value| {
        let [tool, pointer, code] = ["tool", "pointer", "code"].map(|name| finding[name].as_str().unwrap());
        format!("{}:{} {tool} {pointer} {code}", finding["line"], finding["column"])
    };
    (check(content, &[]).status.code().unwrap(), findings.iter().map(show).collect())
}

const CLOSED: &str = r#"{"type":"object","additionalProperties":false}"#;

fn tool(name: &str) -> String {
    format!(r#"{{"name":"{name}","inputSchema":{CLOSED}}}"#)
}

#[test]
fn a_catalog_that_cannot_be_taken_apart_is_never_admitted() {
    insta::assert_snapshot!(text(format!("[{},", tool("a"))), @r#"
    error[json-syntax]: expected a value at byte 75
     --> tools.json:1:76
      |
    1 | [{"name":"a","inputSchema":{"type":"object","additionalProperties":false}},
      |                                                                            ^
      |
      = tool: (file)
      = at: /1
      = why: A reader that is generous decides on behalf of the sender what was meant. Two readers that
             are generous in different ways see two different calls, and then the one that was checked
             is not the one that runs.

     code          severity   findings   tools 
    ───────────────────────────────────────────
     json-syntax   error             1       1 
    A tool with an error is not admitted: a gate leaves it out of its list. `callgate explain CODE` says
    more; `--allow CODE` leaves a code out, and `--write-baseline FILE` with `--baseline FILE` what is
    known.

    tools.json: the file is malformed; 1 error and 0 warnings
    exit 1
    "#);
    insta::assert_snapshot!(text(r#"[{"type":"objekt"},{"na"#), @r#"
    error[json-syntax]: expected a closing quote at byte 23
     --> tools.json:1:24
      |
    1 | [{"type":"objekt"},{"na
      |                        ^
      |
      = tool: (file)
      = at: /1
      = why: A reader that is generous decides on behalf of the sender what was meant. Two readers that
             are generous in different ways see two different calls, and then the one that was checked
             is not the one that runs.

     code          severity   findings   tools 
    ───────────────────────────────────────────
     json-syntax   error             1       1 
    A tool with an error is not admitted: a gate leaves it out of its list. `callgate explain CODE` says
    more; `--allow CODE` leaves a code out, and `--write-baseline FILE` with `--baseline FILE` what is
    known.

    tools.json: the file is malformed; 1 error and 0 warnings
    exit 1
    "#);
    assert_eq!(codes("[[[[[["), (1, vec!["1:7 (file) /0/0/0/0/0/0 json-syntax".to_owned()]));
}

#[test]
fn what_is_wrong_around_the_tools_is_a_finding_of_the_file() {
    insta::assert_snapshot!(text(format!("[{}]\n trailing", tool("a"))), @r#"
    error[json-syntax]: expected the end of the text at byte 77
     --> tools.json:2:2
      |
    2 |  trailing
      |  ^^^^^^^^
      |
      = tool: (file)
      = why: A reader that is generous decides on behalf of the sender what was meant. Two readers that
             are generous in different ways see two different calls, and then the one that was checked
             is not the one that runs.

     code          severity   findings   tools 
    ───────────────────────────────────────────
     json-syntax   error             1       1 
    A tool with an error is not admitted: a gate leaves it out of its list. `callgate explain CODE` says
    more; `--allow CODE` leaves a code out, and `--write-baseline FILE` with `--baseline FILE` what is
    known.

    tools.json: the file is malformed, 0 of 1 tool admitted; 1 error and 0 warnings
    exit 1
    "#);
    let (a, b) = (tool("a"), tool("b"));
    let (exit, mut found) = codes(&format!("{{\"tools\":[{a}],\n\"x\": }}"));
    for content in [format!("{{\"tools\":[{a}],\n \"tools\":[]}}"), format!("[{a},\n,{b}]")] {
        let (other, findings) = codes(&content);
        assert_eq!((exit, other), (1, 1), "{content}");
        found.extend(findings);
    }
    insta::assert_snapshot!(found.join("\n"), @r#"
    2:6 (file) /x json-syntax
    2:2 (file) /tools json-duplicate-name
    2:1 (file) /1 json-syntax
    "#);
}

#[test]
fn a_fault_in_one_tool_spoils_that_one_alone() {
    let bad = r#"{"name":"bad","inputSchema":{"type":"object","type":"object"}}"#;
    insta::assert_snapshot!(text(format!("{{\"tools\":[{},\n  {bad}]}}", tool("good"))), @r#"
    error[json-duplicate-name]: expected each member once, found `type` at bytes 29 and 45
     --> tools.json:2:48
      |
    2 |   {"name":"bad","inputSchema":{"type":"object","type":"object"}}]}
      |                                ------          ^^^^^^ again here
      |                                |
      |                                first here
      |
      = tool: bad (not admitted: tool-definition-malformed)
      = at: /tools/1/inputSchema/type
      = why: Readers disagree about which of the two counts: many take the last, some the first, some
             keep both. Whoever can place a second member can have one value checked and the other one
             used.
      = help: keep one of the two members

     code                  severity   findings   tools 
    ───────────────────────────────────────────────────
     json-duplicate-name   error             1       1 
    A tool with an error is not admitted: a gate leaves it out of its list. `callgate explain CODE` says
    more; `--allow CODE` leaves a code out, and `--write-baseline FILE` with `--baseline FILE` what is
    known.

    tools.json: 1 of 2 tools admitted; 1 error and 0 warnings
    exit 1
    "#);
}

#[test]
fn nothing_from_the_file_reaches_the_terminal_as_it_is() {
    let name = r"a\u001b]0;owned\u0007\n\ntools.json: 1 of 1 tool admitted\u202e\u200b";
    let schema = "{\"type\":\"object\",\"additionalProperties\":false,\"\u{2066}x\\r\":1}";
    insta::assert_snapshot!(text(format!(r#"[{{"name":"{name}","inputSchema":{schema}}}]"#)), @r#"
    error[schema-unknown-keyword]: expected a keyword of JSON Schema 2020-12, found `\u2066x\u000d`
     --> tools.json:1:142
      |
    1 | …mitted\u202e\u200b","inputSchema":{"type":"object","additionalProperties":false,"\u2066x\r":1}}]
      |                                                                                  ^^^^^^^^^^^ not a keyword
      |
      = tool: a\u001b]0;owned\u0007\u000a\u000atools.json: 1 of 1 tool admitted\u202e\u200b (not
              admitted: tool-input-schema-refused)
      = at: /0/inputSchema/\u2066x\u000d
      = why: JSON Schema lets a validator pass over what it does not know. So a misspelt constraint is
             no constraint: `maxlength` limits nothing, and nobody notices until the value arrives.
      = help: leave it out, or write it as `x-…` if it only informs people

     code                     severity   findings   tools 
    ──────────────────────────────────────────────────────
     schema-unknown-keyword   error             1       1 
    A tool with an error is not admitted: a gate leaves it out of its list. `callgate explain CODE` says
    more; `--allow CODE` leaves a code out, and `--write-baseline FILE` with `--baseline FILE` what is
    known.

    tools.json: 0 of 1 tool admitted; 1 error and 0 warnings
    exit 1
    "#);
}

#[test]
fn what_the_gate_would_leave_out_is_an_error_here() {
    let long = "x".repeat(1 << 20);
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    let digits = "1".repeat(5_000);
    let tools = [
        format!(r#"{{"inputSchema":{CLOSED}}}"#),
        format!(r#"{{"name":7,"inputSchema":{CLOSED}}}"#),
        format!(r#"{{"name":"","inputSchema":{CLOSED}}}"#),
        format!(r#"{{"name":"long","d":"{long}","inputSchema":{CLOSED}}}"#),
        format!(r#"{{"name":"deep","d":{deep},"inputSchema":{CLOSED}}}"#),
        format!(r#"{{"name":"digits","d":{digits},"inputSchema":{CLOSED}}}"#),
        r#"{"name":"none"}"#.to_owned(),
        "5".to_owned(),
        tool("good"),
    ];
    let (exit, findings) = codes(&format!("[\n{}\n]", tools.join(",\n")));
    assert_eq!(exit, 1);
    insta::assert_snapshot!(findings.join("\n"), @r#"
    2:1 #0 /0 tool-definition-malformed
    3:2 #1 /1/name tool-definition-malformed
    4:2 #2 /2/name tool-definition-malformed
    5:1048577 long /3 limit-exceeded
    6:147 deep /4/d/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0 limit-exceeded
    7:22 digits /5/d limit-exceeded
    8:1 none /6 schema-missing
    9:1 #7 /7 tool-definition-malformed
    "#);
    let report = json(format!("[{}]", tools.join(",")));
    assert_eq!((&report["tools"], &report["refused"]), (&Value::from(9), &Value::from(8)));
    let gate: Vec<&Value> =
        report["findings"].as_array().unwrap().iter().map(|it| &it["gate_code"]).collect();
    assert_eq!(gate.iter().filter(|code| **code == "tool-definition-malformed").count(), 7, "{gate:?}");
    assert_eq!(gate.iter().filter(|code| **code == "tool-input-schema-refused").count(), 1, "{gate:?}");
}

#[test]
fn a_refused_tool_is_looked_at_whole() {
    let schemas = r#""inputSchema":{"type":"objekt"},"outputSchema":{"type":"objekt"}"#;
    let (exit, findings) = codes(&format!("[{{{schemas}}},\n{{\"name\":\"a\",{schemas}}}]"));
    assert_eq!(exit, 1);
    insta::assert_snapshot!(findings.join("\n"), @r#"
    1:2 #0 /0 tool-definition-malformed
    1:18 #0 /0/inputSchema/type schema-root
    1:18 #0 /0/inputSchema/type schema-unknown-type
    1:51 #0 /0/outputSchema/type schema-unknown-type
    2:28 a /1/inputSchema/type schema-root
    2:28 a /1/inputSchema/type schema-unknown-type
    2:61 a /1/outputSchema/type schema-unknown-type
    "#);
}

#[test]
fn an_output_schema_that_cannot_be_enforced_is_a_doubt() {
    let output = r#""outputSchema":{"type":"object","properties":{"n":{"maxlength":1,"minimum":"1"}}}"#;
    let content = format!(r#"[{{"name":"a","inputSchema":{CLOSED},{output}}}]"#);
    insta::assert_snapshot!(text(&content), @r#"
    warning[schema-malformed-keyword]: expected a number for `minimum`, found string
     --> tools.json:1:140
      |
    1 | …s":false},"outputSchema":{"type":"object","properties":{"n":{"maxlength":1,"minimum":"1"}}}}]
      |                                                                             ^^^^^^^^^^^^^
      |
      = tool: a (its results are not checked: tool-output-schema-unchecked)
      = at: /0/outputSchema/properties/n/minimum
      = why: A malformed keyword cannot be enforced, and each validator makes something else of it, so
             that a model and the tool read the same schema differently.
      = help: write a number, without quotes

     code                       severity   findings   tools 
    ────────────────────────────────────────────────────────
     schema-malformed-keyword   warning           1       1 
    `callgate explain CODE` says more; `--allow CODE` leaves a code out, and `--write-baseline FILE`
    with `--baseline FILE` what is known.

    tools.json: 1 of 1 tool admitted; 0 errors and 1 warning
    exit 0
    "#);
    assert!(!json(&content).to_string().contains("$arguments"));
}

#[test]
fn a_schema_whose_only_faults_are_unknown_keywords_is_doubted_too() {
    let doubtful = |fault: &str| {
        let properties = format!(r#""n":{{"type":"string","default":1,{fault}}}"#);
        codes(&format!(
            r#"[{{"name":"a","inputSchema":{{"type":"object","additionalProperties":false,"properties":{{{properties}}}}}}}]"#
        ))
    };
    let (exit, findings) = doubtful(r#""maxlength":3"#);
    assert_eq!(exit, 1);
    insta::assert_snapshot!(findings.join("\n"), @r#"
    1:109 a /0/inputSchema/properties/n/default schema-example-refused
    1:121 a /0/inputSchema/properties/n/maxlength schema-unknown-keyword
    "#);
    // What is malformed leaves nothing to try a default on.
    let (_, findings) = doubtful(r#""maxLength":"3""#);
    insta::assert_snapshot!(findings.join("\n"), @"1:121 a /0/inputSchema/properties/n/maxLength schema-malformed-keyword");
}

#[test]
fn tools_are_counted_and_not_findings() {
    let bad =
        r#"{"name":"twice","inputSchema":{"type":"object","additionalProperties":false,"minimum":"1"}}"#;
    insta::assert_snapshot!(text(format!("[{bad},\n{bad},\n{}]", tool("good"))), @r#"
    error[tool-name-repeated]: expected one tool named `twice`, found 2
     --> tools.json:1:10
      |
    1 | [{"name":"twice","inputSchema":{"type":"object","additionalProperties":false,"minimum":"1"}},
      |          ^^^^^^^
    2 | {"name":"twice","inputSchema":{"type":"object","additionalProperties":false,"minimum":"1"}},
      |         ------- has the name too
      |
      = tool: twice (not admitted: tool-name-repeated)
      = at: /0/name
      = why: Which of them a call would reach is the server's secret. The schema that was checked might
             be that of the other one.
      = help: give each tool of an upstream a name of its own

    error[schema-malformed-keyword]: expected a number for `minimum`, found string
     --> tools.json:1:78
      |
    1 | [{"name":"twice","inputSchema":{"type":"object","additionalProperties":false,"minimum":"1"}},
      |                                                                              ^^^^^^^^^^^^^
      |
      = tool: twice (not admitted: tool-input-schema-refused)
      = at: /0/inputSchema/minimum
      = why: A malformed keyword cannot be enforced, and each validator makes something else of it, so
             that a model and the tool read the same schema differently.
      = help: write a number, without quotes

    error[tool-name-repeated]: expected one tool named `twice`, found 2
     --> tools.json:2:9
      |
    1 | [{"name":"twice","inputSchema":{"type":"object","additionalProperties":false,"minimum":"1"}},
      |          ------- has the name too
    2 | {"name":"twice","inputSchema":{"type":"object","additionalProperties":false,"minimum":"1"}},
      |         ^^^^^^^
      |
      = tool: twice (not admitted: tool-name-repeated)
      = at: /1/name
      = help: give each tool of an upstream a name of its own

    error[schema-malformed-keyword]: expected a number for `minimum`, found string
     --> tools.json:2:77
      |
    2 | {"name":"twice","inputSchema":{"type":"object","additionalProperties":false,"minimum":"1"}},
      |                                                                             ^^^^^^^^^^^^^
      |
      = tool: twice (not admitted: tool-input-schema-refused)
      = at: /1/inputSchema/minimum
      = help: write a number, without quotes

     code                       severity   findings   tools 
    ────────────────────────────────────────────────────────
     schema-malformed-keyword   error             2       1 
     tool-name-repeated         error             2       1 
    A tool with an error is not admitted: a gate leaves it out of its list. `callgate explain CODE` says
    more; `--allow CODE` leaves a code out, and `--write-baseline FILE` with `--baseline FILE` what is
    known.

    tools.json: 1 of 3 tools admitted; 4 errors and 0 warnings
    exit 1
    "#);
}

#[test]
fn a_catalog_without_tools_says_so() {
    insta::assert_snapshot!(text("[]"), @r#"
    tools.json: the catalog holds no tools; 0 errors and 0 warnings
    exit 0
    "#);
    insta::assert_snapshot!(text(r#"{"tools":[]}"#), @r#"
    tools.json: the catalog holds no tools; 0 errors and 0 warnings
    exit 0
    "#);
    insta::assert_snapshot!(text(CLOSED), @r#"
    tools.json: the schema is admitted; 0 errors and 0 warnings
    exit 0
    "#);
}

#[test]
fn many_findings_in_one_long_line_take_one_walk() {
    let item = format!("\"{}\"", "ä".repeat(100));
    let content = format!("[{}]", vec![item; 60_000].join(","));
    let begin = Instant::now();
    let report = json(content);
    assert_eq!(report["refused"], 60_000);
    assert_eq!(report["findings"][59_999]["column"], 2 + 59_999 * 103);
    assert!(begin.elapsed() < Duration::from_secs(30), "{:?}", begin.elapsed());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_and_no_panic() {
    let folder = tempfile::tempdir().unwrap();
    let (tools, store) = (folder.path().join("tools.json"), folder.path().join("none.sqlite"));
    std::fs::write(&tools, "[]").unwrap();
    let (tools, store) = (tools.to_str().unwrap(), store.to_str().unwrap());
    let full = || Stdio::from(std::fs::File::options().write(true).open("/dev/full").unwrap());
    for arguments in [&["check", tools][..], &["check", "--format", "json", tools], &["demo"]] {
        let output = Command::new(BINARY).args(arguments).stdout(full()).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(5), "{arguments:?}: {error}");
        assert!(error.starts_with("callgate: failed to write to standard output: No space left"), "{error}");
    }
    // Where not even the error can be written, the exit code is all there is.
    let output = Command::new(BINARY).args(["intents", "list", "--store", store]).stderr(full()).output();
    assert_eq!(output.unwrap().status.code(), Some(2));
}

#[test]
fn a_reader_that_stops_is_no_failure() {
    for arguments in [&["check", "-"][..], &["worker"]] {
        let mut command = Command::new(BINARY);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // The end that would read is closed before anything is written.
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"[]\n").unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    }
}

#[test]
fn of_many_findings_of_one_code_the_first_few_are_drawn_and_errors_come_last() {
    let property = |n: usize| format!(r#""p{n}":{{"type":"integer","default":"{n}"}}"#);
    let properties = (0..6).map(property).collect::<Vec<_>>().join(",\n");
    let content = format!(
        r#"[{{"name":"a","inputSchema":{{"type":"object","minimun":1,"additionalProperties":false}}}},
{{"name":"b","inputSchema":{{"type":"object","additionalProperties":false,"properties":{{
{properties}}}}}}}]"#
    );
    let shown = text(&content);
    let place = |what: &str| shown.find(what).unwrap_or_else(|| panic!("no {what:?}: {shown}"));
    assert_eq!(shown.matches("warning[schema-example-refused]: expected integer").count(), 3);
    let more = "warning[schema-example-refused]: 3 more: expected integer under `default`, as `type` says, found\n    \
                string (`--full` draws them)\n  6:24 b/properties/p3/default\n";
    assert!(place(more) < place("error[schema-unknown-keyword]"), "{shown}");
    let full = String::from_utf8(check(&content, &["--full"]).stdout).unwrap();
    assert_eq!(full.matches("warning[schema-example-refused]: expected integer").count(), 6);
}

#[test]
fn an_open_root_is_told_beside_whatever_else_is_wrong() {
    for (schema, codes) in [
        (r#"{"type":"object","required":1}"#, &["schema-open-root", "schema-malformed-keyword"][..]),
        (r#"{"type":"object","minimun":1}"#, &["schema-open-root", "schema-unknown-keyword"]),
        (r#"{"type":"object","required":1,"additionalProperties":false}"#, &["schema-malformed-keyword"]),
        (r#"{"type":"string"}"#, &["schema-root"]),
    ] {
        let found = json(format!(r#"[{{"name":"a","inputSchema":{schema}}}]"#));
        let found =
            found["findings"].as_array().unwrap().iter().map(|finding| finding["code"].as_str().unwrap());
        let found: std::collections::BTreeSet<&str> = found.collect();
        assert_eq!(found, codes.iter().copied().collect(), "{schema}");
    }
}

//! What the flags of `check` change, and its other formats; `explain`; and live servers, which are the notes server of the
//! program itself.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot write its files, or finds a report without what it must have, shall stop"
)]

use std::path::Path;
use std::process::{Command, Output};

use callgate_schema::json::{Document, skim_items};
use callgate_schema::{Limits, Options, Program};
use serde_json::Value;

const BINARY: &str = env!("CARGO_BIN_EXE_callgate");

/// One tool with an error and a warning, one with a warning.
const TOOLS: &str = r#"[
{"name": "a", "inputSchema": {"type": "object", "desciption": "x", "additionalProperties": false}},
{"name": "b", "inputSchema": {"type": "object"}}
]
"#;

struct Folder(tempfile::TempDir);

impl Folder {
    fn with(content: &str) -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        folder.write("tools.json", content);
        folder
    }

    fn write(&self, name: &str, content: &str) {
        std::fs::write(self.0.path().join(name), content).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.path().join(name)).unwrap()
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(BINARY).current_dir(self.0.path()).args(arguments).output().unwrap()
    }

    /// The exit code and the last line of standard output.
    fn check(&self, flags: &[&str]) -> (i32, String) {
        let output = self.run(&[&["check"], flags, &["tools.json"]].concat());
        let said = String::from_utf8(output.stdout).unwrap();
        (output.status.code().unwrap(), said.lines().last().unwrap_or_default().to_owned())
    }
}

fn summary(exit: i32, said: &str) -> (i32, String) {
    (exit, format!("tools.json: {said}"))
}

#[test]
fn what_fails_is_for_the_caller_to_say() {
    let folder = Folder::with(TOOLS);
    assert_eq!(folder.check(&[]), summary(1, "1 of 2 tools admitted; 1 error and 1 warning"));
    let allowed = ["--allow", "schema-unknown-keyword"];
    assert_eq!(
        folder.check(&allowed),
        summary(0, "1 of 2 tools admitted; 0 errors and 1 warning; 1 allowed")
    );
    let denied = ["--deny", "warnings", "--allow", "schema-unknown-keyword"];
    assert_eq!(folder.check(&denied), summary(1, "1 of 2 tools admitted; 0 errors and 1 warning; 1 allowed"));
    let closed = ["--close-open-objects"];
    assert_eq!(folder.check(&closed), summary(1, "1 of 2 tools admitted; 1 error and 0 warnings"));
    let unknown = folder.run(&["check", "--allow", "schema-unkown-keyword", "tools.json"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert_eq!(
        String::from_utf8_lossy(&unknown.stderr),
        "callgate: expected a code, found `schema-unkown-keyword`; did you mean `schema-unknown-keyword`?\n"
    );
}

#[test]
fn known_findings_do_not_fail_and_new_ones_do() {
    let folder = Folder::with(TOOLS);
    assert_eq!(
        folder.check(&["--write-baseline", "known.json"]),
        (0, "known.json: 2 known findings".to_owned())
    );
    insta::assert_snapshot!(folder.read("known.json"), @r#"
    {"callgate_baseline": 1, "findings": [
      {"code":"schema-unknown-keyword","count":1,"place":"/inputSchema/desciption","tool":"a"},
      {"code":"schema-open-root","count":1,"place":"/inputSchema","tool":"b"}
    ]}
    "#);
    let known = ["--baseline", "known.json", "--deny", "warnings"];
    assert_eq!(folder.check(&known), summary(0, "1 of 2 tools admitted; 0 errors and 0 warnings; 2 known"));
    // Another tool before them changes the lines and the places in the file.
    let more = TOOLS.replacen('[', r#"[{"name": "c", "inputSchema": {"type": "object", "required": 1}},"#, 1);
    folder.write("tools.json", &more);
    assert_eq!(folder.check(&known), summary(1, "1 of 3 tools admitted; 1 error and 1 warning; 2 known"));
    folder.write("tools.json", "[]");
    let stale = "the baseline has 2 findings more than were found: write it again";
    assert_eq!(folder.check(&known), (0, stale.to_owned()));
    folder.write("known.json", "{}");
    assert_eq!(folder.check(&known).0, 2);
}

#[test]
fn what_can_be_mended_is_shown_first_and_written_on_request() {
    let folder = Folder::with(TOOLS);
    let shown = folder.run(&["check", "--fix", "tools.json"]);
    assert_eq!(shown.status.code(), Some(1), "there is something to write");
    insta::assert_snapshot!(String::from_utf8(shown.stdout).unwrap(), @r#"
    --- tools.json
    +++ tools.json, mended
    @@ -1,4 +1,4 @@
      [
    - {"name": "a", "inputSchema": {"type": "object", "desciption": "x", "additionalProperties": false}},
    + {"name": "a", "inputSchema": {"type": "object", "description": "x", "additionalProperties": false}},
      {"name": "b", "inputSchema": {"type": "object"}}
      ]

    tools.json: a: spelled `desciption` as `description` at /0/inputSchema/desciption
    tools.json: not written; `--write` does that

    warning[schema-open-root]: expected a closed object of arguments, found one that takes members of
        any name
     --> tools.json:3:15
      |
    3 | {"name": "b", "inputSchema": {"type": "object"}}
      |               ^^^^^^^^^^^^^ takes members of any name
      |
      = tool: b
      = at: /1/inputSchema
      = why: A misspelt argument passes as an unknown one. The tool then runs without what the model
             meant to send, and nobody is told.
      = help: write `"additionalProperties": false` beside `properties`, or `true` if other members are
              meant

     code               severity   findings   tools 
    ────────────────────────────────────────────────
     schema-open-root   warning           1       1 
    `callgate explain CODE` says more; `--allow CODE` leaves a code out, and `--write-baseline FILE`
    with `--baseline FILE` what is known.

    tools.json: 2 of 2 tools admitted; 0 errors and 1 warning
    "#);
    assert_eq!(folder.read("tools.json"), TOOLS);
    let written = ["--fix", "--write", "--close-open-objects"];
    assert_eq!(folder.check(&written), summary(0, "2 of 2 tools admitted; 0 errors and 0 warnings"));
    let mended = TOOLS
        .replace("desciption", "description")
        .replace(r#"{"type": "object"}"#, r#"{"type": "object", "additionalProperties": false}"#);
    assert_eq!(folder.read("tools.json"), mended);
    assert_eq!(folder.check(&["--deny", "warnings"]).0, 0);
}

#[test]
fn a_workflow_gets_a_command_for_each_finding() {
    let folder = Folder::with(TOOLS);
    let output = folder.run(&["check", "--format", "github", "tools.json"]);
    insta::assert_snapshot!(String::from_utf8(output.stdout).unwrap(), @r#"
    ::error file=tools.json,line=2,endLine=2,col=49,endColumn=61,title=schema-unknown-keyword%3A a::expected a keyword of JSON Schema 2020-12, found `desciption`%0Aat /0/inputSchema/desciption%0Ahelp: did you mean `description`?
    ::warning file=tools.json,line=3,endLine=3,col=15,endColumn=28,title=schema-open-root%3A b::expected a closed object of arguments, found one that takes members of any name%0Aat /1/inputSchema%0Ahelp: write `"additionalProperties": false` beside `properties`, or `true` if other members are meant
    "#);
}

fn sarif(folder: &Folder) -> Vec<u8> {
    let twice = r#"[{"name": "a%: b", "inputSchema": {"type": "string", "maximum": 1,
 "enum": [1], "type": "object"}}, {"name": "a", "inputSchema": {"type": "object", "minLength": 1}}]"#;
    folder.write("mehr tools.json", twice);
    let arguments =
        ["check", "--format", "sarif", "--allow", "schema-open-root", "tools.json", "mehr tools.json"];
    folder.run(&arguments).stdout
}

#[test]
fn code_scanning_gets_every_finding_with_its_places() {
    let log: Value = serde_json::from_slice(&sarif(&Folder::with(TOOLS))).unwrap();
    let run = &log["runs"][0];
    let results: Vec<String> = run["results"].as_array().unwrap().iter().map(Value::to_string).collect();
    insta::assert_snapshot!(results.join("\n"), @r#"
    {"level":"error","locations":[{"logicalLocations":[{"fullyQualifiedName":"/0/inputSchema/desciption","name":"a"}],"physicalLocation":{"artifactLocation":{"index":0,"uri":"tools.json"},"region":{"byteLength":12,"byteOffset":50,"endColumn":61,"endLine":2,"startColumn":49,"startLine":2}}}],"message":{"text":"expected a keyword of JSON Schema 2020-12, found `desciption`; did you mean `description`?"},"partialFingerprints":{"callgate/1":"0b79d465c9a8e949d38e904588d09e1156e721935af1f4aa720420d981964b81"},"relatedLocations":[],"ruleId":"schema-unknown-keyword","ruleIndex":2,"suppressions":[]}
    {"level":"warning","locations":[{"logicalLocations":[{"fullyQualifiedName":"/1/inputSchema","name":"b"}],"physicalLocation":{"artifactLocation":{"index":0,"uri":"tools.json"},"region":{"byteLength":13,"byteOffset":116,"endColumn":28,"endLine":3,"startColumn":15,"startLine":3}}}],"message":{"text":"expected a closed object of arguments, found one that takes members of any name; write `\"additionalProperties\": false` beside `properties`, or `true` if other members are meant"},"partialFingerprints":{"callgate/1":"c042330bd31abf290ce615a62e89640f7b29fff44377fb5b8dee24c26c691ac3"},"relatedLocations":[],"ruleId":"schema-open-root","ruleIndex":1,"suppressions":[{"justification":"allowed on the command line","kind":"external"}]}
    {"level":"error","locations":[{"logicalLocations":[{"fullyQualifiedName":"/0/inputSchema/type","name":"a%: b"}],"physicalLocation":{"artifactLocation":{"index":1,"uri":"mehr%20tools.json"},"region":{"byteLength":6,"byteOffset":81,"endColumn":21,"endLine":2,"startColumn":15,"startLine":2}}}],"message":{"text":"expected each member once, found `type` at bytes 34 and 80; keep one of the two members"},"partialFingerprints":{"callgate/1":"37cc4c1f4887e580e3ed93824bbe30e22994656efd23a25dece9568f5cb6fae1"},"relatedLocations":[{"message":{"text":"first here"},"physicalLocation":{"artifactLocation":{"index":1,"uri":"mehr%20tools.json"},"region":{"byteLength":6,"byteOffset":35,"endColumn":42,"endLine":1,"startColumn":36,"startLine":1}}}],"ruleId":"json-duplicate-name","ruleIndex":0,"suppressions":[]}
    {"level":"warning","locations":[{"logicalLocations":[{"fullyQualifiedName":"/1/inputSchema","name":"a"}],"physicalLocation":{"artifactLocation":{"index":1,"uri":"mehr%20tools.json"},"region":{"byteLength":13,"byteOffset":115,"endColumn":62,"endLine":2,"startColumn":49,"startLine":2}}}],"message":{"text":"expected a closed object of arguments, found one that takes members of any name; write `\"additionalProperties\": false` beside `properties`, or `true` if other members are meant"},"partialFingerprints":{"callgate/1":"57e6f7396a156ed20df91cc92962537136657cc01fb0f2319d25a4458d0abb25"},"relatedLocations":[],"ruleId":"schema-open-root","ruleIndex":1,"suppressions":[{"justification":"allowed on the command line","kind":"external"}]}
    {"level":"warning","locations":[{"logicalLocations":[{"fullyQualifiedName":"/1/inputSchema/minLength","name":"a"}],"physicalLocation":{"artifactLocation":{"index":1,"uri":"mehr%20tools.json"},"region":{"byteLength":14,"byteOffset":149,"endColumn":97,"endLine":2,"startColumn":83,"startLine":2}}}],"message":{"text":"expected a keyword for object beside its `type`, found `minLength`, which looks at strings alone; state the type `string`, or leave `minLength` out"},"partialFingerprints":{"callgate/1":"2356f9b05c2afe4eb50e84d7f00b4509ecc77167a8e10c3dcba92d34ffcd09df"},"relatedLocations":[{"message":{"text":"the stated type"},"physicalLocation":{"artifactLocation":{"index":1,"uri":"mehr%20tools.json"},"region":{"byteLength":16,"byteOffset":131,"endColumn":81,"endLine":2,"startColumn":65,"startLine":2}}}],"ruleId":"schema-unreachable","ruleIndex":3,"suppressions":[]}
    "#);
    for result in run["results"].as_array().unwrap() {
        let rule =
            &run["tool"]["driver"]["rules"][usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
        assert_eq!(rule["id"], result["ruleId"]);
        assert!(rule["help"]["markdown"].as_str().unwrap().starts_with("# `"));
    }
}

/// The package with the schema of the standard. It is fetched, since it is not ours to keep.
const SARIF_SCHEMA: (&str, &str) =
    ("@microsoft/jest-sarif@1.0.0-beta.0", "package/lib/schemas/sarif-2.1.0-rtm.5.json");

#[test]
fn the_log_is_what_the_standard_asks_for() {
    if std::env::var_os("CI").is_none_or(|ci| ci != "true") {
        println!("skipped: the schema of SARIF is fetched where CI is `true`");
        return;
    }
    let folder = Folder::with(TOOLS);
    let (package, path) = SARIF_SCHEMA;
    let run = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).current_dir(folder.0.path()).args(arguments).output().unwrap();
        assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let archive = run("npm", &["pack", "--silent", package]);
    run("tar", &["xzf", archive.trim(), path]);
    // It names draft-04 and has nothing in which draft-07 differs, but for the name of its own identifier. Two of its
    // patterns have a bracket too many.
    let schema = folder.read(path).replacen("draft-04", "draft-07", 1).replacen("\"id\"", "\"$id\"", 1);
    let schema = schema.replace("{2}]?$", "{2}$");
    let limits = Limits::default();
    let program =
        Program::compile(schema.as_bytes(), &Options { format_assertion: true, ..Options::value() }).unwrap();
    let log = sarif(&folder);
    let log = Document::read(log, &limits.arguments_text()).unwrap();
    let verdict = program.check(log.root());
    assert!(matches!(verdict, callgate_schema::Verdict::Valid), "{verdict:?}");
}

#[test]
fn a_page_is_printed_and_a_near_name_is_suggested() {
    let folder = Folder::with("[]");
    let page = folder.run(&["explain", "schema-reference"]);
    let page = String::from_utf8(page.stdout).unwrap();
    let begins = "schema-reference\n\nA reference that does not resolve within what was given. Class `validation`.\n\n\
                  What it means\n";
    assert!(page.starts_with(begins) && page.contains("\n    {\n      \"type\": \"object\",\n"), "{page}");
    let unknown = folder.run(&["explain", "\u{1b}schema-refrence"]);
    let said =
        "callgate: expected a code, found `\\u001bschema-refrence`; did you mean `schema-reference`?\n";
    assert_eq!(
        (unknown.status.code(), String::from_utf8(unknown.stderr).unwrap()),
        (Some(2), said.to_owned())
    );
    let list = String::from_utf8(folder.run(&["explain", "--list"]).stdout).unwrap();
    assert!(list.lines().count() > 50 && list.lines().any(|code| code == "schema-reference"), "{list}");
}

#[test]
fn the_tools_of_a_live_server_are_checked() {
    let folder = Folder::with("[]");
    let live = folder.run(&["check", "--command", BINARY, "notes-server"]);
    let said = String::from_utf8(live.stdout).unwrap();
    let name = Path::new(BINARY).file_name().unwrap().to_str().unwrap();
    assert!(said.ends_with(&format!("{name}: 5 of 6 tools admitted; 1 error and 0 warnings\n")), "{said}");
    assert_eq!(live.status.code(), Some(1));
    let gone = folder.run(&["check", "--command", "false"]);
    let said = "callgate: failed to list the tools of `false`: expected a list of tools, found that the server ended\n";
    assert_eq!((gone.status.code(), String::from_utf8_lossy(&gone.stderr).as_ref()), (Some(4), said));
    let none = folder.run(&["check", "--command", "./no-such-server"]);
    assert_eq!(none.status.code(), Some(4));
}

#[test]
fn a_captured_definition_has_the_bytes_that_the_server_sent() {
    let folder = Folder::with("[]");
    // What the server sends has spaces, an exponent and an escape that another writer would not keep.
    let definition = r#"{"name" : "a","inputSchema":{"type":"object","maxProperties": 1e1 ,"additionalProperties":false}, "x":"\u0061"}"#;
    let list = format!(
        r#"{{"id":"callgate-visit-1","result":{{"tools":[{definition},{{"name":"b","name":"c"}}]}}}}"#
    );
    let welcome =
        r#"{"id":"callgate-visit-0","result":{"protocolVersion":"2025-11-25","serverInfo":{"name":"s"}}}"#;
    let script =
        format!("read -r l; echo '{welcome}'; read -r l; read -r l; printf '%s\\n' '{list}'; cat >/dev/null");
    folder.write("server", &script);
    let output = folder.run(&["capture", "--output", "catalog.json", "--", "sh", "server"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let text = folder.read("catalog.json");
    let tools = text.split_once("\"tools\":").unwrap().1;
    let first = skim_items(tools.as_bytes()).unwrap().remove(0);
    assert_eq!(&tools[first], definition);
    insta::assert_snapshot!(text, @r##"
    {"server":"server","revision":"2025-11-25","serverInfo":{"name":"s"},"pin":"92089001df5abd701e3a9b804eafb6ecda870eec734e5d04d027abd2077e9824","pins":[
    {"tool":"a","pin":"98bc8c035ede1f4884562d1f20498d1d202d76fde760b26b6ca7672970aed405"},
    {"tool":"#1","pin":"b6c613d2468342da2f7e8c883a5995d0d973d080d03446b5f8c314ce4e4c4c02"}
    ],"tools":[
    {"name" : "a","inputSchema":{"type":"object","maxProperties": 1e1 ,"additionalProperties":false}, "x":"\u0061"},
    {"name":"b","name":"c"}
    ]}
    "##);
    insta::assert_snapshot!(String::from_utf8(output.stdout).unwrap(), @r#"catalog.json: 2 tools of server, pin 92089001df5abd701e3a9b804eafb6ecda870eec734e5d04d027abd2077e9824"#);
    // It is a catalog like any other.
    let checked = folder.run(&["check", "--allow", "json-duplicate-name", "catalog.json"]);
    let said = String::from_utf8(checked.stdout).unwrap();
    assert!(
        said.ends_with("catalog.json: 1 of 2 tools admitted; 0 errors and 0 warnings; 1 allowed\n"),
        "{said}"
    );
}

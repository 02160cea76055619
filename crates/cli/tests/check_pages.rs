//! What `check` can say, all of it: each code has a page with an example that has the code and a remedy that has not,
//! and every text is in a snapshot.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot read its pages, or finds one that is not as the others, shall stop"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use callgate_schema::{Code, Options, Profile, Program};
use serde_json::value::RawValue;

const BINARY: &str = env!("CARGO_BIN_EXE_callgate");
const PAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/errors");

/// A file to check, and the profile that it is for.
struct Shown {
    profile: &'static str,
    text: Vec<u8>,
}

/// Whether `check` can say the code: how texts are read, and what is wrong with schemas. The others are about values,
/// requests and flags.
fn is_said_by_check(code: Code) -> bool {
    let name = code.as_str();
    let family = ["json-", "schema-", "pattern-"].iter().any(|family| name.starts_with(family));
    // That a text does not match is about a value.
    (family && code != Code::PatternMismatch) || code == Code::LimitExceeded
}

/// The codes of whole tools that `check` says in place of the schema's.
const OF_TOOLS: [&str; 2] = ["tool-definition-malformed", "tool-name-repeated"];

/// Of codes whose pages show something else than one schema: a file that has the code, and one that just has it not.
const FILES: &[(&str, &[u8], &[u8])] = &[
    (
        "json-duplicate-name",
        br#"{"type":"object","type":"object"}"#,
        br#"{"type":"object","additionalProperties":false}"#,
    ),
    (
        "json-surrogate",
        br#"{"type":"object","title":"\ud83d"}"#,
        br#"{"type":"object","title":"\ud83d\ude00"}"#,
    ),
    ("json-syntax", br#"{"type":"object",}"#, br#"{"type":"object"}"#),
    (
        "json-utf8",
        b"{\"type\":\"object\",\"title\":\"caf\xe9\"}",
        b"{\"type\":\"object\",\"title\":\"caf\xc3\xa9\"}",
    ),
    (
        "limit-exceeded",
        br#"{"type":"object","minProperties":1e99999}"#,
        br#"{"type":"object","minProperties":1e1}"#,
    ),
    ("schema-missing", br#"[{"name":"ping"}]"#, br#"[{"name":"ping","inputSchema":{"type":"object"}}]"#),
    (
        "schema-not-enforced",
        br#"[{"name":"sum","inputSchema":{},"outputSchema":{"type":"object","atLeast":0}}]"#,
        br#"[{"name":"sum","inputSchema":{},"outputSchema":{"type":"object","minProperties":0}}]"#,
    ),
    (
        "tool-definition-malformed",
        br#"[{"title":"Notes","inputSchema":{"type":"object"}}]"#,
        br#"[{"name":"notes","inputSchema":{"type":"object"}}]"#,
    ),
    (
        "tool-name-repeated",
        br#"[{"name":"a","inputSchema":{}},{"name":"a","inputSchema":{}}]"#,
        br#"[{"name":"a","inputSchema":{}},{"name":"A","inputSchema":{}}]"#,
    ),
];

/// The schema in a section of a page, if the section shows one and no arguments beside it.
fn shown(page: &str, section: &str) -> Option<Shown> {
    let section = page.split(&format!("\n## {section}\n")).nth(1)?.split("\n## ").next()?;
    let schema = section.split("\nSchema").nth(1)?;
    let (head, rest) = schema.split_once("```json\n")?;
    let (schema, rest) = rest.split_once("```")?;
    if rest.contains("```") {
        return None;
    }
    let profile = ["portable", "wire"].into_iter().find(|profile| head.contains(profile));
    Some(Shown { profile: profile.unwrap_or("standard"), text: schema.into() })
}

fn check(shown: &Shown, flags: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("schema.json"), &shown.text).unwrap();
    let mut command = Command::new(BINARY);
    command.current_dir(&folder).args(["check", "--profile", shown.profile]).args(flags).arg("schema.json");
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

/// The example and the remedy of a code.
fn example(code: &str) -> (Shown, Shown) {
    let page = std::fs::read_to_string(Path::new(PAGES).join(format!("{code}.md"))).unwrap();
    if let Some((_, bad, good)) = FILES.iter().find(|(name, _, _)| *name == code) {
        let file = |text: &[u8]| Shown { profile: "standard", text: text.into() };
        return (file(bad), file(good));
    }
    let (bad, good) = (shown(&page, "Example"), shown(&page, "Instead"));
    assert!(bad.is_some() && good.is_some(), "{code}: a schema under Example and one under Instead");
    (bad.unwrap(), good.unwrap())
}

#[test]
fn every_code_has_an_example_that_fires_it_a_remedy_that_does_not_and_its_text() {
    let codes = Code::ALL.iter().filter(|code| is_said_by_check(**code)).map(|code| code.as_str());
    let codes: BTreeSet<&str> = codes.chain(OF_TOOLS).collect();
    let mut said = String::new();
    for code in codes {
        let (example, remedy) = example(code);
        let has_code =
            |shown: &Shown| check(shown, &["--format", "json"]).contains(&format!("\"code\":\"{code}\""));
        assert!(has_code(&example), "{code}: {}", check(&example, &[]));
        assert!(!has_code(&remedy), "{code}: {}", check(&remedy, &[]));
        // What a page says to write instead is good in every way.
        let is_of_page = !FILES.iter().any(|(name, _, _)| *name == code);
        let is_clean = check(&remedy, &["--format", "json"]).contains("\"findings\":[]");
        assert!(!is_of_page || is_clean, "{code}: {}", check(&remedy, &[]));
        let text = check(&example, &[]);
        let findings = text.split("\n code ").next().unwrap();
        writeln!(said, "## {code}\n\n{}\n", findings.trim_end()).unwrap();
    }
    insta::assert_snapshot!(said);
}

/// What is said of the schemas of all rows, each text once: the code, the message and the help.
#[test]
fn every_text_of_the_rows_is_in_the_snapshot() {
    let rows = concat!(env!("CARGO_MANIFEST_DIR"), "/../../cases/worker");
    let mut said = BTreeSet::new();
    for file in std::fs::read_dir(rows).unwrap() {
        let file = std::fs::read_to_string(file.unwrap().path()).unwrap();
        for row in file.lines() {
            let row: BTreeMap<String, &RawValue> = serde_json::from_str(row).unwrap();
            let request: BTreeMap<String, &RawValue> = serde_json::from_str(row["request"].get()).unwrap();
            let word =
                |name| request.get(name).and_then(|word| serde_json::from_str::<String>(word.get()).ok());
            let schema = request.get("schema").map(|schema| schema.get().to_owned());
            let Some(schema) = word("schema_text").or(schema) else { continue };
            let profile = match word("profile").as_deref() {
                Some("portable") => Profile::Portable,
                Some("wire") => Profile::Wire,
                _ => Profile::Standard,
            };
            let options = match word("op").as_deref() {
                Some("preflight" | "validate") => Options::tool(profile),
                Some("check_value") if profile == Profile::Standard => Options::value(),
                _ => continue,
            };
            let findings = match Program::compile(schema.as_bytes(), &options) {
                Ok(program) => program.warnings().to_vec(),
                Err(error) => error.findings,
            };
            for finding in findings {
                assert!(is_said_by_check(finding.code), "{finding:?}");
                let help = finding.help.as_deref().map(|help| format!("\n    {help}")).unwrap_or_default();
                said.insert(format!("{}\n  {}{help}", finding.code, finding.message));
            }
        }
    }
    insta::assert_snapshot!(said.into_iter().collect::<Vec<_>>().join("\n"));
}

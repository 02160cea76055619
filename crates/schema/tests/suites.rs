//! The official test suites of JSON Schema, one named test a case, from bytes: of the engine, and of the reference
//! evaluator that the engine is compared with elsewhere. The optional tests of formats have a file of their own.
//!
//! What differs and why is in `suites/known-differences.jsonl`. A case that is listed there must differ: a list that
//! says more than is true is as wrong as one that says less.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "what fails here fails the test"
)]

mod collections;
mod reference;

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use callgate_schema::json::Tape;
use callgate_schema::{Dialect, Options, Program, Resource, Verdict};
use libtest_mimic::{Arguments, Failed, Trial};
use reference::Reference;
use serde_json::Value;
use serde_json::value::RawValue;

const SUITES: [(&str, Dialect); 2] =
    [("suite-2020-12", Dialect::Draft202012), ("suite-draft7", Dialect::Draft07)];

const KNOWN_DIFFERENCES: &str = include_str!("suites/known-differences.jsonl");

/// Of all differences, those that may lie outside of these two files, which are about dialects of the past.
const DIFFERENCES_MAX: usize = 10;
const PAST: [&str; 2] = ["optional/cross-draft.json", "optional/dependencies-compatibility.json"];

type Members = BTreeMap<String, Box<RawValue>>;

/// One case of a suite, as bytes.
struct Case {
    name: String,
    options: Arc<Options>,
    schema: Arc<str>,
    instance: Box<str>,
    valid: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let known = known_differences();
    let mut unused: HashSet<&String> = known.iter().collect();
    let mut trials = Vec::new();
    if let Some(corpus) = collections::corpus() {
        for (suite, dialect) in SUITES {
            for case in cases(&corpus, suite, dialect) {
                let differs = unused.remove(&case.name);
                let case = Arc::new(case);
                let again = Arc::clone(&case);
                trials.push(Trial::test(case.name.clone(), move || engine(&case, differs)));
                if !differs {
                    trials.push(Trial::test(format!("reference: {}", again.name), move || {
                        by_reference(&again)
                    }));
                }
            }
        }
        assert!(unused.is_empty(), "no case has the name of a known difference: {unused:?}");
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn known_differences() -> Vec<String> {
    let mut names = Vec::new();
    let mut elsewhere = 0;
    for line in KNOWN_DIFFERENCES.lines() {
        let row: Value = serde_json::from_str(line).expect("a row is JSON");
        let name = row["case"].as_str().expect("a row names its case");
        assert!(row["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{name} has no reason");
        assert!(!name.contains("ecmascript-regex") && !name.contains("bignum"), "{name} must not differ");
        elsewhere += usize::from(!PAST.iter().any(|file| name.contains(file)));
        names.push(name.to_owned());
    }
    assert!(elsewhere <= DIFFERENCES_MAX, "{elsewhere} differences, more than {DIFFERENCES_MAX}");
    names
}

/// What the engine says, by its two ways of deciding.
fn answer(case: &Case) -> Result<bool, String> {
    let program = Program::compile(case.schema.as_bytes(), &case.options)
        .map_err(|refused| format!("the schema is refused: {}", refused.findings[0].message))?;
    let mut tape = Tape::new();
    let value = tape
        .read(case.instance.as_bytes(), &case.options.limits.arguments_text())
        .map_err(|fault| format!("the value cannot be read: {}", fault.finding().message))?;
    let valid = match program.check(value) {
        Verdict::Valid => true,
        Verdict::Invalid(violations) => {
            assert!(!violations.findings.is_empty(), "a value is refused and nothing is said about it");
            false
        }
        Verdict::Failed(finding) => return Err(format!("no answer: {}", finding.message)),
    };
    assert_eq!(program.is_valid(value), Ok(valid), "the deciding pass says otherwise");
    Ok(valid)
}

fn engine(case: &Case, differs: bool) -> Result<(), Failed> {
    let found = answer(case);
    match (found == Ok(case.valid), differs) {
        (true, false) | (false, true) => Ok(()),
        (true, true) => Err("agrees with the suite, and is listed as a difference: take the row out".into()),
        (false, false) => Err(format!("expected valid = {}, found {found:?}", case.valid).into()),
    }
}

fn by_reference(case: &Case) -> Result<(), Failed> {
    let evaluator =
        Reference::new(case.schema.as_bytes(), &case.options).ok_or("the schema cannot be read")?;
    let mut tape = Tape::new();
    let value = tape
        .read(case.instance.as_bytes(), &case.options.limits.arguments_text())
        .map_err(|fault| fault.finding().message)?;
    let found = evaluator.is_valid(value);
    if found == case.valid { Ok(()) } else { Err(format!("expected {}, found {found}", case.valid).into()) }
}

fn cases(corpus: &Path, suite: &str, dialect: Dialect) -> Vec<Case> {
    let folder = corpus.join(suite);
    let resources = remotes(&folder.join("remotes"));
    let options = Arc::new(Options { dialect, resources, ..Options::value() });
    let mut found = Vec::new();
    for part in ["", "optional"] {
        for path in files(&folder.join(part), false) {
            let file = path.strip_prefix(&folder).expect("it is below").display().to_string();
            let groups = parse(&read(&path));
            for group in groups {
                let schema: Arc<str> = group["schema"].get().into();
                let tests = parse(group["tests"].get());
                found.extend(tests.iter().map(|test| Case {
                    name: format!("{suite}/{file}: {}: {}", text(&group), text(test)),
                    options: Arc::clone(&options),
                    schema: Arc::clone(&schema),
                    instance: test["data"].get().into(),
                    valid: test["valid"].get() == "true",
                }));
            }
        }
    }
    found
}

/// The schemas that the suite's references reach, by the URIs that it gives them.
fn remotes(folder: &Path) -> Vec<Resource> {
    let resource = |path: &PathBuf| {
        let name = path.strip_prefix(folder).expect("it is below").display();
        Resource { uri: format!("http://localhost:1234/{name}"), text: read(path).into_bytes().into() }
    };
    files(folder, true).iter().map(resource).collect()
}

/// The files of JSON in a folder, and in those below it if they are wanted.
fn files(folder: &Path, below: bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder can be listed") {
        let path = entry.expect("an entry can be read").path();
        if path.is_dir() && below {
            found.extend(files(&path, true));
        } else if path.extension().is_some_and(|extension| extension == "json") {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[expect(clippy::disallowed_methods, reason = "a test reads its cases")]
fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("a file of the suite can be read")
}

fn parse(text: &str) -> Vec<Members> {
    serde_json::from_str(text).expect("a file of the suite is JSON")
}

fn text(members: &Members) -> String {
    serde_json::from_str(members["description"].get()).expect("a description is a text")
}

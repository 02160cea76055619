//! The official test suites of JSON Schema, one named test a case, from bytes: of the engine, and of the reference
//! evaluator that the engine is compared with elsewhere. The optional tests of formats have a file of their own.
//!
//! What differs and why is in `cases/known-differences.jsonl`. A case that is listed there must differ: a list that
//! says more than is true is as wrong as one that says less.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "what fails here fails the test"
)]

#[path = "suites/cases.rs"]
mod cases;
mod collections;
mod reference;

use std::collections::{BTreeMap, HashSet};
use std::process::ExitCode;
use std::sync::Arc;

use callgate_schema::json::Tape;
use callgate_schema::{Program, Verdict};
use cases::{Case, SUITES, cases};
use libtest_mimic::{Arguments, Failed, Trial};
use reference::Reference;
use serde_json::Value;

const KNOWN_DIFFERENCES: &str = include_str!("../../../cases/known-differences.jsonl");

/// Of all differences, those that may lie outside of these two files, which are about dialects of the past.
const DIFFERENCES_MAX: usize = 10;
const PAST: [&str; 2] = ["optional/cross-draft.json", "optional/dependencies-compatibility.json"];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let known = known_differences();
    let mut unused: HashSet<&String> = known.iter().collect();
    let mut trials = Vec::new();
    let mut files: BTreeMap<String, Vec<Arc<Case>>> = BTreeMap::new();
    if let Some(corpus) = collections::corpus() {
        for (suite, dialect) in SUITES {
            for case in cases(&corpus, suite, dialect) {
                let differs = unused.remove(&case.name);
                let case = Arc::new(case);
                // The reference evaluator knows no formats.
                if !differs && !case.name.contains("format-assertion") {
                    let file = case.name.split(": ").next().unwrap_or_default().to_owned();
                    files.entry(file).or_default().push(Arc::clone(&case));
                }
                trials.push(Trial::test(case.name.clone(), move || engine(&case, differs)));
            }
        }
        assert!(unused.is_empty(), "no case has the name of a known difference: {unused:?}");
    }
    // One test a file: of the evaluator it is enough to know that it can be relied on.
    trials.extend(files.into_iter().map(|(file, cases)| {
        Trial::test(format!("reference: {file}"), move || {
            cases.iter().try_for_each(|case| by_reference(case))
        })
    }));
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
    if found == case.valid { Ok(()) } else { Err(format!("{}: found {found}", case.name).into()) }
}

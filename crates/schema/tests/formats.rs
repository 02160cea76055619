//! The format tests of the official suites, with formats asserted: one named test a row.
//!
//! The suites stand beside the checkout in `../shared`, or where `CALLGATE_SHARED` says. Without them the tests are
//! skipped, except where `CI` is set to `true`.
#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test that cannot read its rows shall stop, and one that skips some says so"
)]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use callgate_schema::json::Tape;
use callgate_schema::{Dialect, Limits, Options, Program, Verdict};
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;

const SUITES: [(&str, Dialect); 2] =
    [("suite-2020-12", Dialect::Draft202012), ("suite-draft7", Dialect::Draft07)];

/// Rows, by name, on which the answer here differs, each with its reason. They must go on differing.
const DIFFERENCES: &[(&str, &str)] = &[];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials: Vec<Trial> = Vec::new();
    for (suite, dialect) in SUITES {
        let folder = shared().join("corpus").join(suite).join("optional/format");
        if folder.is_dir() {
            trials.extend(files(&folder).iter().flat_map(|file| rows(suite, dialect, file)));
        } else if std::env::var("CI").is_ok_and(|ci| ci == "true") {
            panic!("{} is missing", folder.display());
        } else if !arguments.list {
            println!("skipped: {} is missing", folder.display());
        }
    }
    for (name, _) in DIFFERENCES {
        let is_there = trials.is_empty() || trials.iter().any(|trial| trial.name() == *name);
        assert!(is_there, "no row has the name of a difference: {name}");
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn shared() -> PathBuf {
    match std::env::var_os("CALLGATE_SHARED") {
        Some(folder) => folder.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder can be listed");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    files
}

fn rows(suite: &str, dialect: Dialect, file: &Path) -> Vec<Trial> {
    let text = std::fs::read_to_string(file).expect("the file is text");
    let groups: Value = serde_json::from_str(&text).expect("the file is JSON");
    let topic = file.file_stem().unwrap_or_default().to_string_lossy();
    let mut trials = Vec::new();
    for group in groups.as_array().expect("a list of groups") {
        let schema = group["schema"].to_string();
        for row in group["tests"].as_array().expect("a list of tests") {
            let name = format!(
                "{suite} {topic}: {}: {}",
                text_of(&group["description"]),
                text_of(&row["description"])
            );
            let (schema, data) = (schema.clone(), row["data"].to_string());
            let valid = row["valid"].as_bool().expect("`valid` is a boolean");
            let reason = DIFFERENCES.iter().find(|(known, _)| *known == name).map(|(_, reason)| *reason);
            trials.push(Trial::test(name, move || judge(&schema, dialect, &data, valid, reason)));
        }
    }
    trials
}

fn text_of(value: &Value) -> &str {
    value.as_str().expect("a text")
}

fn judge(
    schema: &str,
    dialect: Dialect,
    data: &str,
    valid: bool,
    reason: Option<&str>,
) -> Result<(), Failed> {
    let options = Options { dialect, format_assertion: true, ..Options::value() };
    let program = Program::compile(schema.as_bytes(), &options).map_err(|error| format!("{error:?}"))?;
    let mut tape = Tape::new();
    let value = tape.read(data.as_bytes(), &Limits::default().arguments_text());
    let is_same = match program.check(value.map_err(|fault| format!("{fault:?}"))?) {
        Verdict::Valid => valid,
        Verdict::Invalid(_) => !valid,
        Verdict::Failed(finding) => return Err(format!("no answer: {}", finding.message).into()),
    };
    match (is_same, reason) {
        (true, None) | (false, Some(_)) => Ok(()),
        (false, None) => Err(format!("{data} should be {}", if valid { "good" } else { "refused" }).into()),
        (true, Some(reason)) => Err(format!("it differs no longer, though {reason}").into()),
    }
}

//! The cases of the official suites, as bytes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use callgate_schema::{Dialect, Options, Resource};
use serde_json::value::RawValue;

/// The suites, by the names of their folders.
pub(crate) const SUITES: [(&str, Dialect); 2] =
    [("suite-2020-12", Dialect::Draft202012), ("suite-draft7", Dialect::Draft07)];

type Members = BTreeMap<String, Box<RawValue>>;

/// One case of a suite, as bytes.
pub(crate) struct Case {
    pub(crate) name: String,
    /// The suite's dialect, and the schemas that its references reach.
    pub(crate) options: Arc<Options>,
    pub(crate) schema: Arc<str>,
    pub(crate) instance: Box<str>,
    pub(crate) valid: bool,
}

/// All cases of a suite, required and optional ones, but for those of formats.
pub(crate) fn cases(corpus: &Path, suite: &str, dialect: Dialect) -> Vec<Case> {
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

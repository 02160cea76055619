//! The cases: folders with a schema and values for it, and rows of the project's own tests.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use serde_json::value::RawValue;

/// A schema with a value that keeps it, one with a single violation near its end, and one with several.
#[derive(Debug)]
pub struct Case {
    pub name: String,
    pub schema: Vec<u8>,
    pub valid: Vec<u8>,
    pub invalid: Vec<u8>,
    pub multi: Vec<u8>,
}

impl Case {
    /// The cases of a folder, the smallest first. Each is a folder with `schema.json`, `valid.json`, `invalid.json` and
    /// `multi.json`.
    ///
    /// # Errors
    /// A file that is missing, or no case at all.
    pub fn all(folder: &Path) -> Result<Vec<Case>> {
        let entries =
            fs::read_dir(folder).with_context(|| format!("cannot read the cases in {}", folder.display()))?;
        let mut cases = Vec::new();
        for entry in entries {
            let path = entry?.path();
            if path.join("schema.json").is_file() {
                cases.push(Case::read(&path)?);
            }
        }
        ensure!(!cases.is_empty(), "{} has no folder with a schema.json", folder.display());
        cases.sort_by_key(|case| (case.valid.len(), case.name.clone()));
        Ok(cases)
    }

    fn read(folder: &Path) -> Result<Case> {
        let file = |name: &str| {
            let path = folder.join(name);
            let text = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
            Ok::<_, anyhow::Error>(text.trim_ascii_end().to_vec())
        };
        Ok(Case {
            name: folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            schema: file("schema.json")?,
            valid: file("valid.json")?,
            invalid: file("invalid.json")?,
            multi: file("multi.json")?,
        })
    }

    /// Whether the schema has patterns, which take longer to compile than everything else.
    pub fn has_patterns(&self) -> bool {
        self.schema.windows(8).any(|window| window == b"\"pattern")
    }
}

/// Where this crate's cases are.
pub fn own() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("cases")
}

/// A schema and a value from the project's tests.
#[derive(Debug)]
pub struct Row {
    pub name: String,
    pub schema: Vec<u8>,
    pub instance: Vec<u8>,
    pub good: bool,
}

/// The files with rows that have a schema and a value.
const FILES: &[&str] = &["keywords", "numbers", "unions", "references", "reading", "pages"];

/// The rows of the project's tests that check a value under the options that all engines share: the dialect's own
/// meaning, no limit lowered, no resource given, nothing coerced.
///
/// # Errors
/// A file that is missing or is not what it was.
pub fn rows() -> Result<Vec<Row>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cases/worker");
    let mut rows = Vec::new();
    for name in FILES {
        let path = folder.join(name).with_extension("jsonl");
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        for line in text.lines() {
            rows.extend(Row::read(line).with_context(|| format!("in {}", path.display()))?);
        }
    }
    ensure!(rows.len() >= ROWS_MIN, "only {} rows could be sampled, expected {ROWS_MIN}", rows.len());
    Ok(rows)
}

/// Fewer mean that the rows look different from what is read here.
const ROWS_MIN: usize = 100;

/// The members of a request that all engines understand.
const SHARED: &[&str] = &["op", "schema", "arguments", "arguments_text", "instance", "instance_text"];

type Members<'a> = std::collections::HashMap<String, &'a RawValue>;

impl Row {
    /// `None` if the row is about something else.
    fn read(line: &str) -> Result<Option<Row>> {
        let row: Members<'_> = serde_json::from_str(line)?;
        let (Some(name), Some(request), Some(expect)) =
            (row.get("name"), row.get("request"), row.get("expect"))
        else {
            return Ok(None);
        };
        let Ok(request) = serde_json::from_str::<Members<'_>>(request.get()) else { return Ok(None) };
        let checks =
            request.get("op").is_some_and(|op| matches!(op.get(), "\"validate\"" | "\"check_value\""));
        if !checks || request.keys().any(|member| !SHARED.contains(&member.as_str())) {
            return Ok(None);
        }
        let value = |member: &str| {
            if let Some(value) = request.get(member) {
                return Some(value.get().to_owned());
            }
            serde_json::from_str(request.get(&*format!("{member}_text"))?.get()).ok()
        };
        let (Some(schema), Some(instance)) =
            (value("schema"), value("arguments").or_else(|| value("instance")))
        else {
            return Ok(None);
        };
        let expect: Value = serde_json::from_str(expect.get())?;
        Ok(Some(Row {
            name: serde_json::from_str(name.get())?,
            schema: schema.into_bytes(),
            instance: instance.into_bytes(),
            good: expect.get("ok") == Some(&Value::Bool(true)),
        }))
    }
}

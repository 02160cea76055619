//! Findings that are known: a file that is made once and kept beside the catalog, so that only new ones fail the check.
//!
//! A finding is known by its tool, its place within the tool and its code, not by its line or the tool's place in the
//! catalog: other tools may come and go. A place may have several findings of a code, so they are counted.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use super::report::{Line, Report};
use crate::exit_code::Failure;
use crate::render::escape::one_line;

/// The version of the file's form.
const VERSION: u64 = 1;
/// The largest baseline that is read.
const BYTES_MAX: u64 = 64 << 20;

/// Known findings, each with how often it is known.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Baseline(BTreeMap<Key, usize>);

/// Tool, code and place within the tool.
type Key = (String, String, String);

impl Baseline {
    /// All findings of these reports.
    pub(super) fn of(reports: &[Report]) -> Baseline {
        let mut known = BTreeMap::new();
        for report in reports {
            for line in &report.lines {
                *known.entry(key(line, report.is_schema())).or_default() += 1;
            }
        }
        Baseline(known)
    }

    pub(super) fn read(file: &Path) -> anyhow::Result<Baseline> {
        let name = one_line(&file.display().to_string());
        let fault = |what: &str| Failure::usage(format!("failed to read the baseline `{name}`: {what}"));
        let too_long = std::fs::metadata(file).is_ok_and(|metadata| metadata.len() > BYTES_MAX);
        if too_long {
            return Err(fault(&format!("expected at most {BYTES_MAX} bytes, found more")));
        }
        let text = std::fs::read(file).map_err(|error| fault(&error.to_string()))?;
        Baseline::parse(&text).map_err(|what| fault(&what))
    }

    fn parse(text: &[u8]) -> Result<Baseline, String> {
        let value: Value = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        if value.get("callgate_baseline").and_then(Value::as_u64) != Some(VERSION) {
            return Err(format!("expected `\"callgate_baseline\": {VERSION}`, found another form"));
        }
        let findings = value.get("findings").and_then(Value::as_array);
        let findings = findings.ok_or_else(|| "expected an array under `findings`".to_owned())?;
        let mut known = BTreeMap::new();
        for (at, finding) in findings.iter().enumerate() {
            let text = |name: &str| {
                let text = finding.get(name).and_then(Value::as_str).map(str::to_owned);
                text.ok_or_else(|| format!("expected a string under `{name}` of finding {at}"))
            };
            let count =
                finding.get("count").map_or(Some(1), Value::as_u64).and_then(|count| count.try_into().ok());
            let count: usize =
                count.ok_or_else(|| format!("expected a count under `count` of finding {at}"))?;
            *known.entry((text("tool")?, text("code")?, text("place")?)).or_default() += count;
        }
        Ok(Baseline(known))
    }

    /// One line a finding, so that a difference between two of them can be read.
    pub(super) fn to_json(&self) -> String {
        let finding = |((tool, code, place), count): (&Key, &usize)| {
            format!("  {}", json!({ "tool": tool, "code": code, "place": place, "count": count }))
        };
        let findings: Vec<String> = self.0.iter().map(finding).collect();
        format!("{{\"callgate_baseline\": {VERSION}, \"findings\": [\n{}\n]}}\n", findings.join(",\n"))
    }

    /// Whether a finding is known; each is once.
    pub(super) fn take(&mut self, line: &Line, is_schema: bool) -> bool {
        match self.0.get_mut(&key(line, is_schema)) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        }
    }

    /// How many findings there are that were not taken.
    pub(super) fn left(&self) -> usize {
        self.0.values().sum()
    }
}

fn key(line: &Line, is_schema: bool) -> Key {
    let place = if is_schema { &line.pointer } else { within_tool(&line.pointer) };
    (line.subject.clone(), line.code().to_owned(), place.to_owned())
}

/// The part of a pointer into a catalog that leads on from its tool.
pub(super) fn within_tool(pointer: &str) -> &str {
    let inner = pointer.strip_prefix("/result").unwrap_or(pointer);
    let inner = inner.strip_prefix("/tools").unwrap_or(inner);
    let Some(rest) = inner.strip_prefix('/') else { return pointer };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    match rest.get(digits..) {
        Some(place) if digits > 0 && (place.is_empty() || place.starts_with('/')) => place,
        _ => pointer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_does_not_depend_on_where_the_tool_is() {
        for (pointer, place) in [
            ("/tools/12/inputSchema/type", "/inputSchema/type"),
            ("/result/tools/0", ""),
            ("/3/name", "/name"),
            ("/properties/0/x", "/properties/0/x"),
            ("", ""),
        ] {
            assert_eq!(within_tool(pointer), place, "{pointer}");
        }
    }

    #[test]
    fn what_is_written_is_read_back_and_anything_else_is_refused_with_a_reason() {
        let key = |place: &str| ("a\"b".to_owned(), "schema-root".to_owned(), place.to_owned());
        let known = Baseline([(key("/x"), 2), (key("/y"), 1)].into());
        assert_eq!(Baseline::parse(known.to_json().as_bytes()), Ok(known));
        assert_eq!(Baseline::parse(Baseline::default().to_json().as_bytes()), Ok(Baseline::default()));
        let fault = |text: &str| Baseline::parse(text.as_bytes()).unwrap_err();
        assert_eq!(fault("[]"), "expected `\"callgate_baseline\": 1`, found another form");
        assert_eq!(fault(r#"{"callgate_baseline": 1}"#), "expected an array under `findings`");
        assert_eq!(
            fault(r#"{"callgate_baseline": 1, "findings": [{"tool": "a", "code": 1}]}"#),
            "expected a string under `code` of finding 0"
        );
    }
}

//! Findings as a log of SARIF 2.1.0 (OASIS), which code scanning and editors read.

use std::collections::BTreeSet;

use callgate_schema::json::Digest;
use serde_json::{Value, json};

use super::baseline::within_tool;
use super::report::{Known, Line, Report};
use crate::pages::{page, why};
use crate::render::diagnostic::{Label, SourceText};

/// The log with one run.
pub(super) fn sarif(reports: &[Report]) -> Vec<u8> {
    let codes: BTreeSet<&str> = reports.iter().flat_map(|report| &report.lines).map(Line::code).collect();
    let codes: Vec<&str> = codes.into_iter().collect();
    let mut results = Vec::new();
    for (index, report) in reports.iter().enumerate() {
        let source = SourceText::new(&report.file, &report.text, 0);
        let place = Place { source: &source, uri: uri(&report.file), index };
        results.extend(report.lines.iter().map(|line| result(&place, line, report, &codes)));
    }
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "callgate",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": codes.iter().map(|code| rule(code)).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "artifacts": reports.iter().map(|report| json!({
                "location": { "uri": uri(&report.file) },
                "length": report.text.len(),
            })).collect::<Vec<_>>(),
            "results": results,
        }],
    });
    let mut out = log.to_string().into_bytes();
    out.push(b'\n');
    out
}

fn rule(code: &str) -> Value {
    let page = page(code).unwrap_or_default();
    // The first paragraph below the heading.
    let short = page.split("\n\n").nth(1).unwrap_or(code).split_whitespace().collect::<Vec<_>>().join(" ");
    json!({
        "id": code,
        "shortDescription": { "text": short },
        "fullDescription": { "text": why(code).unwrap_or_else(|| short.clone()) },
        "help": { "text": page, "markdown": page },
    })
}

struct Place<'a> {
    source: &'a SourceText<'a>,
    uri: String,
    index: usize,
}

impl Place<'_> {
    fn location(&self, label: &Label) -> Value {
        let (start, end) = (self.source.position(label.span.start), self.source.position(label.span.end));
        json!({
            "physicalLocation": {
                "artifactLocation": { "uri": self.uri, "index": self.index },
                "region": {
                    "startLine": start.line,
                    "startColumn": start.column,
                    "endLine": end.line,
                    "endColumn": end.column,
                    "byteOffset": label.span.start,
                    "byteLength": label.span.len(),
                },
            },
        })
    }
}

fn result(place: &Place<'_>, line: &Line, report: &Report, codes: &[&str]) -> Value {
    let mut message = line.finding.message.clone();
    if let Some(help) = &line.finding.help {
        message.push_str("; ");
        message.push_str(help);
    }
    let [first, related @ ..] = line.labels.as_slice() else { return Value::Null };
    let mut location = place.location(first);
    if let Some(location) = location.as_object_mut() {
        let logical = json!([{ "name": line.subject, "fullyQualifiedName": line.pointer }]);
        location.insert("logicalLocations".to_owned(), logical);
    }
    let related = related.iter().map(|label| {
        let mut location = place.location(label);
        if let Some(location) = location.as_object_mut() {
            location.insert("message".to_owned(), json!({ "text": label.text }));
        }
        location
    });
    let within = if report.is_schema() { &line.pointer } else { within_tool(&line.pointer) };
    let parts = [line.subject.as_bytes(), line.code().as_bytes(), within.as_bytes()];
    let suppressions = match line.known {
        None => json!([]),
        Some(Known::Allowed) => {
            json!([{ "kind": "external", "justification": "allowed on the command line" }])
        }
        Some(Known::Baseline) => json!([{ "kind": "external", "justification": "known from the baseline" }]),
    };
    json!({
        "ruleId": line.code(),
        "ruleIndex": codes.binary_search(&line.code()).unwrap_or_default(),
        "level": line.severity().word(),
        "message": { "text": message },
        "locations": [location],
        "relatedLocations": related.collect::<Vec<_>>(),
        "partialFingerprints": { "callgate/1": Digest::of("finding", &parts).to_string() },
        "suppressions": suppressions,
    })
}

/// A file's name as a reference to a URI: what is not plain is escaped, byte by byte.
fn uri(file: &str) -> String {
    use std::fmt::Write as _;
    let mut uri = String::with_capacity(file.len());
    for byte in file.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

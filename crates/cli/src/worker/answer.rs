//! Answers in the worker's form.

use callgate_schema::Finding;
use callgate_schema::json::write_string;
use callgate_wire::ValueError;

/// What is answered.
#[derive(Debug)]
pub(super) enum Answer {
    /// `ok: true`, with the warnings if the operation has such, and further members as JSON text.
    Fine { warnings: Option<Vec<Finding>>, members: Vec<(&'static str, String)> },
    /// `ok: false`, with a value of the wire that was not taken.
    Malformed(ValueError),
    /// `ok: false`, with at least one finding.
    Refused { findings: Vec<Finding>, truncated: bool },
}

impl Answer {
    pub(super) fn refused(findings: Vec<Finding>) -> Self {
        Answer::Refused { findings, truncated: false }
    }
}

/// The answer as one line of JSON. `id` is JSON text.
pub(super) fn write(id: &[u8], answer: &Answer) -> Vec<u8> {
    let mut out = b"{\"id\":".to_vec();
    out.extend_from_slice(id);
    match answer {
        Answer::Fine { warnings, members } => {
            out.extend_from_slice(b",\"ok\":true");
            for (name, value) in members {
                out.push(b',');
                write_string(&mut out, name);
                out.push(b':');
                out.extend_from_slice(value.as_bytes());
            }
            if let Some(warnings) = warnings {
                list(&mut out, "warnings", warnings);
            }
        }
        Answer::Malformed(error) => {
            out.extend_from_slice(b",\"ok\":false,\"class\":");
            write_string(&mut out, error.class().as_str());
            out.extend_from_slice(b",\"errors\":[");
            error.write_json(&mut out);
            out.push(b']');
        }
        Answer::Refused { findings, truncated } => {
            out.extend_from_slice(b",\"ok\":false");
            if let Some(first) = findings.first() {
                out.extend_from_slice(b",\"class\":");
                write_string(&mut out, first.class().as_str());
            }
            list(&mut out, "errors", findings);
            if *truncated {
                out.extend_from_slice(b",\"truncated\":true");
            }
        }
    }
    out.push(b'}');
    out
}

fn list(out: &mut Vec<u8>, name: &str, findings: &[Finding]) {
    out.push(b',');
    write_string(out, name);
    out.extend_from_slice(b":[");
    for (at, finding) in findings.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        finding.write_json(out);
    }
    out.push(b']');
}

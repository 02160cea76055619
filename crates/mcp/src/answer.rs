//! The frames that the gate writes itself, without the line's end.

use callgate_gateway::Refusal;
use callgate_schema::Finding;
use callgate_schema::json::write_string;
use callgate_wire::{Class, Code};

use crate::RequestId;
use crate::error_map::{CallReply, call_reply};
use crate::outcome::Notice;
use crate::revision::{self, Revision};
use crate::rpc;

/// Findings that an answer carries. What is beyond is counted in the text only.
const FINDINGS_MAX: usize = 20;

/// A JSON-RPC error, with what is behind it in `data`.
pub fn error(
    id: Option<&RequestId>,
    number: i64,
    code: Code,
    message: &str,
    findings: &[Finding],
) -> Vec<u8> {
    let mut out = head(id);
    out.extend_from_slice(format!(",\"error\":{{\"code\":{number},\"message\":").as_bytes());
    write_string(&mut out, message);
    out.extend_from_slice(b",\"data\":{\"code\":");
    write_string(&mut out, code.as_str());
    out.extend_from_slice(b",\"class\":");
    write_string(&mut out, class(code, findings).as_str());
    write_findings(&mut out, findings);
    out.extend_from_slice(b"}}}");
    out
}

/// The answer to a call that was refused: an error where the call is not one that could be made, else a result.
pub fn refusal(id: &RequestId, refusal: &Refusal) -> Vec<u8> {
    match call_reply(refusal.code) {
        CallReply::Result => result(id, &Notice::refusal(refusal, None).to_result()),
        CallReply::Error(number) => {
            let message = match &refusal.help {
                Some(help) => format!("{}; {help}", refusal.message),
                None => refusal.message.clone(),
            };
            error(Some(id), number, refusal.code, &message, &refusal.findings)
        }
    }
}

/// A JSON-RPC error of the protocol itself, which no code of the gate stands behind.
pub fn plain_error(id: &RequestId, number: i64, message: &str) -> Vec<u8> {
    let mut out = head(Some(id));
    out.extend_from_slice(format!(",\"error\":{{\"code\":{number},\"message\":").as_bytes());
    write_string(&mut out, message);
    out.extend_from_slice(b"}}");
    out
}

/// A request of a revision that is not spoken here: says which ones are.
pub fn unsupported_version(id: Option<&RequestId>, requested: &str) -> Vec<u8> {
    unsupported(id, requested, |_| true)
}

/// The same over HTTP.
pub fn unsupported_version_over_http(id: Option<&RequestId>, requested: &str) -> Vec<u8> {
    unsupported(id, requested, |revision| revision.over_http)
}

fn unsupported(id: Option<&RequestId>, requested: &str, is_spoken: impl Fn(&Revision) -> bool) -> Vec<u8> {
    let mut out = head(id);
    let code = rpc::UNSUPPORTED_VERSION;
    out.extend_from_slice(format!(",\"error\":{{\"code\":{code},\"message\":").as_bytes());
    write_string(&mut out, "expected a revision that is spoken here, found another");
    out.extend_from_slice(b",\"data\":{\"supported\":[");
    write_string(&mut out, revision::MODERN);
    for revision in revision::ALL.iter().filter(|revision| is_spoken(revision)) {
        out.push(b',');
        write_string(&mut out, revision.date);
    }
    out.extend_from_slice(b"],\"requested\":");
    write_string(&mut out, requested);
    out.extend_from_slice(b"}}}");
    out
}

/// A JSON-RPC error whose `error` is this JSON text.
pub fn relayed_error(id: &RequestId, error: &str) -> Vec<u8> {
    let mut out = head(Some(id));
    out.extend_from_slice(b",\"error\":");
    out.extend_from_slice(error.as_bytes());
    out.push(b'}');
    out
}

/// An answer whose `result` is this JSON text.
pub fn result(id: &RequestId, result: &[u8]) -> Vec<u8> {
    let mut out = head(Some(id));
    out.extend_from_slice(b",\"result\":");
    out.extend_from_slice(result);
    out.push(b'}');
    out
}

/// Tells the upstream that nobody waits for this request's answer any more.
pub fn cancelled(request: &RequestId, reason: &str) -> Vec<u8> {
    let mut out = format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{},\"reason\":",
        request.raw()
    )
    .into_bytes();
    write_string(&mut out, reason);
    out.extend_from_slice(b"}}");
    out
}

/// The class of a code, or the narrower one of its first finding.
pub(crate) fn class(code: Code, findings: &[Finding]) -> Class {
    findings.first().map_or(code.class(), |finding| finding.class().into())
}

/// Appends `,"errors":[…]`, or nothing where there are none.
pub(crate) fn write_findings(out: &mut Vec<u8>, findings: &[Finding]) {
    if findings.is_empty() {
        return;
    }
    out.extend_from_slice(b",\"errors\":[");
    for (i, finding) in findings.iter().take(FINDINGS_MAX).enumerate() {
        if i > 0 {
            out.push(b',');
        }
        finding.write_json(out);
    }
    out.push(b']');
}

fn head(id: Option<&RequestId>) -> Vec<u8> {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{}", id.map_or("null", RequestId::raw)).into_bytes()
}

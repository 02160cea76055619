//! What stands in `_meta` between the gate and its clients: the key by which a call is known again, the token of its
//! progress, and how it ended.

use axum::http::HeaderMap;
use callgate_gateway::Refusal;
use callgate_mcp::{FrameLimits, reserved};
use callgate_schema::json::{Node, Tape};
use callgate_wire::{Code, Intent, Settlement};

/// Bytes of a key or the name of a run.
const TEXT_BYTES_MAX: usize = 256;
/// The header that is the caller's key for a call, where the transport has headers.
const KEY_HEADER: &str = "idempotency-key";

/// The caller's key for a call, from its `_meta` or a header. One that is no key is refused: who gave it counts on it.
///
/// # Errors
/// `call-malformed`.
pub(super) fn key(
    frame: &[u8],
    headers: Option<&HeaderMap>,
    limits: &FrameLimits,
) -> Result<Option<String>, Refusal> {
    let in_meta = text(frame, limits, reserved::KEY)?;
    let mut values = headers.into_iter().flat_map(|headers| headers.get_all(KEY_HEADER));
    let in_header = match (values.next(), values.next()) {
        (None, _) => None,
        (Some(only), None) => {
            let text = only.to_str().ok().filter(|text| is_text(text));
            Some(text.ok_or_else(|| malformed("the header `Idempotency-Key`"))?.to_owned())
        }
        (Some(_), Some(_)) => return Err(malformed("the header `Idempotency-Key`, once,")),
    };
    match (in_meta, in_header) {
        (Some(one), Some(other)) if one != other => {
            Err(malformed("one key, the same in `_meta` and the header,"))
        }
        (one, other) => Ok(one.or(other)),
    }
}

/// The run that a call names.
///
/// # Errors
/// `call-malformed`.
pub(super) fn run(frame: &[u8], limits: &FrameLimits) -> Result<Option<String>, Refusal> {
    text(frame, limits, reserved::RUN)
}

/// The token of a call's progress, as JSON text.
pub(super) fn progress(frame: &[u8], limits: &FrameLimits) -> Option<String> {
    member(frame, limits, "progressToken", |node| node.raw_str().to_owned())
}

fn text(frame: &[u8], limits: &FrameLimits, name: &str) -> Result<Option<String>, Refusal> {
    let found = member(frame, limits, name, |node| {
        let text = node.as_str().filter(|text| is_text(text));
        text.map(std::borrow::Cow::into_owned).ok_or_else(|| malformed(&format!("`{name}` in `_meta`")))
    });
    found.transpose()
}

fn is_text(text: &str) -> bool {
    (1..=TEXT_BYTES_MAX).contains(&text.len())
}

fn malformed(what: &str) -> Refusal {
    let message = format!("expected {what} as a text of 1 to {TEXT_BYTES_MAX} bytes, found something else");
    Refusal::new(Code::CallMalformed, message)
}

fn member<T>(frame: &[u8], limits: &FrameLimits, name: &str, read: impl FnOnce(Node<'_>) -> T) -> Option<T> {
    let mut tape = Tape::new();
    let root = tape.read(frame, &limits.frame_text()).ok()?;
    Some(read(root.member("params")?.member("_meta")?.member(name)?))
}

/// How a call ended, as a member of the `_meta` of its result.
pub(super) fn outcome(intent: &Intent, settlement: &Settlement) -> Vec<u8> {
    let code = settlement.code.map(|code| format!(",\"code\":\"{}\"", code.as_str())).unwrap_or_default();
    format!(
        "\"{}call\":{{\"intent\":\"{}\",\"stage\":\"settle\",\"state\":\"{}\",\"side_effect\":\"{}\"{code}}}",
        reserved::PREFIX,
        intent.id,
        settlement.state.as_str(),
        settlement.side_effect.as_str(),
    )
    .into_bytes()
}

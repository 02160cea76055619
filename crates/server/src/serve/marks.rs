//! What stands in `_meta` between the gate and its clients: the key by which a call is known again, the token of its
//! progress, and how it ended.

use callgate_mcp::{FrameLimits, reserved};
use callgate_schema::json::{Node, Tape};
use callgate_wire::{Intent, Settlement};

/// The member of a call's `_meta` that is the caller's key for it.
pub(crate) const KEY: &str = "dev.callgate/idempotencyKey";
/// The member of a call's `_meta` that names the run that it belongs to.
pub(crate) const RUN: &str = "dev.callgate/run";
/// Bytes of such a key or run.
pub(crate) const KEY_BYTES_MAX: usize = 256;

/// The caller's key for a call.
pub(super) fn key(frame: &[u8], limits: &FrameLimits) -> Option<String> {
    text(frame, limits, KEY)
}

/// The run that a call belongs to.
pub(super) fn run(frame: &[u8], limits: &FrameLimits) -> Option<String> {
    text(frame, limits, RUN)
}

/// The token of a call's progress, as JSON text.
pub(super) fn progress(frame: &[u8], limits: &FrameLimits) -> Option<String> {
    member(frame, limits, "progressToken", |node| Some(node.raw_str().to_owned()))
}

fn text(frame: &[u8], limits: &FrameLimits, name: &str) -> Option<String> {
    let text = member(frame, limits, name, |node| node.as_str().map(std::borrow::Cow::into_owned))?;
    (!text.is_empty() && text.len() <= KEY_BYTES_MAX).then_some(text)
}

fn member<T>(
    frame: &[u8],
    limits: &FrameLimits,
    name: &str,
    read: impl FnOnce(Node<'_>) -> Option<T>,
) -> Option<T> {
    let mut tape = Tape::new();
    let root = tape.read(frame, &limits.frame_text()).ok()?;
    read(root.member("params")?.member("_meta")?.member(name)?)
}

/// How a call ended, as a member of the `_meta` of its result.
pub(super) fn outcome(intent: &Intent, settlement: &Settlement, _limits: &FrameLimits) -> Vec<u8> {
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

//! The text of a `serde_json::Value`, as the reader would want it.

use std::io::Write as _;

use serde_json::Value;

use crate::json::{ReadLimits, write_string};
use crate::{Code, Detail, Finding};

/// The compact text of a value.
///
/// # Errors
/// The finding of a value that is deeper than a text may be; it is found before the stack could end.
pub(super) fn of(value: &Value, limits: &ReadLimits) -> Result<Vec<u8>, Box<Finding>> {
    let mut text = Vec::new();
    if write(&mut text, value, limits.depth_max) {
        return Ok(text);
    }
    let name = format!("{}_depth", limits.subject);
    let message = format!("expected a value at most {} deep, found a deeper one", limits.depth_max);
    Err(Box::new(
        Finding::new(Code::LimitExceeded, message)
            .with("limit", Detail::Text(name))
            .with("maximum", Detail::Count(limits.depth_max)),
    ))
}

/// `false` if the value has more containers within each other than `left`.
fn write(text: &mut Vec<u8>, value: &Value, left: u64) -> bool {
    match value {
        Value::Null => text.extend_from_slice(b"null"),
        Value::Bool(true) => text.extend_from_slice(b"true"),
        Value::Bool(false) => text.extend_from_slice(b"false"),
        // Writing to memory does not fail.
        Value::Number(number) => _ = write!(text, "{number}"),
        Value::String(string) => write_string(text, string),
        Value::Array(items) => {
            let Some(left) = left.checked_sub(1) else { return false };
            for (index, item) in items.iter().enumerate() {
                text.push(if index == 0 { b'[' } else { b',' });
                if !write(text, item, left) {
                    return false;
                }
            }
            text.extend_from_slice(if items.is_empty() { b"[]" } else { b"]" });
        }
        Value::Object(members) => {
            let Some(left) = left.checked_sub(1) else { return false };
            for (index, (name, member)) in members.iter().enumerate() {
                text.push(if index == 0 { b'{' } else { b',' });
                write_string(text, name);
                text.push(b':');
                if !write(text, member, left) {
                    return false;
                }
            }
            text.extend_from_slice(if members.is_empty() { b"{}" } else { b"}" });
        }
    }
    true
}

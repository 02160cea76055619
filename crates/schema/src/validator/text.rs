//! The text of a `serde_json::Value`, as the reader would want it.

use std::io::Write as _;

use serde_json::Value;

use crate::json::{ReadLimits, write_string};
use crate::{Code, Detail, Finding};

/// Room that a text has at first: that of most arguments.
const BYTES_FIRST: usize = 512;

/// The compact text of a value.
///
/// # Errors
/// The finding of a value that is deeper than a text may be; it is found before the stack could end.
pub(super) fn of(value: &Value, limits: &ReadLimits) -> Result<Vec<u8>, Box<Finding>> {
    let mut text = Vec::with_capacity(BYTES_FIRST);
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

/// Most numbers of arguments are whole and short.
fn write_whole(text: &mut Vec<u8>, mut whole: u64) {
    // 2^64 has twenty digits.
    let mut digits = [0; 20];
    let mut first = digits.len();
    for (place, digit) in digits.iter_mut().enumerate().rev() {
        *digit = b'0' + u8::try_from(whole % 10).unwrap_or_default();
        whole /= 10;
        first = place;
        if whole == 0 {
            break;
        }
    }
    text.extend_from_slice(digits.get(first..).unwrap_or_default());
}

/// `false` if the value has more containers within each other than `left`.
fn write(text: &mut Vec<u8>, value: &Value, left: u64) -> bool {
    match value {
        Value::Null => text.extend_from_slice(b"null"),
        Value::Bool(true) => text.extend_from_slice(b"true"),
        Value::Bool(false) => text.extend_from_slice(b"false"),
        // Writing to memory does not fail.
        Value::Number(number) => match number.as_u64() {
            Some(whole) => write_whole(text, whole),
            None => _ = write!(text, "{number}"),
        },
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_what_serde_json_writes() {
        let limits = crate::Limits::default().arguments_text();
        for text in [
            "[0,9,10,18446744073709551615,-1,0.5,1e300]",
            r#"{"":"","a\"b\\c\n\u0001é":["plain","eight by","sixteen bytes ok","quote at 8\"","\u001f"]}"#,
            r#"[{},[],null,true,false,"\u0000\b\f\r\t"]"#,
        ] {
            let value: Value = serde_json::from_str(text).unwrap();
            assert_eq!(of(&value, &limits).unwrap(), serde_json::to_vec(&value).unwrap());
        }
    }
}

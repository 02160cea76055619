//! Objects, arrays, texts and times of records, for programs.

use callgate_schema::json::write_string;
use callgate_wire::Timestamp;

/// A time by RFC 3339, in UTC.
pub fn time(at: Timestamp) -> String {
    match jiff::Timestamp::from_millisecond(at.0) {
        Ok(time) => format!("{time:.3}"),
        Err(_) => format!("{} ms", at.0),
    }
}

/// A JSON object; members that are not known are `null`. The values are JSON.
pub fn object(members: &[(&str, Option<String>)]) -> String {
    let members: Vec<String> = members
        .iter()
        .map(|(name, value)| format!("\"{name}\":{}", value.as_deref().unwrap_or("null")))
        .collect();
    format!("{{{}}}", members.join(","))
}

/// A JSON array, one item a line.
pub fn array(items: &[String]) -> String {
    if items.is_empty() { "[]\n".to_owned() } else { format!("[\n{}\n]\n", items.join(",\n")) }
}

/// A text as JSON.
pub fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    write_string(&mut out, text);
    String::from_utf8_lossy(&out).into_owned()
}

//! Whether an answer holds what a row wants of it.

use serde_json::Value;

/// The first place at which `found` does not hold what is wanted.
pub(super) fn holds(wanted: &Value, found: &Value, place: &str) -> Result<(), String> {
    match (wanted, found) {
        (Value::Object(wanted), Value::Object(found)) => {
            for (name, wanted) in wanted {
                let place = format!("{place}/{name}");
                match (wanted, found.get(name)) {
                    (Value::String(word), None) if word == "-" => {}
                    (_, None) => return Err(format!("{place} is not there")),
                    (_, Some(found)) => holds(wanted, found, &place)?,
                }
            }
            Ok(())
        }
        (Value::Array(wanted), Value::Array(found)) if wanted.len() == found.len() => {
            let pairs = wanted.iter().zip(found).enumerate();
            for (index, (wanted, found)) in pairs {
                holds(wanted, found, &format!("{place}/{index}"))?;
            }
            Ok(())
        }
        (Value::String(wanted), Value::String(found)) if wanted.starts_with('~') => {
            let part = wanted.trim_start_matches('~');
            if found.contains(part) { Ok(()) } else { Err(format!("{place} is {found:?} without {part:?}")) }
        }
        _ if wanted == found => Ok(()),
        _ => Err(format!("{place} is {found}, expected {wanted}")),
    }
}

//! How records look: ids and digests in short, times, one fact a line; and what the same is for programs.

use std::fmt::Write as _;

pub(crate) use callgate_server::records::json::{array, object, quoted, time};
use callgate_wire::Timestamp;

use super::escape::one_line;

/// Characters of an id or a digest that tell it from the others in a table.
const SHORT_CHARS: usize = 12;

/// Ids of one moment begin alike: it is their ends that differ, and every verb takes those.
pub(crate) fn end(id: &str) -> &str {
    id.get(id.len().saturating_sub(SHORT_CHARS)..).unwrap_or(id)
}

/// The beginning of a digest.
pub(crate) fn beginning(digest: &str) -> &str {
    digest.get(..SHORT_CHARS).unwrap_or(digest)
}

/// A time of this year, in UTC.
pub(crate) fn short_time(at: Timestamp) -> String {
    match jiff::Timestamp::from_millisecond(at.0) {
        Ok(time) => time.strftime("%m-%d %H:%M:%S").to_string(),
        Err(_) => time(at),
    }
}

/// How long it is from `now` until `at`, in one unit: `in 4 min`, `12 s ago`.
pub(crate) fn distance(now: Timestamp, at: Timestamp) -> String {
    let ms = at.0.saturating_sub(now.0);
    let seconds = ms.unsigned_abs() / 1_000;
    let (count, unit) = match seconds {
        0..120 => (seconds, "s"),
        120..7_200 => (seconds / 60, "min"),
        7_200..172_800 => (seconds / 3_600, "h"),
        _ => (seconds / 86_400, "days"),
    };
    if ms < 0 { format!("{count} {unit} ago") } else { format!("in {count} {unit}") }
}

/// A fact a line.
pub(crate) fn facts(facts: &[(&str, String)]) -> String {
    facts.iter().fold(String::new(), |mut text, (name, fact)| {
        let _ = writeln!(text, "{name:<18}{}", one_line(fact));
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distance_has_one_unit_that_a_person_can_use() {
        let texts: Vec<String> =
            [-90_000, -1, 0, 1_999, 119_999, 120_000, 7_200_000, 172_800_000, 864_000_000]
                .iter()
                .map(|&ms| distance(Timestamp(1_000), Timestamp(1_000 + ms)))
                .collect();
        assert_eq!(
            texts,
            [
                "90 s ago",
                "0 s ago",
                "in 0 s",
                "in 1 s",
                "in 119 s",
                "in 2 min",
                "in 2 h",
                "in 2 days",
                "in 10 days"
            ]
        );
        assert!(distance(Timestamp(i64::MIN), Timestamp(i64::MAX)).starts_with("in "));
    }
}

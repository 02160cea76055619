//! The parts that bombs are made of.

use callgate_schema::Profile;

use crate::Question::{self, Check, Coerce, Formats, Preflight};

/// `count` parts, joined by commas.
pub(crate) fn list(count: usize, part: impl Fn(usize) -> String) -> String {
    (0..count).map(part).collect::<Vec<_>>().join(",")
}

pub(crate) fn array(count: usize, item: impl Fn(usize) -> String) -> String {
    format!("[{}]", list(count, item))
}

pub(crate) fn object(count: usize, member: impl Fn(usize) -> String) -> String {
    format!("{{{}}}", list(count, member))
}

/// `levels` definitions, each of which asks the one below twice.
pub(crate) fn doubled(keyword: &str, reference: &str, anchor: &str, leaf: &str, levels: usize) -> String {
    let level = |at: usize| {
        let below = match reference {
            "$ref" => format!("{{\"$ref\":\"#/$defs/l{}\"}}", at - 1),
            _ => format!("{{\"{reference}\":\"#l{}\"}}", at - 1),
        };
        format!("\"l{at}\":{{{}\"{keyword}\":[{below},{below}]}}", anchor.replace('?', &at.to_string()))
    };
    let levels = list(levels, |at| level(at + 1));
    let anchor = anchor.replace('?', "0");
    format!("\"l0\":{{{anchor}{leaf}}},{levels}")
}

pub(crate) fn check(schema: impl Into<String>, value: impl Into<String>) -> Question {
    Check { schema: schema.into(), value: value.into() }
}

pub(crate) fn formats_of(schema: &str, value: impl Into<String>) -> Question {
    Formats { schema: schema.into(), value: value.into() }
}

pub(crate) fn preflight(schema: impl Into<String>) -> Question {
    Preflight { schema: schema.into() }
}

pub(crate) fn pattern(pattern: impl Into<String>, text: impl Into<String>) -> Question {
    Question::Pattern { pattern: pattern.into(), text: text.into() }
}

pub(crate) fn coerce(profile: Profile, schema: impl Into<String>, arguments: impl Into<String>) -> Question {
    Coerce { schema: schema.into(), arguments: arguments.into(), profile }
}

/// `inner` within so many objects, each under the name `v`.
pub(crate) fn nested(levels: usize, inner: &str) -> String {
    format!("{}{inner}{}", "{\"v\":".repeat(levels), "}".repeat(levels))
}

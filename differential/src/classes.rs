//! The classes of differences. Each is explained in `docs/reference/differences.md`.

use callgate_schema::Limits;
use callgate_schema::json::Document;

use crate::peers::Answer;

/// A difference, with what may explain it.
pub struct Difference<'a> {
    pub peer: &'static str,
    pub schema: &'a str,
    pub value: &'a str,
    pub ours: &'a Answer,
    pub theirs: &'a Answer,
}

/// Why two validators differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// The schema is of a dialect that is neither 2020-12 nor draft-07.
    OtherDialect,
    /// `contentEncoding` and `contentMediaType` of draft-07 are asserted.
    Content,
    /// A pattern is none of ECMA-262 with the `u` flag.
    PatternSyntax,
    /// Numbers are taken as doubles.
    Doubles,
    /// The language of patterns has no lookaround and no backreferences.
    Lookaround,
    /// A draft-07 `enum` with equal members is refused.
    EnumRepeats,
    /// No class explains it.
    Unexplained,
}

/// The class of a difference.
pub fn of(difference: &Difference<'_>) -> Class {
    let Difference { peer, schema, value, ours, theirs } = difference;
    match (ours, theirs) {
        (Answer::Refused(why), _) if why.contains("expected a schema of 2020-12 or draft-07") => {
            Class::OtherDialect
        }
        (Answer::Refused(why), _) if why.contains("of ECMA-262") => Class::PatternSyntax,
        (_, Answer::Refused(why)) if *peer == "boon" && why.contains("not supported") => Class::Lookaround,
        (_, Answer::Refused(why)) if *peer == "boon" && why.contains("/enum': items at") => {
            Class::EnumRepeats
        }
        (Answer::Valid, Answer::Invalid) if *peer == "jsonschema" && schema.contains("\"content") => {
            Class::Content
        }
        _ if *peer == "boon" && (has_number(schema, is_inexact) || has_number(value, is_inexact)) => {
            Class::Doubles
        }
        _ if *peer == "jsonschema"
            && (has_number(schema, is_spelt_beyond) || has_number(value, is_spelt_beyond)) =>
        {
            Class::Doubles
        }
        _ => Class::Unexplained,
    }
}

/// Whether there is such a number in the text.
fn has_number(text: &str, such: fn(&str) -> bool) -> bool {
    let Ok(document) = Document::read(text.as_bytes(), &Limits::default().arguments_text()) else {
        return true;
    };
    let mut open = vec![document.root()];
    while let Some(node) = open.pop() {
        if node.as_number().is_some() && such(node.raw_str()) {
            return true;
        }
        open.extend(node.items());
        open.extend(node.members().map(|member| member.value()));
    }
    false
}

/// Whether a number is not whole, or so large that it or a remainder of it may lose a digit in a double.
fn is_inexact(text: &str) -> bool {
    is_beyond(text) || !text.parse::<f64>().is_ok_and(|number| number.fract() == 0.0) || text.len() >= 16
}

/// The same of a number that is spelt with a fraction or an exponent, and no double at all.
fn is_spelt_beyond(text: &str) -> bool {
    text.contains(['.', 'e', 'E']) && is_beyond(text)
}

/// Whether a number is too large for a double to hold each whole one of its size, or so small that a double is zero.
fn is_beyond(text: &str) -> bool {
    const LARGEST: f64 = 9_007_199_254_740_991.0;
    let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
    let is_zero = !mantissa.contains(|c: char| ('1'..='9').contains(&c));
    !text.parse::<f64>().is_ok_and(|number| number.abs() < LARGEST && (number != 0.0 || is_zero))
}

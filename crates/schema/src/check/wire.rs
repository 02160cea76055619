//! The words and paths of profile `wire`: what text-map transports have always answered.

use std::fmt::Write as _;

use crate::types::article;
use crate::{Code, Detail, Finding, Location, Step};

/// What profile `wire` adds to a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireForm {
    /// `root_not_object`, `unknown_property`, `missing_property`, `wrong_type`, `not_in_enum`, `below_minimum` or
    /// `above_maximum`.
    pub kind: &'static str,
    /// The way to the value, such as `a[0].b`; for unknown and missing members, to their object. Empty at the root.
    pub path: String,
}

/// The finding in the profile's words.
pub(crate) fn rephrased(mut finding: Finding, place: &Location) -> Finding {
    let path = path(place);
    let property = detail(&finding, "property");
    let at = if path.is_empty() { String::new() } else { format!(" at \"{path}\"") };
    let limit = |name| detail(&finding, name).unwrap_or_default();
    let (kind, message) = match finding.code {
        Code::PropertyUnexpected => {
            ("unknown_property", format!("unknown argument \"{}\"{at}", property.unwrap_or_default()))
        }
        Code::PropertyMissing => (
            "missing_property",
            format!("missing required argument \"{}\"{at}", property.unwrap_or_default()),
        ),
        Code::TypeMismatch => {
            let wanted = limit("type");
            let wanted = wanted.trim_matches('"');
            ("wrong_type", format!("argument \"{path}\" must be {} {wanted}", article(wanted)))
        }
        Code::EnumMismatch => {
            ("not_in_enum", format!("argument \"{path}\" must be {}", choices(&finding.message)))
        }
        Code::NumberTooSmall => {
            ("below_minimum", format!("argument \"{path}\" must be at least {}", limit("minimum")))
        }
        Code::NumberTooLarge => {
            ("above_maximum", format!("argument \"{path}\" must be at most {}", limit("maximum")))
        }
        _ => return finding,
    };
    finding.message = message;
    finding.wire = Some(WireForm { kind, path });
    finding
}

/// The choices, as the message of `enum` names them.
fn choices(message: &str) -> String {
    let expected = message.strip_prefix("expected ").unwrap_or(message);
    let expected = expected.rsplit_once(", found ").map_or(expected, |(expected, _)| expected);
    if expected.starts_with("one of") { expected.to_owned() } else { format!("one of {expected}") }
}

fn detail(finding: &Finding, name: &str) -> Option<String> {
    finding.details.iter().find(|(known, _)| *known == name).map(|(_, detail)| match detail {
        Detail::Text(text) | Detail::Json(text) => text.clone(),
        Detail::Count(count) => count.to_string(),
    })
}

/// Names joined by dots, indexes in brackets, nothing escaped.
fn path(place: &Location) -> String {
    let mut path = String::new();
    for step in &place.0 {
        match step {
            Step::Name(name) => {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(name);
            }
            // Writing to a text does not fail.
            Step::Index(index) => _ = write!(path, "[{index}]"),
        }
    }
    path
}

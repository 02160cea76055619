//! URIs with variables in their path.

use std::collections::HashMap;

use super::uri::{Parts, decoded};
use crate::{ValueCode, ValueError};

/// The variables of a template that names none where its schema is asked for.
pub const TEMPLATE_VARIABLES_DEFAULT: &[&str] = &["count"];

/// A template of URIs: `demoapp://resource/app/{id}`.
///
/// A segment of the path that is wholly in braces is a variable; braces elsewhere are ordinary text. Port, query and
/// fragment count neither in the template nor in what it is matched with.
///
/// ```
/// use callgate_wire::UriTemplate;
/// let template = UriTemplate::new("demoapp://resource/app/{id}")?;
/// assert_eq!(template.variables().collect::<Vec<_>>(), ["id"]);
/// let captured = template.captures("DEMOAPP://resource/app/a%20b?x=1").unwrap();
/// assert_eq!(captured, [("id".to_owned(), "a b".to_owned())]);
/// assert!(template.captures("demoapp://resource/app").is_none());
/// # Ok::<(), callgate_wire::ValueError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UriTemplate {
    text: String,
}

impl UriTemplate {
    /// Reads a template.
    ///
    /// # Errors
    /// `uri-template` without a scheme, with a literal that is not percent-encoded as it should be, or with a variable
    /// whose name is empty or holds a brace.
    pub fn new(text: impl Into<String>) -> Result<UriTemplate, ValueError> {
        let text = text.into();
        let parts = Parts::of(&text);
        let parts =
            parts.ok_or_else(|| malformed("expected a scheme and a colon at the start, found none"))?;
        for segment in parts.segments() {
            match variable(segment) {
                Some(name) => check_variable(name)?,
                None if decoded(segment).is_none() => {
                    return Err(malformed(
                        "expected two hexadecimal digits after `%`, and UTF-8, found others",
                    ));
                }
                None => {}
            }
        }
        Ok(UriTemplate { text })
    }

    /// The text of the template.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The names of the variables, in order; a name that stands twice comes twice.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        Parts::of(&self.text).into_iter().flat_map(Parts::segments).filter_map(variable)
    }

    /// What the variables are in a URI, each name once, in the order in which they first stand in the template; `None`
    /// if it does not match.
    ///
    /// Scheme and host are compared without letter case, segments with it and without percent-encoding. A variable takes
    /// one whole segment, an empty one too; of a name that stands twice the last value counts. A URI with a segment that
    /// is `.` or `..`, encoded or not, matches nothing: whoever resolves it would be led elsewhere.
    pub fn captures(&self, uri: &str) -> Option<Vec<(String, String)>> {
        let (ours, theirs) = (Parts::of(&self.text)?, Parts::of(uri)?);
        if !ours.scheme.eq_ignore_ascii_case(theirs.scheme) || !ours.host.eq_ignore_ascii_case(theirs.host) {
            return None;
        }
        let mut captured: Vec<(String, String)> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        let (mut segments, mut values) = (ours.segments(), theirs.segments());
        loop {
            let (segment, value) = match (segments.next(), values.next()) {
                (Some(segment), Some(value)) => (segment, decoded(value)?),
                (None, None) => return Some(captured),
                _ => return None,
            };
            if value == "." || value == ".." {
                return None;
            }
            match variable(segment) {
                None if decoded(segment)? != value => return None,
                None => {}
                Some(name) => {
                    if let Some((_, slot)) = places.get(name).and_then(|place| captured.get_mut(*place)) {
                        *slot = value.into_owned();
                    } else {
                        places.insert(name, captured.len());
                        captured.push((name.to_owned(), value.into_owned()));
                    }
                }
            }
        }
    }
}

/// The name of the variable that a segment is.
fn variable(segment: &str) -> Option<&str> {
    segment.strip_prefix('{')?.strip_suffix('}')
}

/// Whether a variable can have this name.
pub(super) fn check_variable(name: &str) -> Result<(), ValueError> {
    if name.is_empty() || name.contains(['{', '}']) {
        let message = "expected a variable's name without braces, found an empty one or braces in it";
        return Err(malformed(message).with_help("give each variable a segment of its own, such as `/{id}/`"));
    }
    Ok(())
}

fn malformed(message: &'static str) -> ValueError {
    ValueError::new(ValueCode::UriTemplate, message).in_field("template")
}

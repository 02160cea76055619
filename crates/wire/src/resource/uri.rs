//! Schemes, the URI of a resource by its name, and URIs taken apart.

use std::borrow::Cow;
use std::fmt;

use crate::{ValueCode, ValueError};

/// The scheme of an app's URIs: a letter, then letters, digits, `+`, `.` and `-` (RFC 3986, section 3.1).
///
/// ```
/// use callgate_wire::Scheme;
/// assert_eq!(Scheme::new("DemoApp")?.as_str(), "DemoApp");
/// assert_eq!(Scheme::new("demo_app").unwrap_err().code(), "uri-scheme");
/// # Ok::<(), callgate_wire::ValueError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Scheme(String);

impl Scheme {
    /// A scheme. The case of letters stays; nothing is trimmed.
    ///
    /// # Errors
    /// `uri-scheme` for any other text.
    pub fn new(text: impl Into<String>) -> Result<Scheme, ValueError> {
        let text = text.into();
        if is_scheme(&text) {
            return Ok(Scheme(text));
        }
        let message = "expected a letter and then letters, digits, `+`, `.` or `-`, found another text";
        Err(ValueError::new(ValueCode::UriScheme, message)
            .in_field("protocol_scheme")
            .with_help("write the scheme alone, such as `demoapp`, without `://`"))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_scheme(text: &str) -> bool {
    let rest = text.strip_prefix(|c: char| c.is_ascii_alphabetic());
    rest.is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_alphanumeric() || b"+.-".contains(&b)))
}

/// The URI of a resource: `scheme://resource/` and the name with each `_` as a `/`; `unknown` for an empty name.
///
/// Nothing is percent-encoded. Two names can have one URI, since the namespace of a resource is no part of it.
///
/// ```
/// use callgate_wire::{Scheme, resource_uri};
/// let scheme = Scheme::new("demoapp")?;
/// assert_eq!(resource_uri(&scheme, "cool_runtime_snapshot"), "demoapp://resource/cool/runtime/snapshot");
/// assert_eq!(resource_uri(&scheme, ""), "demoapp://resource/unknown");
/// # Ok::<(), callgate_wire::ValueError>(())
/// ```
pub fn resource_uri(scheme: &Scheme, name: &str) -> String {
    let path = if name.is_empty() { Cow::Borrowed("unknown") } else { Cow::Owned(name.replace('_', "/")) };
    format!("{scheme}://resource/{path}")
}

/// What templates look at of a URI.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parts<'a> {
    pub(super) scheme: &'a str,
    pub(super) host: &'a str,
    path: &'a str,
}

impl<'a> Parts<'a> {
    /// The parts of a text that has a scheme; what is not looked at may be anything.
    pub(super) fn of(uri: &'a str) -> Option<Parts<'a>> {
        let (scheme, rest) = uri.split_once(':')?;
        if !is_scheme(scheme) {
            return None;
        }
        let rest = rest.split(['?', '#']).next().unwrap_or_default();
        let Some(rest) = rest.strip_prefix("//") else { return Some(Parts { scheme, host: "", path: rest }) };
        let (authority, path) = rest.find('/').map_or((rest, ""), |slash| rest.split_at(slash));
        let host = authority.rsplit('@').next().unwrap_or_default();
        let host = match host.rfind(':') {
            // Not a colon within an IPv6 address.
            Some(colon) if !host.get(colon..).is_some_and(|port| port.contains(']')) => {
                host.get(..colon).unwrap_or_default()
            }
            _ => host,
        };
        Some(Parts { scheme, host, path })
    }

    /// The segments of the path, as they stand: none of `` and `/`, two of `/a/`.
    pub(super) fn segments(self) -> impl Iterator<Item = &'a str> {
        let path = self.path.strip_prefix('/').unwrap_or(self.path);
        (!path.is_empty()).then(|| path.split('/')).into_iter().flatten()
    }
}

/// A segment without its percent-encoding; `None` where that is broken or does not give UTF-8.
pub(super) fn decoded(segment: &str) -> Option<Cow<'_, str>> {
    if !segment.contains('%') {
        return Some(Cow::Borrowed(segment));
    }
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let (pair, tail) = tail.split_at_checked(2)?;
        let digit = |index: usize| char::from(*pair.get(index)?).to_digit(16);
        bytes.push(u8::try_from(digit(0)? << 4 | digit(1)?).ok()?);
        rest = tail;
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

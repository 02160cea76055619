//! URIs: resolution by RFC 3986, section 5, on URIs and IRIs alike.

use fluent_uri::{Iri, IriRef};

/// The base of a schema that names none. It cannot be named by a reference of anyone else's.
pub(crate) const BASE: &str = "callgate-schema:///";

/// A reference, resolved: what it names and where in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reference {
    /// Absolute, without a fragment.
    pub(crate) uri: String,
    /// As written, percent signs and all; empty if there was none.
    pub(crate) fragment: String,
}

impl Reference {
    /// Resolves `reference` against a base; `None` if it is no URI reference.
    pub(crate) fn resolve(base: &str, reference: &str) -> Option<Reference> {
        if let Some(fragment) = reference.strip_prefix('#') {
            if !fragment.bytes().all(is_plain) {
                IriRef::parse(reference).ok()?;
            }
            return Some(Reference { uri: base.to_owned(), fragment: fragment.to_owned() });
        }
        let base = Iri::parse(base).ok()?;
        let resolved = IriRef::parse(reference).ok()?.resolve_against(&base).ok()?.normalize();
        let (uri, fragment) = match resolved.as_str().split_once('#') {
            Some((uri, fragment)) => (uri.to_owned(), fragment.to_owned()),
            None => (resolved.as_str().to_owned(), String::new()),
        };
        Some(Reference { uri, fragment })
    }
}

/// Letters that a fragment may have, of which nearly all are made (RFC 3986, section 3.5).
const fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'$' | b'_' | b'-' | b'.')
}

/// Whether a text is a URI reference.
pub(crate) fn is_reference(text: &str) -> bool {
    IriRef::parse(text).is_ok()
}

pub(crate) fn without_fragment(uri: &str) -> &str {
    uri.split_once('#').map_or(uri, |(uri, _)| uri)
}

/// A fragment without its percent signs (RFC 3986, section 2.1); `None` if they are malformed or no UTF-8.
pub(crate) fn percent_decoded(fragment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first != b'%' {
            bytes.push(first);
            continue;
        }
        let (digits, after) = rest.split_at_checked(2)?;
        let digits = std::str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'))?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fragment_is_decoded_once_and_malformed_signs_are_refused() {
        assert_eq!(percent_decoded("/$defs/a%25b").as_deref(), Some("/$defs/a%b"));
        assert_eq!(percent_decoded("/%C3%A9").as_deref(), Some("/é"));
        assert_eq!(percent_decoded("/%"), None);
        assert_eq!(percent_decoded("/%+1"), None);
        assert_eq!(percent_decoded("/%FF"), None);
    }

    #[test]
    fn references_are_resolved_against_their_base() {
        let resolved = |base, reference| Reference::resolve(base, reference).map(|r| (r.uri, r.fragment));
        let of = |uri: &str, fragment: &str| Some((uri.to_owned(), fragment.to_owned()));
        assert_eq!(resolved("http://a.test/b/c", "../d#e"), of("http://a.test/d", "e"));
        assert_eq!(resolved("urn:uuid:deadbeef-1234", "#/$defs/a"), of("urn:uuid:deadbeef-1234", "/$defs/a"));
        assert_eq!(resolved(BASE, "item.json"), of("callgate-schema:///item.json", ""));
        assert_eq!(resolved(BASE, "#a b"), None);
    }
}

//! `uri`, `uri-reference` (RFC 3986), `iri`, `iri-reference` (RFC 3987).

use fluent_uri::{Iri, IriRef, Uri, UriRef};

pub(super) fn is_uri(text: &str) -> bool {
    Uri::parse(text).is_ok()
}

pub(super) fn is_uri_reference(text: &str) -> bool {
    UriRef::parse(text).is_ok()
}

pub(super) fn is_iri(text: &str) -> bool {
    Iri::parse(text).is_ok()
}

pub(super) fn is_iri_reference(text: &str) -> bool {
    IriRef::parse(text).is_ok()
}

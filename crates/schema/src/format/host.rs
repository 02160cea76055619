//! `hostname`, `idn-hostname`, `ipv4`, `ipv6`.

use core::net::{Ipv4Addr, Ipv6Addr};

use super::idna;

/// Bytes of a name on the wire, less those of its ends (RFC 1035, section 2.3.4).
const NAME_BYTES_MAX: usize = 253;
const LABEL_BYTES_MAX: usize = 63;

/// RFC 1123, section 2.1; labels in Punycode must stand for good ones (RFC 5891, section 5.4).
pub(super) fn is_hostname(text: &str) -> bool {
    text.len() <= NAME_BYTES_MAX
        && text.split('.').all(is_label)
        && (!text.split('.').any(is_punycode) || idna::to_unicode(text).is_some())
}

/// A host name, or one with U-labels (RFC 5890, section 2.3.2.3). They must be in normal form and lower case already;
/// only the separators may be any of the four of RFC 3490, section 3.1.
pub(super) fn is_idn_hostname(text: &str) -> bool {
    let name = text.replace(['\u{3002}', '\u{ff0e}', '\u{ff61}'], ".");
    if name.is_ascii() {
        return is_hostname(&name);
    }
    let Some(unicode) = mapped(&name) else { return false };
    name.split('.').zip(unicode.split('.')).all(|(given, good)| given.is_ascii() || given == good)
}

/// The same, whatever its letters' case and normal form: `idn-email` asks for labels in UTF-8 (RFC 6531, section 3.3).
pub(super) fn maps_to_hostname(text: &str) -> bool {
    if text.is_ascii() { is_hostname(text) } else { mapped(text).is_some() }
}

pub(super) fn is_ipv4(text: &str) -> bool {
    text.parse::<Ipv4Addr>().is_ok()
}

/// RFC 4291, section 2.2, without a zone.
pub(super) fn is_ipv6(text: &str) -> bool {
    text.parse::<Ipv6Addr>().is_ok()
}

fn mapped(name: &str) -> Option<String> {
    // Each code point of a U-label takes a byte of its A-label at least. Decides long texts before they cost more.
    let is_short = name.split('.').all(|label| label.chars().nth(LABEL_BYTES_MAX).is_none())
        && name.chars().nth(NAME_BYTES_MAX).is_none();
    if !is_short || !name.split('.').all(|label| !label.is_ascii() || is_label(label)) {
        return None;
    }
    idna::to_unicode(name)
}

fn is_label(label: &str) -> bool {
    (1..=LABEL_BYTES_MAX).contains(&label.len())
        && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        && !label.starts_with('-')
        && !label.ends_with('-')
}

fn is_punycode(label: &str) -> bool {
    label.get(..4).is_some_and(|prefix| prefix.eq_ignore_ascii_case("xn--"))
}

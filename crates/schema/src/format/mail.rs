//! `email`, `idn-email`: `Mailbox` of RFC 5321, section 4.1.2, and of RFC 6531, section 3.3.
//!
//! Written here, since libraries take the address of RFC 5322, with comments and folding, or ask nothing of an address
//! literal.

use super::host;

/// RFC 5321, section 4.5.3.1.1.
const LOCAL_PART_BYTES_MAX: usize = 64;

pub(super) fn is_email(text: &str) -> bool {
    text.is_ascii() && is_mailbox(text, host::is_hostname)
}

pub(super) fn is_idn_email(text: &str) -> bool {
    is_mailbox(text, host::maps_to_hostname)
}

fn is_mailbox(text: &str, is_domain: fn(&str) -> bool) -> bool {
    // Only the local part can have another `@`, within quotes.
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    local.len() <= LOCAL_PART_BYTES_MAX
        && (is_dot_string(local) || is_quoted_string(local))
        && match domain.strip_prefix('[').and_then(|domain| domain.strip_suffix(']')) {
            Some(literal) => is_address(literal),
            None => is_domain(domain),
        }
}

fn is_dot_string(text: &str) -> bool {
    let is_atext = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(c) || !c.is_ascii();
    text.split('.').all(|atom| !atom.is_empty() && atom.chars().all(is_atext))
}

fn is_quoted_string(text: &str) -> bool {
    let Some(inner) = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) else { return false };
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        let is_good = match c {
            '\\' => chars.next().is_some_and(|c| matches!(c, ' '..='~')),
            '"' => false,
            c => matches!(c, ' '..='~') || !c.is_ascii(),
        };
        if !is_good {
            return false;
        }
    }
    true
}

/// No tag but `IPv6` has been registered for the general form.
fn is_address(literal: &str) -> bool {
    match literal.split_at_checked(5) {
        Some((tag, address)) if tag.eq_ignore_ascii_case("IPv6:") => host::is_ipv6(address),
        _ => host::is_ipv4(literal),
    }
}

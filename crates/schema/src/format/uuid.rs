//! `uuid`: the form of RFC 4122, section 3, of any version and variant.
//!
//! Libraries also take the forms without hyphens, with braces and as a URN.

/// Where the hyphens stand.
const HYPHENS: [usize; 4] = [8, 13, 18, 23];

pub(super) fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match byte {
            b'-' => HYPHENS.contains(&at),
            byte => byte.is_ascii_hexdigit() && !HYPHENS.contains(&at),
        })
}

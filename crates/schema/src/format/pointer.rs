//! `json-pointer` (RFC 6901, section 3) and `relative-json-pointer` (draft-bhutton-relative-json-pointer-00, section 3).

pub(super) fn is_json_pointer(text: &str) -> bool {
    (text.is_empty() || text.starts_with('/'))
        && text.split('~').skip(1).all(|escaped| escaped.starts_with(['0', '1']))
}

/// The shift of an index (`0-1`) is taken for draft-07 too, whose own text has none.
pub(super) fn is_relative_json_pointer(text: &str) -> bool {
    let Some((up, mut rest)) = split_digits(text) else { return false };
    if up.len() > 1 && up.starts_with('0') {
        return false;
    }
    if let Some(shift) = rest.strip_prefix(['+', '-']) {
        match split_digits(shift) {
            Some((shift, after)) if !shift.starts_with('0') => rest = after,
            _ => return false,
        }
    }
    rest == "#" || is_json_pointer(rest)
}

fn split_digits(text: &str) -> Option<(&str, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 { None } else { text.split_at_checked(digits) }
}

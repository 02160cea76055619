//! `duration`: RFC 3339, appendix A. Its letters may be lower case, as all literal text of ABNF (RFC 5234, section 2.3).

pub(super) fn is_duration(text: &str) -> bool {
    let text = text.to_ascii_uppercase();
    let Some(rest) = text.strip_prefix('P') else { return false };
    match rest.split_once('T') {
        Some((date, time)) => (date.is_empty() || is_chain(date, b"YMD")) && is_chain(time, b"HMS"),
        None => is_chain(rest, b"YMD") || is_chain(rest, b"W"),
    }
}

/// At least one count with its unit; the units follow each other without a gap.
fn is_chain(text: &str, units: &[u8]) -> bool {
    let mut rest = text.as_bytes();
    let mut next = None;
    loop {
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let Some((unit, after)) = rest.get(digits..).and_then(<[u8]>::split_first) else { return false };
        let Some(at) = units.iter().position(|known| known == unit) else { return false };
        if digits == 0 || next.is_some_and(|next| next != at) {
            return false;
        }
        if after.is_empty() {
            return true;
        }
        (rest, next) = (after, Some(at + 1));
    }
}

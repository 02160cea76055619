//! `uri-template`: RFC 6570, section 2, of any level, with its erratum: the apostrophe is a literal.

pub(super) fn is_uri_template(text: &str) -> bool {
    let mut rest = text;
    while let Some((literal, after)) = rest.split_once('{') {
        let Some((expression, after)) = after.split_once('}') else { return false };
        if !is_literal(literal) || !is_expression(expression) {
            return false;
        }
        rest = after;
    }
    is_literal(rest)
}

fn is_literal(text: &str) -> bool {
    are_escapes_good(text) && text.chars().all(is_literal_char)
}

fn is_literal_char(c: char) -> bool {
    match c {
        '\0'..='\x7f' => !c.is_ascii_control() && !" \"<>\\^`{|}".contains(c),
        // What neither `ucschar` nor `iprivate` has.
        '\u{80}'..='\u{9f}'
        | '\u{fdd0}'..='\u{fdef}'
        | '\u{fff0}'..='\u{ffff}'
        | '\u{e0000}'..='\u{e0fff}' => false,
        c => u32::from(c) & 0xfffe != 0xfffe,
    }
}

/// Without its braces. The operators that are kept for later belong to the grammar.
fn is_expression(text: &str) -> bool {
    let variables =
        text.strip_prefix(['+', '#', '.', '/', ';', '?', '&', '=', ',', '!', '@', '|']).unwrap_or(text);
    variables.split(',').all(is_variable)
}

fn is_variable(text: &str) -> bool {
    if let Some(exploded) = text.strip_suffix('*') {
        return is_name(exploded);
    }
    match text.split_once(':') {
        Some((name, length)) => {
            is_name(name)
                && (1..=4).contains(&length.len())
                && length.bytes().all(|byte| byte.is_ascii_digit())
                && !length.starts_with('0')
        }
        None => is_name(text),
    }
}

fn is_name(text: &str) -> bool {
    let is_varchar = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'%';
    are_escapes_good(text) && text.split('.').all(|part| !part.is_empty() && part.bytes().all(is_varchar))
}

fn are_escapes_good(text: &str) -> bool {
    text.split('%').skip(1).all(|after| {
        let mut digits = after.bytes().take(2);
        let mut is_digit = || digits.next().is_some_and(|byte| byte.is_ascii_hexdigit());
        is_digit() && is_digit()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_whole_and_code_points_those_of_iris() {
        for good in ["{%41b}", "a%4a", "größe{+x:12,y*}", "\u{e000}\u{10fffd}"] {
            assert!(is_uri_template(good), "{good}");
        }
        for bad in ["{%4}", "a%", "a%4x", "{a%2.b}", "\u{fdd0}", "\u{1ffff}", "\u{e0001}", "{a:1*}", "{+}"] {
            assert!(!is_uri_template(bad), "{bad}");
        }
    }
}

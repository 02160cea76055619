//! Texts from elsewhere, made harmless for a terminal.

use std::fmt::Write as _;

/// A text as one line in which every character can be seen.
///
/// Names come from callers and tool servers. What could move the cursor, colour the terminal, turn the direction of
/// writing or forge a line of ours is written as JSON writes it: `\u001b`.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        push_visible(&mut line, c);
    }
    line
}

/// Appends a character as it can be seen.
pub(crate) fn push_visible(line: &mut String, c: char) {
    if !is_hidden(c) {
        line.push(c);
        return;
    }
    for unit in c.encode_utf16(&mut [0; 2]) {
        let _ = write!(line, "\\u{unit:04x}");
    }
}

/// Controls, line separators and format characters (the categories Cc, Zl, Zp and Cf of Unicode): none has a shape.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{600}'..='\u{605}'
                | '\u{61c}'
                | '\u{6dd}'
                | '\u{70f}'
                | '\u{890}'..='\u{891}'
                | '\u{8e2}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{110bd}'
                | '\u{110cd}'
                | '\u{13430}'..='\u{1343f}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_shape_is_written_as_json_writes_it() {
        assert_eq!(one_line("naïve 漢字 🦀 \\ \u{fffd}"), "naïve 漢字 🦀 \\ \u{fffd}");
        assert_eq!(one_line("a\u{1b}]0;t\u{7}\r\nb\u{9b}m"), "a\\u001b]0;t\\u0007\\u000d\\u000ab\\u009bm");
        assert_eq!(one_line("\u{202e}\u{2066}\u{200b}\u{feff}"), "\\u202e\\u2066\\u200b\\ufeff");
        assert_eq!(one_line("\u{2028}\u{e0041}"), "\\u2028\\udb40\\udc41");
    }
}

//! Texts that the server does not take as they are: none of its texts holds U+0000, and names of tools can.

use std::borrow::Cow;

/// Stands before what it stands for: `0` for U+0000, `1` for itself.
const ESCAPE: char = '\u{1a}';

/// The form that is stored, which is the text itself unless it holds U+0000 or U+001A. Different texts have different
/// forms.
pub(super) fn stored(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', ESCAPE]) {
        return Cow::Borrowed(text);
    }
    let mut stored = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\0' => stored.extend([ESCAPE, '0']),
            ESCAPE => stored.extend([ESCAPE, '1']),
            _ => stored.push(c),
        }
    }
    Cow::Owned(stored)
}

/// The same of a text that may be absent.
pub(super) fn stored_if(text: Option<&str>) -> Option<Cow<'_, str>> {
    text.map(stored)
}

/// The text that [`stored`] was given.
pub(super) fn original(stored: String) -> String {
    if !stored.contains(ESCAPE) {
        return stored;
    }
    let mut text = String::with_capacity(stored.len());
    let mut chars = stored.chars();
    while let Some(c) = chars.next() {
        match c {
            ESCAPE if chars.next() == Some('0') => text.push('\0'),
            _ => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_comes_back_and_none_that_is_stored_holds_the_null_character() {
        for text in ["", "write_note", "a\0b", "\0", "\u{1a}", "\u{1a}0", "\0\u{1a}\0", "0\u{1a}1\0"] {
            let form = stored(text);
            assert!(!form.contains('\0'), "{text:?}");
            assert_eq!(original(form.into_owned()), text);
        }
        assert!(matches!(stored("plain"), Cow::Borrowed(_)));
    }
}

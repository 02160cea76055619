//! A Rust file, line by line, with its code told from its comments and the contents of its texts.
//!
//! This is no parser: it knows comments, text literals and character literals, which is what counting and searching need.

/// One line of a file.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// The line without its comments; the contents of text literals are left out, their quotes stay.
    pub(crate) code: String,
    /// The comments on the line.
    pub(crate) comment: String,
}

/// Where the scanner stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Code,
    LineComment,
    /// Comments within each other, counted.
    BlockComment(usize),
    Text,
    /// The number of `#` that close the literal.
    RawText(usize),
}

/// Splits the text of a file into lines.
pub(crate) fn lines(text: &str) -> Vec<Line> {
    let characters: Vec<char> = text.chars().collect();
    let mut lines = vec![Line::default()];
    let mut place = Place::Code;
    let mut at = 0;
    while let Some(&c) = characters.get(at) {
        let rest = characters.get(at..).unwrap_or_default();
        let (next, taken) =
            step(place, rest, at.checked_sub(1).and_then(|before| characters.get(before)).copied());
        if let Some(line) = lines.last_mut() {
            match (place, next) {
                _ if c == '\n' => {}
                (Place::Code, Place::Code | Place::Text | Place::RawText(_))
                | (Place::Text | Place::RawText(_), Place::Code) => line.code.extend(rest.iter().take(taken)),
                (Place::Text | Place::RawText(_), _) => {
                    // A line inside a literal is a line of code, whatever it holds.
                    if line.code.is_empty() {
                        line.code.push('"');
                    }
                }
                _ => line.comment.extend(rest.iter().take(taken)),
            }
        }
        if c == '\n' {
            lines.push(Line::default());
        }
        place = next;
        at += taken;
    }
    lines
}

/// Where the scanner stands after the next characters, and how many they are. A line feed is always taken alone.
fn step(place: Place, rest: &[char], before: Option<char>) -> (Place, usize) {
    match (place, rest) {
        (Place::Code, ['/', '/', ..]) => (Place::LineComment, 2),
        (Place::Code, ['/', '*', ..]) => (Place::BlockComment(1), 2),
        (Place::Code, ['"', ..]) => (Place::Text, 1),
        (Place::Code, ['r', ..])
            if !before.is_some_and(|c| c.is_alphanumeric() && c != 'b' && c != 'c' || c == '_') =>
        {
            let marks = rest.iter().skip(1).take_while(|c| **c == '#').count();
            if rest.get(marks + 1) == Some(&'"') {
                (Place::RawText(marks), marks + 2)
            } else {
                (Place::Code, 1)
            }
        }
        (Place::Code, ['\'', '\\', _, tail @ ..]) => {
            // An escape such as `'\u{1f}'` or `'\''`: to its closing quote.
            let more = tail.iter().position(|c| *c == '\'' || *c == '\n').unwrap_or(0);
            (Place::Code, if tail.get(more) == Some(&'\'') { more + 4 } else { 1 })
        }
        (Place::Code, ['\'', c, '\'', ..]) if *c != '\n' => (Place::Code, 3),
        (Place::LineComment, ['\n', ..]) | (Place::Text, ['"', ..]) => (Place::Code, 1),
        (Place::BlockComment(depth), ['/', '*', ..]) => (Place::BlockComment(depth + 1), 2),
        (Place::BlockComment(1), ['*', '/', ..]) => (Place::Code, 2),
        (Place::BlockComment(depth), ['*', '/', ..]) => (Place::BlockComment(depth - 1), 2),
        (Place::Text, ['\\', c, ..]) if *c != '\n' => (Place::Text, 2),
        (Place::RawText(marks), ['"', tail @ ..])
            if tail.iter().take(marks).filter(|c| **c == '#').count() == marks =>
        {
            (Place::Code, marks + 1)
        }
        _ => (place, 1),
    }
}

/// How many of the lines hold code.
pub(crate) fn code_lines(lines: &[Line]) -> usize {
    lines.iter().filter(|line| !line.code.trim().is_empty()).count()
}

/// The lines before the first test module, each with its number.
pub(crate) fn shipped(lines: &[Line]) -> impl Iterator<Item = (usize, &Line)> {
    lines
        .iter()
        .enumerate()
        .map(|(i, line)| (i + 1, line))
        .take_while(|(_, line)| !line.code.contains("#[cfg(test)]"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_texts_are_told_from_code() {
        let text = "//! Head.\n\nlet a = \"// no comment\"; // one\n/* a /* b */\nc */ let d = '\"';\nlet e = r#\"x \" // y\n z\"#;\nlet f: &'static str = \"\\\"\"; // two\n";
        let lines = lines(text);
        let code: Vec<&str> = lines.iter().map(|line| line.code.as_str()).collect();
        assert_eq!(
            code,
            [
                "",
                "",
                "let a = \"\"; ",
                "",
                " let d = '\"';",
                "let e = r#\"",
                "\"\"#;",
                "let f: &'static str = \"\"; ",
                ""
            ]
        );
        assert_eq!(lines[2].comment, "// one");
        assert_eq!(lines[7].comment, "// two");
        assert_eq!(code_lines(&lines), 5);
    }

    #[test]
    fn escaped_characters_do_not_open_a_text() {
        let lines = lines("match c { '\\'' => '\"', '\\u{22}' => 'b', _ => '\\\\' } // end\n");
        assert_eq!(lines[0].comment, "// end");
    }
}

//! A list of names in one column: a JSON array of texts, which reads without this program.

use callgate_schema::json::{Document, Kind, ReadLimits, write_string};

/// What such a list may be. Far above the rules of any configuration, so that what is over it is damage.
const LIMITS: ReadLimits = ReadLimits {
    subject: "names",
    bytes_max: 16 << 20,
    depth_max: 1,
    nodes_max: 1_000_000,
    number_digits_max: 1,
    number_exponent_max: 1,
};

/// The names as a JSON array.
pub(crate) fn write(names: &[String]) -> String {
    let mut text = vec![b'['];
    for (i, name) in names.iter().enumerate() {
        if i > 0 {
            text.push(b',');
        }
        write_string(&mut text, name);
    }
    text.push(b']');
    String::from_utf8_lossy(&text).into_owned()
}

/// The names of a JSON array of texts, if this is one.
pub(crate) fn read(text: &str) -> Option<Vec<String>> {
    let document = Document::read(text.as_bytes(), &LIMITS).ok()?;
    let root = document.root();
    if root.kind() != Kind::Array {
        return None;
    }
    root.items().map(|item| item.as_str().map(std::borrow::Cow::into_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_whatever_is_in_them() {
        for names in [vec![], vec![""], vec!["a \"b\"", "line\nfeed", "é\u{0}"]] {
            let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
            assert_eq!(read(&write(&names)), Some(names));
        }
        for other in ["", "{}", "[1]", "[[]]", "\"a\"", "[\"a\""] {
            assert_eq!(read(other), None, "{other}");
        }
    }
}

//! What a file holds: one schema, or tools, each found by itself so that one that cannot be read hides no other.

use std::ops::Range;

use callgate_schema::json::{Node, ReadFault, ReadLimits, Tape, skim_items, skim_members};

/// What a file holds.
#[derive(Debug)]
pub(crate) enum Source {
    /// One schema, which is the whole file.
    Schema,
    /// Tools, none of them judged yet.
    Catalog {
        tools: Vec<Slice>,
        /// What is wrong outside of every tool. Where the tools cannot be told from each other: with the whole file.
        fault: Option<ReadFault>,
    },
}

/// A tool's definition, or a part of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Slice {
    /// JSON Pointer from the file's root.
    pub(crate) pointer: String,
    /// Where its text is in the file.
    pub(crate) span: Range<usize>,
    /// Where the name is that it has as a member.
    pub(crate) key: Option<Range<usize>>,
}

/// The file around the tools has no limit but its size: each tool is judged by the limits of a schema.
const OUTLINE: ReadLimits = ReadLimits {
    subject: "file",
    bytes_max: super::FILE_BYTES_MAX,
    depth_max: 1_000,
    nodes_max: 16_000_000,
    number_digits_max: super::FILE_BYTES_MAX,
    number_exponent_max: u64::MAX,
};

impl Source {
    /// Finds the tools of a file.
    pub(crate) fn of(text: &[u8]) -> Source {
        let start = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let root = Slice { pointer: String::new(), span: start..text.len(), key: None };
        let array = match text.get(start) {
            Some(b'[') => Some(root),
            Some(b'{') if skim_members(root.text(text)).is_err() => return malformed(text),
            Some(b'{') => {
                let listed = |object: &Slice| object.member(text, "tools").filter(|it| it.opens(text, b'['));
                listed(&root).or_else(|| root.member(text, "result").and_then(|result| listed(&result)))
            }
            _ => None,
        };
        match array {
            Some(array) => catalog(text, &array),
            None => Source::Schema,
        }
    }
}

fn malformed(text: &[u8]) -> Source {
    Source::Catalog { tools: Vec::new(), fault: Tape::new().read(text, &OUTLINE).err() }
}

fn catalog(text: &[u8], array: &Slice) -> Source {
    let Ok(items) = skim_items(array.text(text)) else { return malformed(text) };
    // Where nothing stands between two commas, it is the file that is wrong.
    let tools: Vec<Slice> = items
        .into_iter()
        .enumerate()
        .filter(|(_, item)| !item.is_empty())
        .map(|(index, item)| array.part(&index.to_string(), &item))
        .collect();
    // Each tool becomes a number, as long as the tool was: what is found now is elsewhere, at its own place.
    let mut outline = text.to_vec();
    for tool in &tools {
        if let Some([first, rest @ ..]) = outline.get_mut(tool.span.clone()) {
            *first = b'0';
            rest.fill(b' ');
        }
    }
    let fault = Tape::new().read(&outline, &OUTLINE).err();
    Source::Catalog { tools, fault }
}

impl Slice {
    /// A whole file.
    pub(crate) fn whole(text: &[u8]) -> Slice {
        Slice { pointer: String::new(), span: 0..text.len(), key: None }
    }

    /// Its text, if `file` is the file's.
    pub(crate) fn text<'t>(&self, file: &'t [u8]) -> &'t [u8] {
        file.get(self.span.clone()).unwrap_or_default()
    }

    /// The value of its first member of this name, if it is an object that closes.
    pub(crate) fn member(&self, file: &[u8], name: &str) -> Option<Slice> {
        let text = self.text(file);
        let mut tape = Tape::new();
        let mut named = |span: &Range<usize>| {
            let raw = text.get(span.clone()).unwrap_or_default();
            tape.read(raw, &OUTLINE).is_ok_and(|node| node.as_str().as_deref() == Some(name))
        };
        let (key, value) = skim_members(text).ok()?.into_iter().find(|(span, _)| named(span))?;
        let start = self.span.start;
        let key = Some(key.start + start..key.end + start);
        (!value.is_empty()).then(|| Slice { key, ..self.part(name, &value) })
    }

    /// A part of it; the span is within its own text, the name needs no escape in a JSON Pointer.
    fn part(&self, name: &str, span: &Range<usize>) -> Slice {
        let start = self.span.start;
        let span = span.start + start..span.end + start;
        Slice { pointer: format!("{}/{name}", self.pointer), span, key: None }
    }

    /// Its value, if it can be read; one read more would be one tape more.
    pub(crate) fn read<'t>(&self, file: &'t [u8], tape: &'t mut Tape) -> Option<Node<'t>> {
        tape.read(self.text(file), &OUTLINE).ok()
    }

    fn opens(&self, file: &[u8], bracket: u8) -> bool {
        self.text(file).first() == Some(&bracket)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_source(text: &str, pointers: &[&str], fault_at: Option<usize>) {
        match Source::of(text.as_bytes()) {
            Source::Catalog { tools, fault } => {
                let found: Vec<&str> = tools.iter().map(|tool| tool.pointer.as_str()).collect();
                assert_eq!(found, pointers, "{text}");
                assert_eq!(fault.map(|fault| fault.offset), fault_at, "{text}");
            }
            Source::Schema => panic!("{text} is a schema"),
        }
    }

    #[test]
    fn a_fault_around_the_tools_is_the_files_and_one_within_is_not() {
        check_source(r#" [{"a":1,"a":2}, nonsense]"#, &["/0", "/1"], None);
        check_source(r#"{"t\u006fols":[{"a" 1}],"x":1e99999}"#, &["/tools/0"], None);
        check_source(r#"{"id":1,"result":{"tools":["\ud800"]}}"#, &["/result/tools/0"], None);
        check_source("[]", &[], None);
        check_source("[{},,{}]", &["/0", "/2"], Some(4));
        check_source("[{}] x", &["/0"], Some(5));
        check_source(r#"{"tools":[{}],"x": }"#, &["/tools/0"], Some(19));
        check_source(r#"{"tools":[{}],"tools":[]}"#, &["/tools/0"], Some(14));
        check_source(r#"[{"a":1]}"#, &["/0"], Some(8));
    }

    #[test]
    fn a_text_that_cannot_be_split_is_a_fault_of_the_file() {
        check_source("[{},", &[], Some(4));
        check_source("[[[", &[], Some(3));
        check_source(r#"[{"type":"objekt"},{"na"#, &[], Some(23));
        check_source(r#"{"tools":[{}]"#, &[], Some(13));
    }

    #[test]
    fn anything_else_is_a_schema() {
        for text in ["", "true", "\u{feff}[]", "{}", r#"{"tools":{}}"#, r#"{"result":[]}"#] {
            assert!(matches!(Source::of(text.as_bytes()), Source::Schema), "{text}");
        }
    }
}

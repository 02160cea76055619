//! What a file holds: tools, each found by itself so that one that cannot be read hides no other.

use std::ops::Range;

use callgate_schema::json::{Document, ReadLimits, Tape, skim_items, skim_members};

/// One schema to check, with its place in the file.
#[derive(Debug)]
pub(super) struct Subject {
    /// The tool's name, or how else to call what was checked.
    pub(super) name: String,
    /// JSON Pointer from the file's root to the schema.
    pub(super) pointer: String,
    /// Where its text is.
    pub(super) span: Range<usize>,
    pub(super) what: What,
}

/// What is known of a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Input,
    Output,
    /// The whole tool, which cannot be read or has no `inputSchema`.
    Tool,
}

/// What a file holds.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) subjects: Vec<Subject>,
    /// Tools in it; 0 if the file is one schema.
    pub(super) tools: usize,
}

/// The whole file has no limit but its size: each slice is judged by the limits of a schema.
const OUTLINE: ReadLimits = ReadLimits {
    subject: "file",
    bytes_max: super::FILE_BYTES_MAX,
    depth_max: 1_000,
    nodes_max: 16_000_000,
    number_digits_max: super::FILE_BYTES_MAX,
    number_exponent_max: u64::MAX,
};

impl Source {
    /// Finds the schemas of a file.
    pub(super) fn of(text: &[u8]) -> Source {
        let start = text.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(text.len());
        match catalog(text, start) {
            Some((pointer, array)) => tools(text, &pointer, array),
            None => Source {
                subjects: vec![Subject {
                    name: String::from("(schema)"),
                    pointer: String::new(),
                    span: 0..text.len(),
                    what: What::Input,
                }],
                tools: 0,
            },
        }
    }
}

/// The place of the array of tools.
fn catalog(text: &[u8], start: usize) -> Option<(String, Range<usize>)> {
    if text.get(start) == Some(&b'[') {
        return Some((String::new(), start..text.len()));
    }
    let tools = |from: usize| member(text, from, "tools").filter(|span| text.get(span.start) == Some(&b'['));
    if let Some(span) = tools(start) {
        return Some((String::from("/tools"), span));
    }
    let result = member(text, start, "result")?;
    tools(result.start).map(|span| (String::from("/result/tools"), span))
}

/// The value of the first member of that name of the object that starts at `from`.
fn member(text: &[u8], from: usize, name: &str) -> Option<Range<usize>> {
    let object = text.get(from..)?;
    let members = skim_members(object).ok()?;
    let (_, value) = members.into_iter().find(|(span, _)| named(object, span, name))?;
    (!value.is_empty()).then(|| value.start + from..value.end + from)
}

fn named(text: &[u8], span: &Range<usize>, name: &str) -> bool {
    let raw = text.get(span.clone()).unwrap_or_default();
    Tape::new().read(raw, &OUTLINE).is_ok_and(|node| node.as_str().as_deref() == Some(name))
}

fn tools(text: &[u8], pointer: &str, array: Range<usize>) -> Source {
    let slice = text.get(array.clone()).unwrap_or_default();
    let items = skim_items(slice).unwrap_or_default();
    let mut subjects = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let span = item.start + array.start..item.end + array.start;
        tool(text, &format!("{pointer}/{index}"), span, index, &mut subjects);
    }
    Source { subjects, tools: items.len() }
}

fn tool(text: &[u8], pointer: &str, span: Range<usize>, index: usize, subjects: &mut Vec<Subject>) {
    let slice = text.get(span.clone()).unwrap_or_default();
    let name = member(text, span.start, "name")
        .and_then(|value| Document::read(text.get(value)?, &OUTLINE).ok())
        .and_then(|document| document.root().as_str().map(std::borrow::Cow::into_owned))
        .unwrap_or_else(|| format!("(tool {index})"));
    // A schema's own faults are told by the schema; what is wrong around it is the tool's.
    let schemas = [("inputSchema", What::Input), ("outputSchema", What::Output)];
    let found: Vec<_> = schemas
        .into_iter()
        .filter_map(|(key, what)| member(text, span.start, key).map(|place| (key, what, place)))
        .collect();
    let readable = Tape::new().read(slice, &OUTLINE).err().is_none_or(|fault| {
        let at = fault.offset + span.start;
        found.iter().any(|(_, _, place)| place.contains(&at))
    });
    if !readable || !found.iter().any(|(_, what, _)| *what == What::Input) {
        subjects.push(Subject { name: name.clone(), pointer: pointer.to_owned(), span, what: What::Tool });
    }
    for (key, what, place) in found {
        subjects.push(Subject { name: name.clone(), pointer: format!("{pointer}/{key}"), span: place, what });
    }
}

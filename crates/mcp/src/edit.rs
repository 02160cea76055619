//! Spans of a text that are replaced by others.

use std::ops::Range;

/// Replacements of a text; no two of them overlap.
#[derive(Debug, Default)]
pub(crate) struct Edits(Vec<(Range<usize>, Vec<u8>)>);

impl Edits {
    pub(crate) fn replace(&mut self, span: Range<usize>, new: impl Into<Vec<u8>>) {
        self.0.push((span, new.into()));
    }

    pub(crate) fn insert(&mut self, at: usize, new: impl Into<Vec<u8>>) {
        self.replace(at..at, new);
    }

    pub(crate) fn cut(&mut self, span: Range<usize>) {
        self.replace(span, Vec::new());
    }

    /// Puts members first into an object. `members` has no comma at its ends.
    pub(crate) fn insert_members(&mut self, object: Range<usize>, is_empty: bool, members: &[u8]) {
        let mut new = members.to_vec();
        if !is_empty {
            new.push(b',');
        }
        self.insert(object.start + 1, new);
    }

    /// The text with everything replaced.
    pub(crate) fn apply(mut self, text: &[u8]) -> Vec<u8> {
        // What is inserted at a place comes before what is replaced from there on; else the order is that of the asking.
        self.0.sort_by_key(|(span, _)| (span.start, span.end));
        let grown: usize = self.0.iter().map(|(_, new)| new.len()).sum();
        let mut out = Vec::with_capacity(text.len() + grown);
        let mut done = 0;
        for (span, new) in self.0 {
            out.extend_from_slice(text.get(done..span.start).unwrap_or_default());
            out.extend_from_slice(&new);
            done = span.end;
        }
        out.extend_from_slice(text.get(done..).unwrap_or_default());
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_inserted_where_something_is_cut_is_there_once() {
        let mut edits = Edits::default();
        edits.cut(1..3);
        edits.insert(1, *b"x");
        edits.insert(1, *b"y");
        edits.replace(4..4, *b"z");
        assert_eq!(edits.apply(b"abcde"), b"axydze");
    }
}

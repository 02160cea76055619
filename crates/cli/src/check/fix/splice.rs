//! Splices: replacements of byte ranges, none of which touches another.

use std::ops::Range;

/// Other bytes for a range of a text; an empty range is an insertion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::check) struct Splice {
    pub(super) span: Range<usize>,
    pub(super) bytes: Vec<u8>,
}

impl Splice {
    pub(super) fn new(span: Range<usize>, bytes: impl Into<Vec<u8>>) -> Splice {
        Splice { span, bytes: bytes.into() }
    }

    pub(super) fn shifted(self, by: usize) -> Splice {
        Splice { span: self.span.start + by..self.span.end + by, ..self }
    }

    fn touches(&self, other: &Splice) -> bool {
        self.span.start <= other.span.end && other.span.start <= self.span.end
    }
}

/// Adds splices that belong together, unless one of them touches one that is there; says whether they were added.
pub(super) fn add(splices: &mut Vec<Splice>, more: Vec<Splice>) -> bool {
    let free = more.iter().all(|new| !splices.iter().any(|old| old.touches(new)));
    if free {
        splices.extend(more);
    }
    free
}

/// The text with the splices.
pub(super) fn apply(text: &[u8], mut splices: Vec<Splice>) -> Vec<u8> {
    splices.sort_by_key(|splice| splice.span.start);
    let mut out = Vec::with_capacity(text.len());
    let mut from = 0;
    for splice in splices {
        out.extend_from_slice(text.get(from..splice.span.start).unwrap_or_default());
        out.extend_from_slice(&splice.bytes);
        from = splice.span.end;
    }
    out.extend_from_slice(text.get(from..).unwrap_or_default());
    out
}

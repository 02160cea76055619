//! Sets of code points as the matchers ask them: a bitmap of ASCII, and ranges.

use regex_syntax::hir::ClassUnicode;

use super::tree::{SetId, Tree};

#[derive(Debug)]
pub(super) struct Set {
    ascii: u128,
    ranges: Box<[(char, char)]>,
}

impl Set {
    fn new(class: &ClassUnicode) -> Self {
        let ranges: Box<[(char, char)]> =
            class.ranges().iter().map(|range| (range.start(), range.end())).collect();
        let mut ascii = 0;
        for c in ('\0'..='\x7f').filter(|c| ranges.iter().any(|(first, last)| first <= c && c <= last)) {
            ascii |= 1 << u32::from(c);
        }
        Set { ascii, ranges }
    }

    #[inline]
    pub(super) fn contains(&self, c: char) -> bool {
        if c.is_ascii() {
            return self.ascii >> u32::from(c) & 1 == 1;
        }
        let after = self.ranges.partition_point(|(first, _)| *first <= c);
        after.checked_sub(1).and_then(|last| self.ranges.get(last)).is_some_and(|(_, last)| c <= *last)
    }
}

/// What one code point is compared with.
#[derive(Debug, Clone, Copy)]
pub(super) enum One {
    Literal(char),
    Set(SetId),
}

/// The sets of a tree.
#[derive(Debug)]
pub(super) struct Sets(Box<[Set]>);

impl Sets {
    pub(super) fn of(tree: &Tree) -> Self {
        Sets(tree.sets().iter().map(Set::new).collect())
    }

    /// Bytes that the sets take.
    pub(super) fn bytes(&self) -> usize {
        self.0.iter().map(|set| size_of::<Set>() + size_of_val(&*set.ranges)).sum()
    }

    #[inline]
    pub(super) fn matches(&self, one: One, c: char) -> bool {
        match one {
            One::Literal(literal) => literal == c,
            One::Set(set) => self.0.get(set.0 as usize).is_some_and(|set| set.contains(c)),
        }
    }
}

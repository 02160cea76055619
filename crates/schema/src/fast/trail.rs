//! What a glance learnt before it was no longer sure, so that nobody looks at the same parts again.

use crate::program::BlockId;

/// More than these are not noted; they are then looked at again.
const NOTES_MAX: usize = 1_024;

/// For each value on the way to where a glance was not sure: how far the block had accepted it.
#[derive(Debug, Default)]
pub(crate) struct Trail(Vec<Note>);

#[derive(Debug, Clone, Copy)]
struct Note {
    block: BlockId,
    value: u32,
    /// The block accepts what the value's parts before this one must be.
    part: u32,
}

/// The part after all others.
pub(super) const NO_PART: u32 = u32::MAX;

impl Trail {
    pub(crate) const fn new() -> Self {
        Trail(Vec::new())
    }

    #[cold]
    pub(super) fn note(&mut self, block: BlockId, value: u32, part: u32) {
        if self.0.len() < NOTES_MAX {
            self.0.push(Note { block, value, part });
        }
    }

    /// The first part of the value that the block may not accept, by the index of its entry; `None` if nothing is known.
    pub(crate) fn first_unsure(&self, block: BlockId, value: u32) -> Option<u32> {
        self.0.iter().rev().find(|note| note.value == value && note.block == block).map(|note| note.part)
    }

    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.0.len()
    }

    /// Forgets what was noted since there were so many: it turned out well in another way.
    #[inline]
    pub(super) fn truncate(&mut self, length: usize) {
        self.0.truncate(length);
    }
}

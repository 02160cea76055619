//! What a glance learnt before it was no longer sure, so that nobody looks at the same parts again.

use crate::program::BlockId;

/// More than these are not noted; they are then looked at again.
const NOTES_MAX: usize = 1_024;

/// Room for those of a usual value, so that it seldom grows.
const NOTES_USUAL: usize = 16;

/// For each value on the way to where a glance was not sure: how far the block had accepted it.
#[derive(Debug, Default)]
pub(crate) struct Trail {
    /// One is most often all that there is.
    first: Option<Note>,
    others: Vec<Note>,
}

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
        Trail { first: None, others: Vec::new() }
    }

    #[cold]
    pub(super) fn note(&mut self, block: BlockId, value: u32, part: u32) {
        let note = Note { block, value, part };
        if self.first.is_none() {
            self.first = Some(note);
        } else if self.others.len() < NOTES_MAX {
            if self.others.is_empty() {
                self.others.reserve(NOTES_USUAL);
            }
            self.others.push(note);
        }
    }

    /// The first part of the value that the block may not accept, by the index of its entry; `None` if nothing is known.
    pub(crate) fn first_unsure(&self, block: BlockId, value: u32) -> Option<u32> {
        let mut notes = self.others.iter().rev().chain(&self.first);
        notes.find(|note| note.value == value && note.block == block).map(|note| note.part)
    }

    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.others.len() + self.first.is_some() as usize
    }

    /// Forgets what was noted since there were so many: it turned out well in another way.
    #[inline]
    pub(super) fn truncate(&mut self, length: usize) {
        match length.checked_sub(1) {
            Some(others) => self.others.truncate(others),
            None => *self = Trail::new(),
        }
    }
}

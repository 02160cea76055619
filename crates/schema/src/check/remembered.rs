//! What references have answered, in a pass that takes long.
//!
//! Branches that refer to one schema ask the same of the same value, and a chain of such schemas asks it twice as often at
//! each step: 2^24 questions of 24 schemas. A pass that has spent enough to be suspect answers each question once.

use std::collections::HashMap;

use crate::program::BlockId;

/// A pass remembers after this part of the allowance, which grows with the value: ordinary passes pay nothing.
const WORK_SHARE: u64 = 128;
/// Answers that are remembered; with their table they take about two megabytes.
const ANSWERS_MAX: usize = 1 << 16;

#[derive(Debug, Default)]
pub(super) struct Remembered(Option<HashMap<(BlockId, u32), bool>>);

impl Remembered {
    pub(super) const fn nothing() -> Self {
        Remembered(None)
    }

    /// Whether a pass remembers that has spent so much of an allowance.
    #[inline]
    pub(super) const fn is_due(used: u64, allowance: u64) -> bool {
        used > allowance / WORK_SHARE
    }

    /// What the block said of the value of that index.
    pub(super) fn answer(&self, block: BlockId, value: u32) -> Option<bool> {
        self.0.as_ref()?.get(&(block, value)).copied()
    }

    pub(super) fn note(&mut self, block: BlockId, value: u32, good: bool) {
        let answers = self.0.get_or_insert_default();
        if answers.len() < ANSWERS_MAX {
            answers.insert((block, value), good);
        }
    }
}

//! The blocks of the subschemas of all texts, by place.

use crate::program::BlockId;
use crate::resolve::Spot;

/// No block.
const NONE: u32 = u32::MAX;

/// By text, and in it by the number of the value. Numbers are those of entries of a tape, so that a list takes less than
/// the tape does, and nothing is searched.
#[derive(Debug, Default)]
pub(super) struct Spots(Vec<Vec<u32>>);

impl Spots {
    /// The block of that place, or now `next` if it has none.
    pub(super) fn block_or(&mut self, spot: Spot, next: BlockId) -> BlockId {
        let document = spot.document.0 as usize;
        if self.0.len() <= document {
            self.0.resize(document + 1, Vec::new());
        }
        let Some(blocks) = self.0.get_mut(document) else { return next };
        let node = spot.node.index() as usize;
        if blocks.len() <= node {
            blocks.resize((node + 1).next_power_of_two(), NONE);
        }
        match blocks.get_mut(node) {
            Some(block) if *block != NONE => BlockId(*block),
            Some(block) => {
                *block = next.0;
                next
            }
            None => next,
        }
    }

    pub(super) fn block(&self, spot: Spot) -> Option<BlockId> {
        let block = *self.0.get(spot.document.0 as usize)?.get(spot.node.index() as usize)?;
        (block != NONE).then_some(BlockId(block))
    }

    /// The numbers of the values of the first text that have a block, in the order of the text.
    pub(super) fn of_main(&self) -> impl Iterator<Item = (u32, BlockId)> {
        let blocks = self.0.first().map(Vec::as_slice).unwrap_or_default();
        (0..).zip(blocks).filter(|(_, block)| **block != NONE).map(|(node, block)| (node, BlockId(*block)))
    }
}

//! The plan of the fast path: one node a block.

use super::object::Names;
use super::source::TapeSource;
use super::union::{Candidates, Union};
use super::words::Words;
use crate::json::{Node, kind};
use crate::program::{BlockId, PatternId};

/// Every kind of value.
pub(super) const ALL: u8 = kind::NULL | kind::BOOL | kind::NUMBER | kind::STRING | kind::ARRAY | kind::OBJECT;

/// What the fast path knows of a program. Plain data.
#[derive(Debug, Default)]
pub(crate) struct FastPath {
    /// By block.
    pub(super) nodes: Box<[FastNode]>,
    pub(super) objects: Box<[FastObject]>,
    pub(super) words: Box<[Words]>,
    pub(super) unions: Box<[Union]>,
    /// Blocks that are applied to the same value, of all nodes.
    pub(super) also: Box<[BlockId]>,
}

/// What one block asks of a value.
#[derive(Debug, Clone)]
pub(super) struct FastNode {
    /// Kinds that the block can accept at all; certain.
    pub(super) types: u8,
    /// Kinds that it accepts whatever the value.
    pub(super) done: u8,
    /// Kinds for which only the instructions know.
    pub(super) ask: u8,
    /// Numbers must be whole.
    pub(super) integer: bool,
    /// Bytes of a text without escapes that need no further look, but for `deep`: from `text_low` on, so many.
    pub(super) text_low: u32,
    pub(super) text_span: u32,
    /// Whole numbers of at most nine digits, none negative, that need no further look.
    pub(super) int_low: u32,
    pub(super) int_span: u32,
    /// Texts have words or a pattern to keep.
    pub(super) deep: bool,
    pub(super) words: Option<u32>,
    pub(super) pattern: Option<PatternId>,
    /// Characters of a text.
    pub(super) chars: Range,
    /// Items of an array.
    pub(super) items_count: Range,
    /// Members of an object.
    pub(super) members_count: Range,
    /// Bounds of a number, both kept; beyond what a whole number of 64 bits says, `ask` has numbers.
    pub(super) low: i64,
    pub(super) high: i64,
    /// The schema of all items.
    pub(super) items: Option<BlockId>,
    pub(super) object: Option<u32>,
    pub(super) union: Option<u32>,
    /// Where in [`FastPath::also`].
    pub(super) also: (u32, u32),
}

/// From, and to, both included.
#[derive(Debug, Clone, Copy)]
pub(super) struct Range {
    pub(super) least: u64,
    pub(super) most: u64,
}

impl Range {
    pub(super) const ANY: Range = Range { least: 0, most: u64::MAX };

    #[inline]
    pub(super) const fn has(self, count: u64) -> bool {
        self.least <= count && count <= self.most
    }

    pub(super) const fn is_any(self) -> bool {
        self.least == 0 && self.most == u64::MAX
    }
}

/// What an object's members must be.
#[derive(Debug, Clone)]
pub(super) struct FastObject {
    pub(super) names: Names,
    /// The bits of the names that must be there.
    pub(super) required: u64,
    pub(super) others: Others,
}

/// What holds for members that are not declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Others {
    Good,
    Refused,
    Schema(BlockId),
}

impl FastNode {
    pub(super) const ANY: FastNode = FastNode {
        types: ALL,
        done: ALL,
        ask: 0,
        integer: false,
        text_low: 0,
        text_span: 0,
        int_low: 0,
        int_span: 0,
        deep: false,
        words: None,
        pattern: None,
        chars: Range::ANY,
        items_count: Range::ANY,
        members_count: Range::ANY,
        low: i64::MIN,
        high: i64::MAX,
        items: None,
        object: None,
        union: None,
        also: (0, 0),
    };

    /// Is anything else applied to the same value?
    #[inline]
    pub(super) const fn has_more(&self) -> bool {
        self.also.0 != self.also.1 || self.union.is_some()
    }
}

impl FastPath {
    #[inline]
    pub(super) fn node(&self, block: BlockId) -> Option<&FastNode> {
        self.nodes.get(block.0 as usize)
    }

    /// Whether the instructions would be asked at once, so that a glance tells nothing.
    #[inline]
    pub(crate) fn knows(&self, block: BlockId, kind: u8) -> bool {
        self.node(block).is_some_and(|node| node.ask & kind == 0 && node.types & kind != 0)
    }

    /// The branches of a block's `anyOf`, or with `one` of its `oneOf`, that a value can hold, by their places among so many;
    /// all where that is not known.
    #[inline]
    pub(crate) fn candidates(
        &self,
        block: BlockId,
        one: bool,
        branches: usize,
        node: Node<'_>,
    ) -> Candidates<'_> {
        let union = self.node(block).and_then(|node| self.unions.get(node.union? as usize));
        match union {
            Some(union) if union.one == one => {
                let source = TapeSource::of(node);
                union.candidates(source, TapeSource::value(node))
            }
            _ => Candidates::all(branches),
        }
    }

    /// Bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.nodes)
            + size_of_val(&*self.also)
            + self.objects.iter().map(|object| size_of::<FastObject>() + object.names.bytes()).sum::<usize>()
            + self.words.iter().map(Words::bytes).sum::<usize>()
            + self.unions.iter().map(Union::bytes).sum::<usize>()
    }
}

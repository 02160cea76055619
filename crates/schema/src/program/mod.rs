//! A compiled schema: plain data, blocks of instructions over the schema's own text.

mod instruction;
mod object;

use std::collections::HashMap;
use std::sync::Arc;

use crate::fast::FastPath;
use crate::json::{Digest, Document, Node, digest};
use crate::pattern::Pattern;
use crate::resolve::{ResourceId, Spot};
use crate::{Finding, Limits, Profile};

pub(crate) use instruction::{Bound, Count, Instruction, NamesRule, Op};
pub(crate) use object::{Additional, ObjectPlan, Order, Slot};

/// A compiled schema. Cheap to clone, shared between threads.
///
/// ```
/// use callgate_schema::json::Tape;
/// use callgate_schema::{Options, Profile, Program, Verdict};
///
/// let schema = br#"{"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}}"#;
/// let program = Program::compile(schema, &Options::tool(Profile::Standard)).expect("it is enforceable");
/// let options = Options::tool(Profile::Standard);
/// let mut tape = Tape::new();
/// let arguments = tape.read(br#"{"n": 0}"#, &options.limits.arguments_text()).expect("it is JSON");
/// let Verdict::Invalid(violations) = program.check(arguments) else { panic!("0 is below 1") };
/// assert_eq!(violations.findings[0].code.as_str(), "number-too-small");
/// ```
#[derive(Debug, Clone)]
pub struct Program {
    pub(crate) parts: Arc<Parts>,
}

/// What a program is made of.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) profile: Profile,
    pub(crate) limits: Limits,
    /// The texts, which hold the constants and their spelling; the schema's own is the first.
    pub(crate) documents: Vec<Arc<Document>>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) code: Vec<Instruction>,
    pub(crate) patterns: Vec<Pattern>,
    pub(crate) warnings: Vec<Finding>,
    /// What accepts good values at a glance.
    pub(crate) fast: FastPath,
    /// The dynamic anchors that a `$dynamicRef` looks for, by resource: the number of the name, and where it is. Empty if
    /// none is looked for.
    pub(crate) dynamic: HashMap<ResourceId, Vec<(u32, BlockId)>>,
}

/// One subschema: a run of instructions that all must hold.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    /// Where the subschema stands, as a JSON Pointer.
    pub(crate) location: Box<str>,
    pub(crate) resource: ResourceId,
    pub(crate) first: u32,
    pub(crate) end: u32,
    /// Whether it must know what its parts have evaluated.
    pub(crate) tracks: bool,
}

/// Index of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct BlockId(pub(crate) u32);

/// Index of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PatternId(pub(crate) u32);

impl Program {
    /// What is doubtful about the schema, or not enforced by the profile; never a reason to refuse it.
    pub fn warnings(&self) -> &[Finding] {
        &self.parts.warnings
    }

    /// How many bytes of memory the schema's patterns take, so that the patterns of many schemas can be bounded together.
    pub fn patterns_bytes(&self) -> u64 {
        self.parts.patterns.iter().map(Pattern::compiled_bytes).sum()
    }

    /// How many bytes of memory the program takes, about: the texts, the instructions, the fast path, and the patterns as
    /// [`Program::patterns_bytes`] counts them.
    pub fn bytes(&self) -> u64 {
        let parts = &self.parts;
        let documents = parts.documents.iter().map(|document| document.bytes()).sum::<usize>();
        let blocks =
            parts.blocks.iter().map(|block| size_of::<Block>() + block.location.len()).sum::<usize>();
        let code = parts.code.iter().map(|instruction| size_of::<Instruction>() + instruction.op.bytes());
        let bytes = documents + blocks + code.sum::<usize>() + parts.fast.bytes() + size_of::<Parts>();
        bytes as u64 + self.patterns_bytes()
    }

    /// SHA-256 of the schema's canonical text, in the domain `schema`: programs of schemas that differ in white space or the
    /// order of members have one digest.
    pub fn digest(&self) -> Digest {
        self.parts
            .documents
            .first()
            .map_or_else(Digest::default, |document| digest("schema", document.root()))
    }

    /// The text that was compiled.
    pub fn schema_text(&self) -> &[u8] {
        self.parts.documents.first().map(|document| document.text()).unwrap_or_default()
    }
}

impl Parts {
    #[inline]
    pub(crate) fn instructions(&self, block: &Block) -> &[Instruction] {
        self.code.get(block.first as usize..block.end as usize).unwrap_or_default()
    }

    pub(crate) fn location(&self, block: BlockId) -> &str {
        self.blocks.get(block.0 as usize).map_or("", |block| &block.location)
    }

    pub(crate) fn block(&self, block: BlockId) -> Option<&Block> {
        self.blocks.get(block.0 as usize)
    }

    /// The value in a schema's text that an instruction speaks of.
    #[inline]
    pub(crate) fn constant(&self, spot: Spot) -> Option<Node<'_>> {
        self.documents.get(spot.document.0 as usize).map(|document| document.node(spot.node))
    }

    #[inline]
    pub(crate) fn pattern(&self, id: PatternId) -> Option<&Pattern> {
        self.patterns.get(id.0 as usize)
    }
}

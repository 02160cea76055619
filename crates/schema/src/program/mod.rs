//! A compiled schema: plain data, blocks of instructions over the schema's own text.

mod instruction;
mod object;

use std::sync::Arc;

use crate::json::{Document, Node, NodeId};
use crate::pattern::Pattern;
use crate::{Finding, Limits};

pub(crate) use instruction::{Bound, Count, Instruction, NamesRule, Op};
pub(crate) use object::{Additional, ObjectPlan, Slot};

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
    pub(crate) limits: Limits,
    /// The schema's text, which holds the constants and their spelling.
    pub(crate) document: Document,
    pub(crate) blocks: Vec<Block>,
    pub(crate) code: Vec<Instruction>,
    pub(crate) patterns: Vec<Pattern>,
    pub(crate) warnings: Vec<Finding>,
}

/// One subschema: a run of instructions that all must hold.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    /// Where the subschema stands, as a JSON Pointer.
    pub(crate) location: Box<str>,
    pub(crate) first: u32,
    pub(crate) end: u32,
}

/// Index of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct BlockId(pub(crate) u32);

/// Index of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PatternId(pub(crate) u32);

impl Program {
    /// What is doubtful about the schema, or not enforced by the profile; never a reason to refuse it.
    pub fn warnings(&self) -> &[Finding] {
        &self.parts.warnings
    }

    /// The text that was compiled.
    pub fn schema_text(&self) -> &[u8] {
        self.parts.document.text()
    }
}

impl Parts {
    #[inline]
    pub(crate) fn instructions(&self, block: BlockId) -> &[Instruction] {
        let run = self.blocks.get(block.0 as usize).map(|block| block.first as usize..block.end as usize);
        run.and_then(|run| self.code.get(run)).unwrap_or_default()
    }

    pub(crate) fn location(&self, block: BlockId) -> &str {
        self.blocks.get(block.0 as usize).map_or("", |block| &block.location)
    }

    #[inline]
    pub(crate) fn constant(&self, id: NodeId) -> Node<'_> {
        self.document.node(id)
    }

    #[inline]
    pub(crate) fn pattern(&self, id: PatternId) -> Option<&Pattern> {
        self.patterns.get(id.0 as usize)
    }
}

//! From a schema's text to a program, or to everything that is wrong with it.
//!
//! One walk does both: preflight is compilation whose program is thrown away. The order of findings is that of the
//! keyword table, and of names in byte order, so it is the same from run to run.

mod draft;
mod fault;
mod loops;
mod options;
mod reference;
mod root;
mod walk;

use std::collections::HashMap;
use std::sync::Arc;

use crate::dialect::Dialect;
use crate::json::{Document, NodeId};
use crate::pattern::Pattern;
use crate::program::{Block, BlockId, Instruction, Parts, PatternId, Program};
use crate::{Code, Finding};

pub(crate) use draft::Draft;
pub use fault::CompileError;
pub use options::{Options, Root, UnknownKeywords};
pub(crate) use walk::{Entry, below};

impl Program {
    /// Compiles a schema's text.
    ///
    /// # Errors
    /// [`CompileError`] with every fault of the schema, also in parts that no value may reach: malformed text and
    /// keywords, keywords that are not enforced, patterns, references, limits.
    pub fn compile(schema: &[u8], options: &Options) -> Result<Program, CompileError> {
        let document = match Document::read(schema, &options.limits.schema_text()) {
            Ok(document) => document,
            Err(fault) => {
                let keyword = fault.pointer.rsplit('/').next().unwrap_or_default().to_owned();
                return Err(CompileError::one(fault.finding().at_schema(keyword, fault.pointer.clone())));
            }
        };
        let mut compiler = Compiler::new(&document, options);
        compiler.root();
        compiler.referenced();
        compiler.loops();
        let Compiler { blocks, code, patterns, findings, warnings, truncated, .. } = compiler;
        if !findings.is_empty() {
            return Err(CompileError { findings, truncated });
        }
        let limits = options.limits.clone();
        Ok(Program { parts: Arc::new(Parts { limits, document, blocks, code, patterns, warnings }) })
    }

    /// The program of a tool that has no schema at all.
    ///
    /// # Errors
    /// Always: such a tool cannot be checked.
    pub fn absent() -> Result<Program, CompileError> {
        let finding =
            Finding::new(Code::SchemaMissing, "expected a schema for the tool's arguments, found none")
                .with_help("declare an `inputSchema`; `{\"type\": \"object\"}` accepts every object");
        Err(CompileError::one(finding.at_schema("", "")))
    }
}

/// What is known while a schema is walked.
pub(crate) struct Compiler<'a> {
    pub(crate) options: &'a Options,
    pub(crate) dialect: Dialect,
    pub(crate) document: &'a Document,
    pub(crate) blocks: Vec<Block>,
    pub(crate) code: Vec<Instruction>,
    pub(crate) patterns: Vec<Pattern>,
    pattern_ids: HashMap<String, PatternId>,
    /// The block of each subschema, given out when it is first seen or first pointed to.
    by_node: HashMap<NodeId, BlockId>,
    /// Pointed to, and perhaps not at a place of its own.
    pointed_to: Vec<reference::Target>,
    /// Every reference, for the search of loops.
    references: Vec<reference::Reference>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) warnings: Vec<Finding>,
    pub(crate) truncated: bool,
}

impl<'a> Compiler<'a> {
    fn new(document: &'a Document, options: &'a Options) -> Self {
        Compiler {
            options,
            dialect: options.dialect,
            document,
            blocks: Vec::new(),
            code: Vec::new(),
            patterns: Vec::new(),
            pattern_ids: HashMap::new(),
            by_node: HashMap::new(),
            pointed_to: Vec::new(),
            references: Vec::new(),
            findings: Vec::new(),
            warnings: Vec::new(),
            truncated: false,
        }
    }

    /// The pattern of that text, if it was compiled before.
    pub(crate) fn known_pattern(&self, text: &str) -> Option<PatternId> {
        self.pattern_ids.get(text).copied()
    }

    pub(crate) fn add_pattern(&mut self, text: &str, pattern: Pattern) -> PatternId {
        let id = PatternId(walk::index(self.patterns.len()));
        self.patterns.push(pattern);
        self.pattern_ids.insert(text.to_owned(), id);
        id
    }
}

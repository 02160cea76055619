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
mod scope;
mod spots;
mod walk;
mod wire;

use std::collections::HashMap;
use std::sync::Arc;

use crate::fast::FastPath;
use crate::json::{Document, NodeId};
use crate::pattern::Pattern;
use crate::preflight;
use crate::program::{Block, BlockId, Instruction, Parts, PatternId, Program};
use crate::resolve::{Index, Place, ResourceId, Sources, Spot};
use crate::{Code, Finding, Profile};

use spots::Spots;

pub(crate) use draft::Draft;
pub use fault::CompileError;
pub use options::{Options, Root, UnknownKeywords};
pub(crate) use walk::Entry;

impl Program {
    /// Compiles a schema's text.
    ///
    /// # Errors
    /// [`CompileError`] with every fault of the schema, also in parts that no value may reach: malformed text and
    /// keywords, keywords that are not enforced, patterns, references, limits.
    pub fn compile(schema: &[u8], options: &Options) -> Result<Program, CompileError> {
        let main = match Document::read(schema, &options.limits.schema_text()) {
            Ok(document) => document,
            Err(fault) => {
                let keyword = fault.pointer.rsplit('/').next().unwrap_or_default().to_owned();
                return Err(CompileError::one(fault.finding().at_schema(keyword, fault.pointer.clone())));
            }
        };
        let sources = Sources::new(main, &options.resources, &options.limits);
        let mut compiler = Compiler::new(&sources, options);
        match options.profile {
            Profile::Wire => _ = compiler.wire_root(),
            Profile::Standard | Profile::Portable => {
                if compiler.root() {
                    compiler.referenced();
                    compiler.loops();
                }
            }
        }
        compiler.finish()
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
    sources: &'a Sources,
    /// The texts reached so far; the schema's own is the first.
    documents: Vec<&'a Arc<Document>>,
    pub(crate) index: Index,
    pub(crate) scope: scope::Scope,
    pub(crate) blocks: Vec<Block>,
    pub(crate) code: Vec<Instruction>,
    pub(crate) patterns: Vec<Pattern>,
    pattern_ids: HashMap<String, PatternId>,
    /// What the patterns take together, compiled.
    pub(crate) patterns_bytes: u64,
    /// The block of each subschema, given out when it is first seen or first pointed to.
    spots: Spots,
    /// Pointed to, and perhaps not at a place of its own.
    pointed_to: Vec<Place>,
    /// The parts of large objects and arrays that references lead through, by the step of a pointer.
    large: HashMap<Spot, HashMap<String, NodeId>>,
    /// Every reference, for the search of loops.
    links: Vec<reference::Link>,
    /// The names that a `$dynamicRef` looks for, numbered.
    dynamic_names: HashMap<String, u32>,
    has_unevaluated: bool,
    pub(crate) findings: Vec<Finding>,
    pub(crate) warnings: Vec<Finding>,
    pub(crate) truncated: bool,
}

impl<'a> Compiler<'a> {
    fn new(sources: &'a Sources, options: &'a Options) -> Self {
        Compiler {
            options,
            sources,
            documents: vec![&sources.main],
            index: Index::default(),
            scope: scope::Scope::of(options.dialect),
            blocks: Vec::new(),
            code: Vec::new(),
            patterns: Vec::new(),
            pattern_ids: HashMap::new(),
            patterns_bytes: 0,
            spots: Spots::default(),
            pointed_to: Vec::new(),
            large: HashMap::new(),
            links: Vec::new(),
            dynamic_names: HashMap::new(),
            has_unevaluated: false,
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
        self.patterns_bytes += pattern.compiled_bytes();
        self.patterns.push(pattern);
        self.pattern_ids.insert(text.to_owned(), id);
        id
    }

    fn finish(mut self) -> Result<Program, CompileError> {
        if !self.findings.is_empty() {
            return Err(CompileError { findings: self.findings, truncated: self.truncated });
        }
        let dynamic = self.dynamic_blocks();
        let mut parts = Parts {
            profile: self.options.profile,
            limits: self.options.limits.clone(),
            documents: self.documents.iter().copied().map(Arc::clone).collect(),
            blocks: self.blocks,
            code: self.code,
            patterns: self.patterns,
            warnings: self.warnings,
            fast: FastPath::default(),
            dynamic,
        };
        parts.fast = FastPath::of(&parts);
        // Profile wire names what it does not enforce, which is doubt enough; other texts are not the author's.
        if self.options.profile != Profile::Wire {
            let root = self.sources.main.root();
            let own = self.spots.of_main().map(|(node, block)| (block, root.at_index(node)));
            let doubts = preflight::doubts(&parts, own, self.options);
            parts.warnings.extend(doubts);
        }
        Ok(Program { parts: Arc::new(parts) })
    }

    fn dynamic_blocks(&mut self) -> HashMap<ResourceId, Vec<(u32, BlockId)>> {
        let mut blocks: HashMap<_, Vec<_>> = HashMap::new();
        for (resource, name, place) in self.index.dynamic() {
            if let (Some(name), Some(block)) = (self.dynamic_names.get(name), self.spots.block(place.spot)) {
                blocks.entry(*resource).or_default().push((*name, block));
            }
        }
        blocks
    }
}

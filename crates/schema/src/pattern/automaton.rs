//! Small regular patterns: a byte automaton, built once enough was matched to pay for it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use regex_automata::meta::Regex;
use regex_syntax::hir::{Class, ClassUnicode, Hir, Look, Repetition};

use super::table::Table;
use super::threads::Threads;
use super::tree::{Assertion, Node, PerNode, Tree};
use crate::{Exhausted, Work};

/// States up to which a pattern is given to the byte automaton. In the worst case each byte visits all of them, which
/// is charged beforehand; above, the matcher counts what it really visits.
pub(super) const STATES_MAX: usize = 250;

/// States for which a byte costs one unit more.
const STATES_PER_UNIT: u64 = 8;

// No pattern may cost more a byte than the allowance grows by, or large inputs would be refused for their size.
const _: () = assert!(STATES_MAX as u64 / STATES_PER_UNIT < 32);

/// Bytes matched by the threads before the automaton is built. Building takes about as long as this many bytes, and
/// takes kilobytes of memory; most patterns of a catalog are never used, or only on a few short texts.
const BYTES_BEFORE: usize = 4 << 10;

/// What one match counts for beside its bytes: to begin one takes the threads about as long as so many bytes.
const MATCH_BYTES: usize = 16;

/// Bytes of the automaton's cache in each thread; it is given up for a slower walk where that is too little. Common
/// patterns fill a few kilobytes of it, and a catalog can have thousands of patterns.
const CACHE_BYTES: usize = 64 << 10;

/// Bytes that the automaton takes once it is built and used, as measured on common patterns: so much, and more for each
/// state.
const BUILT_BYTES: usize = 6 << 10;
const BUILT_BYTES_PER_STATE: usize = 64;

/// Bytes of the automaton itself. What is weighed as small stays far below.
const AUTOMATON_BYTES_MAX: usize = 1 << 20;

#[derive(Debug)]
pub(super) struct Automaton {
    tree: Tree,
    units_per_byte: u64,
    threads: Threads,
    bytes: usize,
    /// Bytes matched so far.
    matched: AtomicUsize,
    built: OnceLock<Built>,
}

/// What answers once it was worth while.
#[derive(Debug)]
enum Built {
    Table(Table),
    /// An automaton of more states, made as they are reached.
    Regex(Regex),
    /// Neither took it.
    None,
}

impl Automaton {
    /// Takes a regular tree of at most [`STATES_MAX`] states.
    pub(super) fn new(tree: Tree, states: u64, anchored: bool) -> Self {
        let threads = Threads::new(&tree, anchored);
        // It has at most STATES_MAX states.
        let built = BUILT_BYTES + BUILT_BYTES_PER_STATE * usize::try_from(states).unwrap_or(STATES_MAX);
        Automaton {
            bytes: tree.bytes() + threads.bytes() + built,
            tree,
            units_per_byte: 1 + states / STATES_PER_UNIT,
            threads,
            matched: AtomicUsize::new(0),
            built: OnceLock::new(),
        }
    }

    /// Bytes that it takes, the automaton included, which is built later.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The same answer and the same charge, if the automaton is built.
    #[inline]
    pub(super) fn is_match_at_once(
        &self,
        subject: &[u8],
        work: &mut Work,
    ) -> Option<Result<bool, Exhausted>> {
        let built = self.built.get().filter(|built| !matches!(built, Built::None))?;
        let charged =
            work.charge((subject.len() as u64).saturating_mul(self.units_per_byte).saturating_add(1));
        match built {
            Built::Table(table) => Some(charged.map(|()| table.is_match(subject))),
            Built::Regex(regex) => Some(charged.map(|()| regex.is_match(subject))),
            Built::None => None,
        }
    }

    /// Charges one unit a call, and a fixed number a byte, whichever matcher answers.
    pub(super) fn is_match(&self, subject: &str, work: &mut Work) -> Result<bool, Exhausted> {
        work.charge((subject.len() as u64).saturating_mul(self.units_per_byte).saturating_add(1))?;
        if self.built.get().is_none()
            && self.matched.fetch_add(subject.len() + MATCH_BYTES, Ordering::Relaxed) < BYTES_BEFORE
        {
            return self.threads.is_match(subject, &mut Work::new(u64::MAX));
        }
        match self.built.get_or_init(|| build(&self.tree)) {
            Built::Table(table) => Ok(table.is_match(subject.as_bytes())),
            Built::Regex(regex) => Ok(regex.is_match(subject)),
            Built::None => self.threads.is_match(subject, &mut Work::new(u64::MAX)),
        }
    }
}

fn build(tree: &Tree) -> Built {
    let hir = hir(tree);
    if let Some(table) = Table::new(&hir) {
        return Built::Table(table);
    }
    let config = Regex::config()
        .onepass(false)
        .hybrid_cache_capacity(CACHE_BYTES)
        .nfa_size_limit(Some(AUTOMATON_BYTES_MAX));
    Regex::builder().configure(config).build_from_hir(&hir).map_or(Built::None, Built::Regex)
}

/// The tree without its groups, from the leaves in one loop.
fn hir(tree: &Tree) -> Hir {
    let mut built: PerNode<Option<Hir>> = PerNode::with_capacity_of(tree);
    for node in tree.nodes() {
        let mut take = |id| built.take(id).unwrap_or_else(Hir::empty);
        let hir = match node {
            // Neither of the last two stands in a regular tree.
            Node::Empty | Node::Look(_) | Node::BackReference(_) => Hir::empty(),
            Node::Literal(c) => Hir::literal(c.encode_utf8(&mut [0; 4]).as_bytes()),
            Node::Set(set) => {
                let set = tree.sets().get(set.0 as usize).cloned().unwrap_or_else(ClassUnicode::empty);
                Hir::class(Class::Unicode(set))
            }
            Node::Assert(assertion) => Hir::look(match assertion {
                Assertion::Start => Look::Start,
                Assertion::End => Look::End,
                Assertion::Boundary => Look::WordAscii,
                Assertion::NoBoundary => Look::WordAsciiNegate,
            }),
            Node::Capture(_, body) => take(*body),
            Node::Concat(items) => Hir::concat(items.iter().map(|item| take(*item)).collect()),
            Node::Alternate(alternatives) => {
                Hir::alternation(alternatives.iter().map(|alternative| take(*alternative)).collect())
            }
            Node::Repeat(repeat) => Hir::repetition(Repetition {
                min: repeat.min,
                max: repeat.max,
                greedy: repeat.greedy,
                sub: Box::new(take(repeat.body)),
            }),
        };
        built.push(Some(hir));
    }
    built.take(tree.root()).unwrap_or_else(Hir::empty)
}

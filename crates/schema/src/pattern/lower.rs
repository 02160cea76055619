//! Lowers a small regular tree to a byte automaton of regex-automata.

use regex_automata::meta::Regex;
use regex_syntax::hir::{Class, ClassUnicode, Hir, Look, Repetition};

use super::tree::{Assertion, Node, PerNode, Tree};

/// Bytes of the automaton's cache in each thread; it is given up for a slower walk where that is too little.
const CACHE_BYTES: usize = 256 << 10;

/// Bytes of the automaton itself. What is weighed as small stays far below.
const AUTOMATON_BYTES_MAX: usize = 1 << 20;

/// Builds the automaton; `None` if regex-automata declines.
pub(super) fn automaton(tree: &Tree) -> Option<Regex> {
    let config = Regex::config()
        .onepass(false)
        .hybrid_cache_capacity(CACHE_BYTES)
        .nfa_size_limit(Some(AUTOMATON_BYTES_MAX));
    Regex::builder().configure(config).build_from_hir(&hir(tree)).ok()
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

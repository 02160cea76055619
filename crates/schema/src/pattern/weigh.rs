//! Weighs a tree before anything is built from it, and finds what the matchers want to know about its parts.

use regex_syntax::hir::ClassUnicode;
use regex_syntax::utf8::Utf8Sequences;

use super::automaton::STATES_MAX;
use super::tree::{Assertion, Node, PerNode, Repeat, Tree};

/// What is known about a node.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Facts {
    /// Instructions of the linear program, with counted repetitions written out.
    pub(super) instructions: u64,
    /// States of a byte automaton, about.
    pub(super) states: u64,
    /// Whether each match begins at the absolute start.
    pub(super) anchored: bool,
    /// Whether it can match without consuming.
    pub(super) nullable: bool,
}

/// Facts about every node, in one loop from the leaves.
pub(super) fn weigh(tree: &Tree) -> PerNode<Facts> {
    let set_states: Vec<u64> = tree.sets().iter().map(set_states).collect();
    let mut facts = PerNode::with_capacity_of(tree);
    for node in tree.nodes() {
        facts.push(facts_of(node, &set_states, &facts));
    }
    facts
}

/// All single bytes together take one state, each longer sequence as many as it has bytes.
fn set_states(set: &ClassUnicode) -> u64 {
    let ascii = set.ranges().first().is_some_and(|range| range.start().is_ascii());
    let longer = set.ranges().iter().flat_map(|range| Utf8Sequences::new(range.start(), range.end()));
    // A set of more sequences than this is never given to the byte automaton, so that they need no counting.
    let longer = longer.filter(|sequence| sequence.len() > 1).take(STATES_MAX);
    u64::from(ascii) + longer.map(|sequence| sequence.len() as u64).sum::<u64>()
}

fn facts_of(node: &Node, set_states: &[u64], known: &PerNode<Facts>) -> Facts {
    let one = Facts { instructions: 1, states: 1, anchored: false, nullable: true };
    match node {
        Node::Empty => Facts { instructions: 0, ..one },
        Node::Literal(c) => Facts { states: c.len_utf8() as u64, nullable: false, ..one },
        Node::Set(set) => {
            let states = set_states.get(set.0 as usize).copied().unwrap_or(u64::MAX);
            Facts { states: states.max(1), nullable: false, ..one }
        }
        // `\B` holds between the bytes of one code point, where the byte automaton would have to step back from it.
        Node::Assert(Assertion::NoBoundary) => Facts { states: u64::MAX, ..one },
        Node::Assert(assertion) => Facts { anchored: *assertion == Assertion::Start, ..one },
        Node::Capture(_, body) => *known.get(*body),
        Node::Look(_) | Node::BackReference(_) => one,
        Node::Concat(items) => {
            let mut sum = Facts { instructions: 0, states: 0, ..one };
            for item in items {
                let item = known.get(*item);
                // What stands before the anchor can consume nothing, or the anchor does not hold.
                sum.anchored |= item.anchored;
                sum.nullable &= item.nullable;
                sum.instructions = sum.instructions.saturating_add(item.instructions);
                sum.states = sum.states.saturating_add(item.states);
            }
            sum
        }
        Node::Alternate(alternatives) => {
            let mut sum = Facts { instructions: 0, states: 1, anchored: true, nullable: false };
            for alternative in alternatives {
                let alternative = known.get(*alternative);
                sum.anchored &= alternative.anchored;
                sum.nullable |= alternative.nullable;
                sum.instructions =
                    sum.instructions.saturating_add(alternative.instructions).saturating_add(2);
                sum.states = sum.states.saturating_add(alternative.states).saturating_add(1);
            }
            sum
        }
        Node::Repeat(repeat) => repeated(repeat, known.get(repeat.body)),
    }
}

fn repeated(repeat: &Repeat, body: &Facts) -> Facts {
    let min = u64::from(repeat.min);
    // Two more a copy for the branch and the jump, as the program writes them at most.
    let (instructions, copies) = match repeat.max {
        Some(max) => {
            let fused = body.instructions == 1 && !body.nullable;
            let optional = if fused { body.instructions } else { body.instructions.saturating_add(1) };
            let options = u64::from(max) - min;
            let instructions =
                min.saturating_mul(body.instructions).saturating_add(options.saturating_mul(optional));
            (instructions, u64::from(max))
        }
        None => (min.max(1).saturating_mul(body.instructions).saturating_add(2), min.max(1)),
    };
    Facts {
        instructions,
        states: copies.saturating_mul(body.states.saturating_add(1)).saturating_add(1),
        anchored: min > 0 && body.anchored,
        nullable: min == 0 || body.nullable,
    }
}

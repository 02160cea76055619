//! The program of the backtracking matcher. Counts stay counts here: a repetition is written once.

use super::sets::{One, Sets};
use super::tree::{Assertion, Captures, Look, Node, NodeId, PerNode, Repeat, Tree};
use super::weigh::Facts;

/// A slot that holds no position.
pub(super) const NOT_SET: usize = usize::MAX;

/// Which way the subject is read: what stands in a lookbehind is read backward.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Forward,
    Backward,
}

impl Direction {
    #[inline]
    pub(super) fn step(self, position: usize, over: char) -> usize {
        match self {
            Direction::Forward => position + over.len_utf8(),
            Direction::Backward => position - over.len_utf8(),
        }
    }

    pub(super) fn reversed(self) -> Self {
        match self {
            Direction::Forward => Direction::Backward,
            Direction::Backward => Direction::Forward,
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Operation {
    One(One, Direction),
    Assert(Assertion),
    Jump(u32),
    /// Goes on, and tries `other` if that fails.
    Prefer {
        other: u32,
    },
    /// Goes to `target`, and on if that fails.
    PreferTarget {
        target: u32,
    },
    /// Notes the position in a slot: of group `n`, the start in `2n` and the end in `2n + 1`.
    Save(u32),
    Forget(Captures),
    Run(u32),
    LoopInit(u32),
    LoopHead(u32),
    LoopRound(u32),
    LoopEnd(u32),
    /// Tries what follows, up to [`Operation::LookEnd`], and then goes to `next` at the same place.
    Look {
        negative: bool,
        next: u32,
    },
    LookEnd,
    BackReference(u32, Direction),
    Match,
}

/// One code point, repeated.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    pub(super) one: One,
    pub(super) min: u32,
    pub(super) max: Option<u32>,
    pub(super) greedy: bool,
    pub(super) direction: Direction,
}

/// A repetition that counts its rounds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Loop {
    pub(super) min: u32,
    pub(super) max: Option<u32>,
    pub(super) greedy: bool,
    pub(super) head: u32,
    pub(super) exit: u32,
}

#[derive(Debug)]
pub(super) struct Program {
    pub(super) operations: Vec<Operation>,
    pub(super) runs: Vec<Run>,
    pub(super) loops: Vec<Loop>,
    /// The groups that a backreference means.
    pub(super) references: Vec<Vec<u32>>,
    pub(super) sets: Sets,
    pub(super) slots: usize,
    pub(super) anchored: bool,
}

impl Program {
    pub(super) fn new(tree: &Tree, facts: &PerNode<Facts>) -> Self {
        let mut program = Program {
            operations: Vec::new(),
            runs: Vec::new(),
            loops: Vec::new(),
            references: Vec::new(),
            sets: Sets::of(tree),
            slots: 2 * (tree.captures as usize + 1),
            anchored: facts.get(tree.root()).anchored,
        };
        Emitter { tree, facts, program: &mut program }.emit(tree.root(), Direction::Forward);
        program.operations.push(Operation::Match);
        program
    }

    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        let groups = self.references.iter().map(|groups| size_of::<Vec<u32>>() + size_of_val(&**groups));
        self.operations.capacity() * size_of::<Operation>()
            + self.runs.capacity() * size_of::<Run>()
            + self.loops.capacity() * size_of::<Loop>()
            + groups.sum::<usize>()
            + self.sets.bytes()
    }
}

struct Emitter<'a> {
    tree: &'a Tree,
    facts: &'a PerNode<Facts>,
    program: &'a mut Program,
}

impl Emitter<'_> {
    /// Appends the operations of a node. Calls itself once a level of the tree, which the nesting limit bounds.
    fn emit(&mut self, node: NodeId, direction: Direction) {
        let tree = self.tree;
        match tree.node(node) {
            Node::Empty => {}
            Node::Literal(c) => self.push(Operation::One(One::Literal(*c), direction)),
            Node::Set(set) => self.push(Operation::One(One::Set(*set), direction)),
            Node::Assert(assertion) => self.push(Operation::Assert(*assertion)),
            Node::Capture(group, body) => {
                let (start, end) = (group * 2, group * 2 + 1);
                let (first, last) = match direction {
                    Direction::Forward => (start, end),
                    Direction::Backward => (end, start),
                };
                self.push(Operation::Save(first));
                self.emit(*body, direction);
                self.push(Operation::Save(last));
            }
            Node::Concat(items) => match direction {
                Direction::Forward => items.iter().for_each(|item| self.emit(*item, direction)),
                Direction::Backward => items.iter().rev().for_each(|item| self.emit(*item, direction)),
            },
            Node::Alternate(alternatives) => self.alternate(alternatives, direction),
            Node::Repeat(repeat) => self.repeat(repeat, direction),
            Node::Look(look) => self.look(*look),
            Node::BackReference(groups) => {
                let index = length(&self.program.references);
                self.program.references.push(groups.clone());
                self.push(Operation::BackReference(index, direction));
            }
        }
    }

    fn alternate(&mut self, alternatives: &[NodeId], direction: Direction) {
        let Some((last, before)) = alternatives.split_last() else {
            return;
        };
        let mut jumps = Vec::new();
        for alternative in before {
            let choice = self.reserve();
            self.emit(*alternative, direction);
            jumps.push(self.reserve());
            self.fill(choice, Operation::Prefer { other: self.here() });
        }
        self.emit(*last, direction);
        for jump in jumps {
            self.fill(jump, Operation::Jump(self.here()));
        }
    }

    fn look(&mut self, look: Look) {
        let start = self.reserve();
        self.emit(look.body, if look.ahead { Direction::Forward } else { Direction::Backward });
        self.push(Operation::LookEnd);
        self.fill(start, Operation::Look { negative: look.negative, next: self.here() });
    }

    fn repeat(&mut self, repeat: &Repeat, direction: Direction) {
        let Repeat { body, min, max, greedy, captures } = *repeat;
        if max == Some(0) {
            return;
        }
        let one = match self.tree.node(body) {
            Node::Literal(c) => Some(One::Literal(*c)),
            Node::Set(set) => Some(One::Set(*set)),
            _ => None,
        };
        if let Some(one) = one {
            let index = length(&self.program.runs);
            self.program.runs.push(Run { one, min, max, greedy, direction });
            return self.push(Operation::Run(index));
        }
        // A body that always consumes needs no check for empty rounds, and no count if none but 0 and 1 matter.
        match (self.facts.get(body).nullable, min, max) {
            (false, 0, Some(1)) => {
                let choice = self.reserve();
                let (skip, start) = (self.reserve_if(!greedy), self.here());
                self.emit(body, direction);
                self.branch(choice, skip, start);
            }
            (false, 0, None) => {
                let choice = self.reserve();
                let (skip, start) = (self.reserve_if(!greedy), self.here());
                self.forget(captures);
                self.emit(body, direction);
                self.push(Operation::Jump(position(choice)));
                self.branch(choice, skip, start);
            }
            (false, 1, None) => {
                let start = self.here();
                self.forget(captures);
                self.emit(body, direction);
                if greedy {
                    self.push(Operation::PreferTarget { target: start });
                } else {
                    self.push(Operation::Prefer { other: start });
                }
            }
            _ => self.counted(repeat, direction),
        }
    }

    /// Fills in the choice between a body at `start` and what comes after it. A lazy choice has a jump to the latter.
    fn branch(&mut self, choice: usize, skip: Option<usize>, start: u32) {
        let exit = self.here();
        match skip {
            None => self.fill(choice, Operation::Prefer { other: exit }),
            Some(skip) => {
                self.fill(choice, Operation::Prefer { other: start });
                self.fill(skip, Operation::Jump(exit));
            }
        }
    }

    fn counted(&mut self, repeat: &Repeat, direction: Direction) {
        let register = length(&self.program.loops);
        self.push(Operation::LoopInit(register));
        let head = self.here();
        let Repeat { min, max, greedy, .. } = *repeat;
        self.program.loops.push(Loop { min, max, greedy, head, exit: 0 });
        self.push(Operation::LoopHead(register));
        self.push(Operation::LoopRound(register));
        self.forget(repeat.captures);
        self.emit(repeat.body, direction);
        self.push(Operation::LoopEnd(register));
        let exit = self.here();
        if let Some(loop_) = self.program.loops.get_mut(register as usize) {
            loop_.exit = exit;
        }
    }

    fn forget(&mut self, captures: Captures) {
        if captures.first < captures.end {
            self.push(Operation::Forget(captures));
        }
    }

    fn push(&mut self, operation: Operation) {
        self.program.operations.push(operation);
    }

    fn here(&self) -> u32 {
        length(&self.program.operations)
    }

    /// Keeps a place for an operation whose target is not yet known.
    fn reserve(&mut self) -> usize {
        self.push(Operation::Jump(0));
        self.program.operations.len() - 1
    }

    fn reserve_if(&mut self, wanted: bool) -> Option<usize> {
        wanted.then(|| self.reserve())
    }

    fn fill(&mut self, place: usize, operation: Operation) {
        if let Some(reserved) = self.program.operations.get_mut(place) {
            *reserved = operation;
        }
    }
}

fn length<T>(items: &[T]) -> u32 {
    position(items.len())
}

/// A pattern's text has a limit far below 4 GiB, and each operation takes at least a byte of it.
fn position(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

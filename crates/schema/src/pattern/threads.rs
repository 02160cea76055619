//! Regular patterns too large for a byte automaton: all threads of the pattern advance together over the subject's
//! code points, and each step of each thread is counted.
//!
//! A class is one instruction here, however many code points it has, so that `\p{L}{1,100}` and `.{1,4000}` stay small.

use super::sets::{One, Sets};
use super::tree::{Assertion, Node, NodeId, Repeat, SetId, Tree};
use crate::{Exhausted, Work};

/// Bytes of an instruction.
pub(super) const INSTRUCTION_BYTES: u64 = size_of::<Instruction>() as u64;

// `.{0,65535}` with anchors must stay under the limit of 1 MiB.
const _: () = assert!(INSTRUCTION_BYTES <= 12);

#[derive(Debug, Clone, Copy)]
enum Instruction {
    Literal(char),
    Set(SetId),
    /// Consumes, or goes to the target without consuming.
    OptionalLiteral(char, u32),
    OptionalSet(SetId, u32),
    /// Goes on, and to the target too.
    Split(u32),
    Jump(u32),
    Assert(Assertion),
    Match,
}

#[derive(Debug)]
pub(super) struct Threads {
    program: Box<[Instruction]>,
    sets: Sets,
    anchored: bool,
}

impl Threads {
    /// Builds the program of a regular tree that has been weighed.
    pub(super) fn new(tree: &Tree, anchored: bool) -> Self {
        let mut program = Vec::new();
        emit(tree, tree.root(), &mut program);
        program.push(Instruction::Match);
        Threads { program: program.into(), sets: Sets::of(tree), anchored }
    }

    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.program) + self.sets.bytes()
    }

    /// Charges one unit a call and a sixteenth of one an instruction, then one a code point and one a step of a thread.
    pub(super) fn is_match(&self, subject: &str, work: &mut Work) -> Result<bool, Exhausted> {
        work.charge(1 + self.program.len() as u64 / 16)?;
        let mut run = Run {
            program: &self.program,
            seen: vec![0; self.program.len()],
            position: 0,
            waiting: Vec::new(),
            pending: Vec::new(),
            steps: 0,
        };
        let mut threads: Vec<u32> = Vec::new();
        let mut before = None;
        let mut characters = subject.chars();
        loop {
            let after = characters.clone().next();
            run.position += 1;
            for thread in threads.drain(..) {
                if run.follow(thread, before, after) {
                    return Ok(true);
                }
            }
            if (before.is_none() || !self.anchored) && run.follow(0, before, after) {
                return Ok(true);
            }
            work.charge(1 + std::mem::take(&mut run.steps))?;
            let Some(c) = characters.next() else {
                return Ok(false);
            };
            if run.waiting.is_empty() && self.anchored {
                return Ok(false);
            }
            for at in run.waiting.drain(..) {
                let one = match self.program.get(at as usize) {
                    Some(Instruction::Literal(literal) | Instruction::OptionalLiteral(literal, _)) => {
                        One::Literal(*literal)
                    }
                    Some(Instruction::Set(set) | Instruction::OptionalSet(set, _)) => One::Set(*set),
                    _ => continue,
                };
                if self.sets.matches(one, c) {
                    threads.push(at + 1);
                }
            }
            before = Some(c);
        }
    }
}

/// What changes during a match.
struct Run<'p> {
    program: &'p [Instruction],
    /// The position, counted from 1, at which an instruction was last reached.
    seen: Vec<u32>,
    position: u32,
    /// Instructions that wait for a code point at this position.
    waiting: Vec<u32>,
    pending: Vec<u32>,
    steps: u64,
}

impl Run<'_> {
    /// Follows a thread as far as it goes without consuming; says whether it reached the end of the pattern.
    fn follow(&mut self, thread: u32, before: Option<char>, after: Option<char>) -> bool {
        self.pending.push(thread);
        while let Some(at) = self.pending.pop() {
            let Some((seen, instruction)) = self.seen.get_mut(at as usize).zip(self.program.get(at as usize))
            else {
                continue;
            };
            self.steps += 1;
            if *seen == self.position {
                continue;
            }
            *seen = self.position;
            match *instruction {
                Instruction::Literal(_) | Instruction::Set(_) => self.waiting.push(at),
                Instruction::OptionalLiteral(_, target) | Instruction::OptionalSet(_, target) => {
                    self.waiting.push(at);
                    self.pending.push(target);
                }
                Instruction::Split(target) => self.pending.extend([target, at + 1]),
                Instruction::Jump(target) => self.pending.push(target),
                Instruction::Assert(assertion) => {
                    if assertion.holds(before, after) {
                        self.pending.push(at + 1);
                    }
                }
                Instruction::Match => {
                    self.pending.clear();
                    return true;
                }
            }
        }
        false
    }
}

fn here(program: &[Instruction]) -> u32 {
    // The weight was checked before, and even a limit of 4 GiB leaves the count below 2^32.
    u32::try_from(program.len()).unwrap_or(u32::MAX)
}

/// Points the branches and jumps at `places` to what comes next.
fn land(program: &mut [Instruction], places: impl IntoIterator<Item = usize>) {
    let next = here(program);
    for place in places {
        match program.get_mut(place) {
            Some(
                Instruction::Split(target)
                | Instruction::Jump(target)
                | Instruction::OptionalLiteral(_, target)
                | Instruction::OptionalSet(_, target),
            ) => *target = next,
            _ => debug_assert!(false, "only what has a target is noted"),
        }
    }
}

/// Appends the instructions of a node. Calls itself once a level of the tree, which the nesting limit bounds.
fn emit(tree: &Tree, node: NodeId, program: &mut Vec<Instruction>) {
    match tree.node(node) {
        // Neither of the last two stands in a regular tree.
        Node::Empty | Node::Look(_) | Node::BackReference(_) => {}
        Node::Literal(c) => program.push(Instruction::Literal(*c)),
        Node::Set(set) => program.push(Instruction::Set(*set)),
        Node::Assert(assertion) => program.push(Instruction::Assert(*assertion)),
        Node::Capture(_, body) => emit(tree, *body, program),
        Node::Concat(items) => items.iter().for_each(|item| emit(tree, *item, program)),
        Node::Alternate(alternatives) => {
            let mut jumps = Vec::new();
            for (i, alternative) in alternatives.iter().enumerate() {
                if i + 1 == alternatives.len() {
                    emit(tree, *alternative, program);
                    break;
                }
                let split = program.len();
                program.push(Instruction::Split(0));
                emit(tree, *alternative, program);
                jumps.push(program.len());
                program.push(Instruction::Jump(0));
                land(program, [split]);
            }
            land(program, jumps);
        }
        Node::Repeat(repeat) => emit_repeat(tree, repeat, program),
    }
}

fn emit_repeat(tree: &Tree, repeat: &Repeat, program: &mut Vec<Instruction>) {
    let start = program.len();
    let copies = if repeat.max.is_some() { repeat.min } else { repeat.min.saturating_sub(1) };
    for _ in 0..copies {
        emit(tree, repeat.body, program);
        // A body without instructions weighs nothing however often it is repeated.
        if program.len() == start {
            break;
        }
    }
    let Some(max) = repeat.max else {
        let split = program.len();
        if repeat.min == 0 {
            program.push(Instruction::Split(0));
        }
        let start = here(program);
        emit(tree, repeat.body, program);
        if repeat.min == 0 {
            program.push(Instruction::Jump(start - 1));
            land(program, [split]);
        } else {
            program.push(Instruction::Split(start));
        }
        return;
    };
    let mut exits = Vec::new();
    for _ in repeat.min..max {
        exits.push(program.len());
        match tree.node(repeat.body) {
            Node::Literal(c) => program.push(Instruction::OptionalLiteral(*c, 0)),
            Node::Set(set) => program.push(Instruction::OptionalSet(*set, 0)),
            _ => {
                program.push(Instruction::Split(0));
                emit(tree, repeat.body, program);
            }
        }
    }
    land(program, exits);
}

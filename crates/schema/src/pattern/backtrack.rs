//! Patterns with lookaround or backreferences: a backtracking matcher that follows ECMA-262, keeps its own stack and
//! counts every step.

use super::program::{Direction, Loop, NOT_SET, Operation, Program, Run};
use super::tree::PerNode;
use super::tree::Tree;
use super::weigh::Facts;
use crate::{Exhausted, Work};

/// Entries of the stack, at 24 bytes each: a deeper one counts as a spent allowance, so that memory is bounded too.
const STACK_MAX: usize = 1 << 20;

/// What is undone, or tried instead, when the present way fails.
#[derive(Debug, Clone, Copy)]
enum Entry {
    /// Go on elsewhere.
    Choice { at: u32, position: usize },
    /// A greedy run gives one code point back; `nearest` is as far as it can.
    Shrink { at: u32, nearest: usize, position: usize },
    /// A lazy run takes one code point more.
    Grow { at: u32, taken: u32, position: usize },
    /// A capture's start or end held this.
    Slot { slot: u32, was: usize },
    /// A loop had begun this many rounds.
    Rounds { register: u32, was: u32 },
    /// A loop's round began here.
    RoundStart { register: u32, was: usize },
    /// Below is what was before a lookaround.
    Look { at: u32, position: usize },
}

#[derive(Debug)]
pub(super) struct Backtrack {
    program: Program,
}

struct Machine<'p> {
    program: &'p Program,
    subject: &'p str,
    stack: Vec<Entry>,
    /// Where the open lookarounds lie on the stack.
    looks: Vec<usize>,
    slots: Vec<usize>,
    rounds: Vec<u32>,
    round_starts: Vec<usize>,
}

/// What one operation led to.
enum Next {
    At(u32),
    Fail,
    Match,
}

impl Backtrack {
    pub(super) fn new(tree: &Tree, facts: &PerNode<Facts>) -> Self {
        Backtrack { program: Program::new(tree, facts) }
    }

    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.program.bytes()
    }

    /// Tries each place of the subject in turn. Charges one unit for each operation, for each code point of a run and
    /// for each byte of a backreference.
    pub(super) fn is_match(&self, subject: &str, work: &mut Work) -> Result<bool, Exhausted> {
        work.charge(1)?;
        let mut machine = Machine {
            program: &self.program,
            subject,
            stack: Vec::new(),
            looks: Vec::new(),
            slots: vec![NOT_SET; self.program.slots],
            rounds: vec![0; self.program.loops.len()],
            round_starts: vec![NOT_SET; self.program.loops.len()],
        };
        let starts = subject.char_indices().map(|(start, _)| start).chain([subject.len()]);
        for start in starts {
            if machine.matches_at(start, work)? {
                return Ok(true);
            }
            if self.program.anchored {
                break;
            }
        }
        Ok(false)
    }
}

impl Machine<'_> {
    fn matches_at(&mut self, start: usize, work: &mut Work) -> Result<bool, Exhausted> {
        let (mut at, mut position) = (0, start);
        loop {
            work.charge(1)?;
            match self.step(at, &mut position, work)? {
                Next::At(next) => at = next,
                Next::Match => return Ok(true),
                Next::Fail => match self.back_up(&mut position, work)? {
                    Some(next) => at = next,
                    None => return Ok(false),
                },
            }
            if self.stack.len() > STACK_MAX {
                return work.charge(u64::MAX).map(|()| false);
            }
        }
    }

    fn step(&mut self, at: u32, position: &mut usize, work: &mut Work) -> Result<Next, Exhausted> {
        let Some(operation) = self.program.operations.get(at as usize) else {
            return Ok(Next::Fail);
        };
        let next = at + 1;
        Ok(match *operation {
            Operation::One(one, direction) => match self.beside(*position, direction) {
                Some(c) if self.program.sets.matches(one, c) => {
                    *position = direction.step(*position, c);
                    Next::At(next)
                }
                _ => Next::Fail,
            },
            Operation::Assert(assertion) => {
                let before = self.beside(*position, Direction::Backward);
                let after = self.beside(*position, Direction::Forward);
                if assertion.holds(before, after) { Next::At(next) } else { Next::Fail }
            }
            Operation::Jump(target) => Next::At(target),
            Operation::Prefer { other } => {
                self.stack.push(Entry::Choice { at: other, position: *position });
                Next::At(next)
            }
            Operation::PreferTarget { target } => {
                self.stack.push(Entry::Choice { at: next, position: *position });
                Next::At(target)
            }
            Operation::Save(slot) => {
                self.set_slot(slot, *position);
                Next::At(next)
            }
            Operation::Forget(captures) => {
                work.charge(u64::from(captures.end - captures.first))?;
                for slot in captures.first * 2..captures.end * 2 {
                    self.set_slot(slot, NOT_SET);
                }
                Next::At(next)
            }
            Operation::Run(run) => self.run(at, run, position, work)?,
            Operation::LoopInit(register) => {
                self.set_rounds(register, 0);
                Next::At(next)
            }
            Operation::LoopHead(register) => self.loop_head(register, at, *position),
            Operation::LoopRound(register) => self.loop_round(register, at, *position),
            Operation::LoopEnd(register) => self.loop_end(register, *position),
            Operation::Look { .. } => {
                self.looks.push(self.stack.len());
                self.stack.push(Entry::Look { at, position: *position });
                Next::At(next)
            }
            Operation::LookEnd => self.look_end(position, work)?,
            Operation::BackReference(index, direction) => {
                self.back_reference(index, direction, next, position, work)?
            }
            Operation::Match => Next::Match,
        })
    }

    /// The code point next to a position.
    #[inline]
    fn beside(&self, position: usize, direction: Direction) -> Option<char> {
        match direction {
            Direction::Forward => self.subject.get(position..).and_then(|rest| rest.chars().next()),
            Direction::Backward => self.subject.get(..position).and_then(|rest| rest.chars().next_back()),
        }
    }

    /// Repeats one code point: a greedy run takes all at once and later gives back one by one.
    fn run(&mut self, at: u32, index: u32, position: &mut usize, work: &mut Work) -> Result<Next, Exhausted> {
        let Some(run) = self.program.runs.get(index as usize).copied() else {
            return Ok(Next::Fail);
        };
        let least = self.advance(&run, *position, run.min, work)?;
        let Some(nearest) = least else {
            return Ok(Next::Fail);
        };
        *position = nearest;
        let more = run.max.map_or(u32::MAX, |max| max - run.min);
        if !run.greedy {
            if more > 0 {
                self.stack.push(Entry::Grow { at, taken: run.min, position: nearest });
            }
            return Ok(Next::At(at + 1));
        }
        let mut taken = 0;
        while taken < more {
            match self.beside(*position, run.direction) {
                Some(c) if self.program.sets.matches(run.one, c) => {
                    *position = run.direction.step(*position, c);
                }
                _ => break,
            }
            // Without a limit on rounds the count does not matter.
            taken += u32::from(run.max.is_some());
            work.charge(1)?;
        }
        if *position != nearest {
            self.stack.push(Entry::Shrink { at, nearest, position: *position });
        }
        Ok(Next::At(at + 1))
    }

    /// Takes `count` code points of a run.
    fn advance(
        &self,
        run: &Run,
        mut position: usize,
        count: u32,
        work: &mut Work,
    ) -> Result<Option<usize>, Exhausted> {
        for _ in 0..count {
            work.charge(1)?;
            match self.beside(position, run.direction) {
                Some(c) if self.program.sets.matches(run.one, c) => {
                    position = run.direction.step(position, c);
                }
                _ => return Ok(None),
            }
        }
        Ok(Some(position))
    }

    fn loop_head(&mut self, register: u32, at: u32, position: usize) -> Next {
        let Some(Loop { min, max, greedy, exit, .. }) = self.program.loops.get(register as usize).copied()
        else {
            return Next::Fail;
        };
        let rounds = self.rounds.get(register as usize).copied().unwrap_or_default();
        let round = at + 1;
        if rounds < min {
            return Next::At(round);
        }
        if max.is_some_and(|max| rounds >= max) {
            return Next::At(exit);
        }
        let (first, other) = if greedy { (round, exit) } else { (exit, round) };
        self.stack.push(Entry::Choice { at: other, position });
        Next::At(first)
    }

    fn loop_round(&mut self, register: u32, at: u32, position: usize) -> Next {
        if let Some(start) = self.round_starts.get_mut(register as usize) {
            self.stack.push(Entry::RoundStart { register, was: *start });
            *start = position;
        }
        Next::At(at + 1)
    }

    /// SPEC: ECMA-262 RepeatMatcher: once enough rounds are done, a round that consumed nothing fails.
    fn loop_end(&mut self, register: u32, position: usize) -> Next {
        let Some(Loop { min, head, .. }) = self.program.loops.get(register as usize).copied() else {
            return Next::Fail;
        };
        let rounds = self.rounds.get(register as usize).copied().unwrap_or_default();
        if rounds >= min && self.round_starts.get(register as usize) == Some(&position) {
            return Next::Fail;
        }
        self.set_rounds(register, rounds.saturating_add(1));
        Next::At(head)
    }

    /// The body of a lookaround has matched.
    fn look_end(&mut self, position: &mut usize, work: &mut Work) -> Result<Next, Exhausted> {
        let Some(base) = self.looks.pop() else {
            return Ok(Next::Fail);
        };
        let Some(Entry::Look { at, position: before }) = self.stack.get(base).copied() else {
            return Ok(Next::Fail);
        };
        work.charge((self.stack.len() - base) as u64)?;
        let Some(Operation::Look { negative, next }) = self.program.operations.get(at as usize).copied()
        else {
            return Ok(Next::Fail);
        };
        if negative {
            while self.stack.len() > base {
                if let Some(entry) = self.stack.pop() {
                    self.undo(entry);
                }
            }
            return Ok(Next::Fail);
        }
        // A lookaround is never entered again from behind: its choices go, what undoes its captures stays.
        let mut kept = base;
        for i in base..self.stack.len() {
            if let Some(entry @ (Entry::Slot { .. } | Entry::Rounds { .. } | Entry::RoundStart { .. })) =
                self.stack.get(i).copied()
            {
                if let Some(place) = self.stack.get_mut(kept) {
                    *place = entry;
                }
                kept += 1;
            }
        }
        self.stack.truncate(kept);
        *position = before;
        Ok(Next::At(next))
    }

    fn back_reference(
        &self,
        index: u32,
        direction: Direction,
        next: u32,
        position: &mut usize,
        work: &mut Work,
    ) -> Result<Next, Exhausted> {
        let groups = self.program.references.get(index as usize).map(Vec::as_slice).unwrap_or_default();
        let captured = groups.iter().find_map(|group| {
            let slot =
                |slot: u32| self.slots.get(slot as usize).copied().filter(|position| *position != NOT_SET);
            self.subject.get(slot(group * 2)?..slot(group * 2 + 1)?)
        });
        // A group that took no part matches the empty text.
        let captured = captured.unwrap_or_default();
        work.charge(captured.len() as u64)?;
        let found = match direction {
            Direction::Forward => {
                self.subject.get(*position..).is_some_and(|rest| rest.starts_with(captured))
            }
            Direction::Backward => self.subject.get(..*position).is_some_and(|rest| rest.ends_with(captured)),
        };
        if !found {
            return Ok(Next::Fail);
        }
        match direction {
            Direction::Forward => *position += captured.len(),
            Direction::Backward => *position -= captured.len(),
        }
        Ok(Next::At(next))
    }

    /// Takes the last choice that is left; `None` if there is none.
    fn back_up(&mut self, position: &mut usize, work: &mut Work) -> Result<Option<u32>, Exhausted> {
        while let Some(entry) = self.stack.pop() {
            work.charge(1)?;
            match entry {
                Entry::Choice { at, position: place } => {
                    *position = place;
                    return Ok(Some(at));
                }
                Entry::Shrink { at, nearest, position: place } => {
                    let direction = self.run_at(at).map_or(Direction::Forward, |run| run.direction);
                    // Giving back walks against the direction of the run.
                    let Some(c) = self.beside(place, direction.reversed()) else {
                        continue;
                    };
                    *position = direction.reversed().step(place, c);
                    if *position != nearest {
                        self.stack.push(Entry::Shrink { at, nearest, position: *position });
                    }
                    return Ok(Some(at + 1));
                }
                Entry::Grow { at, taken, position: place } => {
                    let Some(run) = self.run_at(at) else {
                        continue;
                    };
                    let Some(further) = self.advance(&run, place, 1, work)? else {
                        continue;
                    };
                    let taken = taken.saturating_add(1);
                    if run.max.is_none_or(|max| taken < max) {
                        self.stack.push(Entry::Grow { at, taken, position: further });
                    }
                    *position = further;
                    return Ok(Some(at + 1));
                }
                Entry::Look { at, position: place } => {
                    self.looks.pop();
                    if let Some(Operation::Look { negative: true, next }) =
                        self.program.operations.get(at as usize)
                    {
                        *position = place;
                        return Ok(Some(*next));
                    }
                }
                Entry::Slot { .. } | Entry::Rounds { .. } | Entry::RoundStart { .. } => self.undo(entry),
            }
        }
        Ok(None)
    }

    fn run_at(&self, at: u32) -> Option<Run> {
        match self.program.operations.get(at as usize) {
            Some(Operation::Run(index)) => self.program.runs.get(*index as usize).copied(),
            _ => None,
        }
    }

    fn undo(&mut self, entry: Entry) {
        match entry {
            Entry::Slot { slot, was } => put(&mut self.slots, slot, was),
            Entry::Rounds { register, was } => put(&mut self.rounds, register, was),
            Entry::RoundStart { register, was } => put(&mut self.round_starts, register, was),
            Entry::Choice { .. } | Entry::Shrink { .. } | Entry::Grow { .. } | Entry::Look { .. } => {}
        }
    }

    fn set_slot(&mut self, slot: u32, position: usize) {
        if let Some(held) = self.slots.get_mut(slot as usize)
            && *held != position
        {
            self.stack.push(Entry::Slot { slot, was: *held });
            *held = position;
        }
    }

    fn set_rounds(&mut self, register: u32, rounds: u32) {
        if let Some(held) = self.rounds.get_mut(register as usize) {
            self.stack.push(Entry::Rounds { register, was: *held });
            *held = rounds;
        }
    }
}

fn put<T>(values: &mut [T], index: u32, value: T) {
    if let Some(held) = values.get_mut(index as usize) {
        *held = value;
    }
}

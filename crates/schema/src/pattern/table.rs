//! A small automaton as a table: for each state, which bytes keep it, which lead to the state after it, and where the
//! others lead.
//!
//! A pattern of tool arguments is mostly a row of classes, each repeated. The sets of a byte do not depend on the state, so
//! the processor looks ahead where a walk by next states would wait for each of them.

use std::collections::HashMap;

use regex_automata::Anchored;
use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::nfa::thompson;
use regex_automata::util::primitives::StateID;
use regex_automata::util::start;
use regex_syntax::hir::Hir;

/// States of a table; larger automata are left to regex-automata.
const STATES_MAX: usize = 256;
/// Bytes of the automaton that the table is made from, and of what is needed to make that.
const DENSE_BYTES_MAX: usize = 128 << 10;
const DETERMINIZE_BYTES_MAX: usize = 512 << 10;
/// Sets that a byte has a bit for.
const SETS_MAX: usize = 32;

/// Refuses whatever follows.
const DEAD: u16 = 0;
/// Accepts whatever follows.
const ACCEPTED: u16 = 1;

#[derive(Debug)]
pub(super) struct Table {
    /// For each byte the sets that it is in.
    sets: Box<[u32; 256]>,
    /// For each byte its class, the column of `next`.
    class: Box<[u8; 256]>,
    columns: usize,
    start: u16,
    /// From state 2 on, by number less two.
    states: Box<[State]>,
    next: Box<[u16]>,
}

#[derive(Debug, Clone, Copy)]
struct State {
    /// The set of bytes that keep the state; none if there was no bit left.
    stay: u32,
    /// The set of bytes that lead to the state after it.
    step: u32,
    /// Does a text that ends here match?
    accepts: bool,
}

impl Table {
    /// `None` if the automaton is too large.
    pub(super) fn new(hir: &Hir) -> Option<Table> {
        let nfa = thompson::Compiler::new().build_from_hir(hir).ok()?;
        let config = dense::Config::new()
            .start_kind(StartKind::Unanchored)
            .dfa_size_limit(Some(DENSE_BYTES_MAX))
            .determinize_size_limit(Some(DETERMINIZE_BYTES_MAX));
        let dfa = dense::Builder::new().configure(config).build_from_nfa(&nfa).ok()?;
        Some(Builder::new(&dfa)?.table())
    }

    /// Is there a match in the text?
    pub(super) fn is_match(&self, text: &[u8]) -> bool {
        let mut at = self.start;
        let mut bytes = text.iter();
        'state: loop {
            let Some(index) = at.checked_sub(2) else { return at == ACCEPTED };
            let mut index = usize::from(index);
            let Some(mut state) = self.states.get(index) else { return false };
            loop {
                let Some(&byte) = bytes.next() else { return state.accepts };
                let sets = of(&self.sets, byte);
                if sets & state.stay != 0 {
                    continue;
                }
                if sets & state.step != 0 {
                    index += 1;
                    let Some(after) = self.states.get(index) else { return false };
                    state = after;
                    continue;
                }
                let column = usize::from(of(&self.class, byte));
                at = self.next.get(index * self.columns + column).copied().unwrap_or(DEAD);
                continue 'state;
            }
        }
    }
}

/// The entry of a byte.
#[inline]
#[expect(clippy::indexing_slicing, reason = "a byte is below 256, which the compiler sees")]
const fn of<T: Copy>(entries: &[T; 256], byte: u8) -> T {
    entries[byte as usize]
}

/// The states of an automaton in the order of the table.
struct Builder<'d> {
    dfa: &'d dense::DFA<Vec<u32>>,
    start: StateID,
    /// A byte of each class.
    bytes: Vec<u8>,
    class: Box<[u8; 256]>,
    numbers: HashMap<StateID, u16>,
    order: Vec<StateID>,
}

impl<'d> Builder<'d> {
    fn new(dfa: &'d dense::DFA<Vec<u32>>) -> Option<Self> {
        let start = dfa.start_state(&start::Config::new().anchored(Anchored::No)).ok()?;
        let mut bytes: Vec<u8> = Vec::new();
        let mut class = Box::new([0; 256]);
        for (byte, class) in (0..=255).zip(class.iter_mut()) {
            let known = |&other: &u8| dfa.byte_classes().get(other) == dfa.byte_classes().get(byte);
            let column = bytes.iter().position(known).unwrap_or_else(|| {
                bytes.push(byte);
                bytes.len() - 1
            });
            *class = u8::try_from(column).ok()?;
        }
        let mut builder = Builder { dfa, start, bytes, class, numbers: HashMap::new(), order: Vec::new() };
        builder.walk()?;
        Some(builder)
    }

    /// Numbers the states depth first, so that the usual successor comes right after its state.
    fn walk(&mut self) -> Option<()> {
        let mut open = vec![self.start];
        while let Some(state) = open.pop() {
            if self.settled(state).is_some() || self.numbers.contains_key(&state) {
                continue;
            }
            if self.dfa.is_quit_state(state) || self.order.len() == STATES_MAX {
                return None;
            }
            self.numbers.insert(state, u16::try_from(self.order.len() + 2).ok()?);
            self.order.push(state);
            open.extend(self.bytes.iter().rev().map(|&byte| self.dfa.next_state(state, byte)));
        }
        Some(())
    }

    fn settled(&self, state: StateID) -> Option<u16> {
        if self.dfa.is_dead_state(state) {
            Some(DEAD)
        } else if self.dfa.is_match_state(state) {
            Some(ACCEPTED)
        } else {
            None
        }
    }

    fn number(&self, state: StateID) -> u16 {
        self.settled(state).or_else(|| self.numbers.get(&state).copied()).unwrap_or(DEAD)
    }

    fn table(self) -> Table {
        let mut sets = Sets { known: Vec::new(), of_byte: Box::new([0; 256]) };
        let mut states = Vec::with_capacity(self.order.len());
        let mut next = Vec::with_capacity(self.order.len() * self.bytes.len());
        for &state in &self.order {
            let row: Vec<u16> =
                self.bytes.iter().map(|&byte| self.number(self.dfa.next_state(state, byte))).collect();
            let own = self.number(state);
            let mut leads_to = |target: u16| {
                let has = |column: &u8| row.get(usize::from(*column)) == Some(&target);
                sets.bit(self.class.each_ref().map(has))
            };
            let accepts = self.dfa.is_match_state(self.dfa.next_eoi_state(state));
            states.push(State { stay: leads_to(own), step: leads_to(own + 1), accepts });
            next.extend(row);
        }
        Table {
            sets: sets.of_byte,
            columns: self.bytes.len(),
            start: self.number(self.start),
            class: self.class,
            states: states.into(),
            next: next.into(),
        }
    }
}

/// Sets of bytes, each with a bit.
struct Sets {
    known: Vec<[bool; 256]>,
    of_byte: Box<[u32; 256]>,
}

impl Sets {
    /// The bit of a set; none of an empty one, and none when all are taken.
    fn bit(&mut self, set: [bool; 256]) -> u32 {
        if !set.contains(&true) {
            return 0;
        }
        let number = self.known.iter().position(|known| *known == set).unwrap_or(self.known.len());
        if number == SETS_MAX {
            return 0;
        }
        if number == self.known.len() {
            for (bits, has) in self.of_byte.iter_mut().zip(set) {
                *bits |= u32::from(has) << number;
            }
            self.known.push(set);
        }
        1 << number
    }
}

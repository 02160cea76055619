//! A table from member names to what is known of them: one look, by hash, first bytes and length.
#![expect(clippy::cast_possible_truncation, reason = "a hash is cut; a schema has fewer than 2^24 names")]

use super::source::Name;
use crate::json::Head;

/// Multipliers that are tried to find a table in which no two names meet.
const TRIALS: u32 = 24;
/// The length that no name of an entry has: of an empty slot, and of a name longer than its head.
const NO_LENGTH: u32 = u32::MAX;
/// Taken places that a name is moved past while the table is made.
const PROBES_MAX: usize = 64;
/// The most bytes of a name that its head holds whole.
const HEAD_BYTES: usize = 16;

/// The names of one object, each with a number and a bit.
#[derive(Debug, Clone)]
pub(super) struct Names {
    /// A power of two, at least two, at most half of them taken.
    slots: Box<[Slot]>,
    /// All names, one after the other, and where each ends.
    text: Box<str>,
    ends: Box<[u32]>,
    multiplier: u32,
    shift: u32,
}

/// One name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slot {
    low: u64,
    high: u64,
    length: u32,
    /// Which of the texts; none in an empty slot.
    text: u32,
    /// What the name stands for: a block of an object, a place in a union's table.
    pub(super) child: u32,
    /// Another name that would be here stands further on.
    goes_on: bool,
    /// Of a name that must be there, a bit of its own.
    pub(super) bit: u64,
}

const EMPTY: Slot =
    Slot { low: 0, high: 0, length: NO_LENGTH, text: u32::MAX, child: 0, goes_on: false, bit: 0 };

/// A name with what it stands for.
pub(super) struct Entry<'a> {
    pub(super) name: &'a str,
    pub(super) child: u32,
    pub(super) bit: u64,
}

impl Names {
    /// `None` of names that were chosen to meet, of which only a search would tell one from the other.
    pub(super) fn new(entries: &[Entry<'_>]) -> Option<Names> {
        let size = (entries.len() * 2).next_power_of_two().max(2);
        let shift = 32 - size.trailing_zeros();
        let heads: Vec<Head> = entries.iter().map(|entry| Head::of(entry.name.as_bytes())).collect();
        let multiplier = multiplier(&heads, shift, size);
        let mut slots = vec![EMPTY; size];
        for (text, (entry, head)) in (0u32..).zip(entries.iter().zip(&heads)) {
            let mut at = start(head, multiplier, shift);
            let mut probes = 0;
            while let Some(slot) = slots.get_mut(at) {
                if slot.text == u32::MAX {
                    let length =
                        if entry.name.len() <= HEAD_BYTES { entry.name.len() as u32 } else { NO_LENGTH };
                    let Entry { child, bit, .. } = *entry;
                    // The mark stays: it says what lies further on.
                    *slot = Slot { low: head.low, high: head.high, length, text, child, bit, ..*slot };
                    break;
                }
                if probes == PROBES_MAX {
                    return None;
                }
                probes += 1;
                slot.goes_on = true;
                at = (at + 1) & (size - 1);
            }
        }
        let mut text = String::with_capacity(entries.iter().map(|entry| entry.name.len()).sum());
        let mut ends = Vec::with_capacity(entries.len());
        for entry in entries {
            text.push_str(entry.name);
            ends.push(text.len() as u32);
        }
        Some(Names { slots: slots.into(), text: text.into(), ends: ends.into(), multiplier, shift })
    }

    /// The slot of a name; `is` compares the whole text where its first bytes do not tell.
    #[inline]
    pub(super) fn find(&self, name: &Name, is: impl Fn(&str) -> bool) -> Option<&Slot> {
        let mut at = (name.hash.wrapping_mul(self.multiplier) >> self.shift) as usize;
        loop {
            let slot = self.slots.get(at)?;
            if slot.low == name.low && slot.high == name.high {
                if slot.length == name.length {
                    return Some(slot);
                }
                if self.is_text(slot, &is) {
                    return Some(slot);
                }
            }
            if !slot.goes_on {
                return None;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    fn is_text(&self, slot: &Slot, is: &impl Fn(&str) -> bool) -> bool {
        self.text(slot.text as usize).is_some_and(is)
    }

    /// One of the names, by its place among the entries.
    fn text(&self, at: usize) -> Option<&str> {
        let end = *self.ends.get(at)? as usize;
        let start = at.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, |end| *end as usize);
        self.text.get(start..end)
    }

    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len()).filter_map(|at| self.text(at))
    }

    /// The names with their slots, in no order.
    pub(super) fn slots(&self) -> impl Iterator<Item = (&str, &Slot)> {
        self.slots.iter().filter_map(|slot| Some((self.text(slot.text as usize)?, slot)))
    }

    /// The slot of a name that is no member's.
    pub(super) fn by_text(&self, name: &str) -> Option<&Slot> {
        self.find(&Name::of(name.as_bytes()), |text| text == name)
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.slots) + self.text.len() + size_of_val(&*self.ends)
    }
}

fn start(head: &Head, multiplier: u32, shift: u32) -> usize {
    (head.hash32().wrapping_mul(multiplier) >> shift) as usize
}

/// The first multiplier with which no two names meet, or the one with which the fewest do.
fn multiplier(heads: &[Head], shift: u32, size: usize) -> u32 {
    let (mut best, mut fewest) = (1, usize::MAX);
    let mut taken = vec![false; size];
    for trial in 0..TRIALS {
        let multiplier = trial.wrapping_mul(0x9E37_79B8).wrapping_add(0x85EB_CA6B) | 1;
        taken.fill(false);
        let met = meetings(heads, multiplier, shift, &mut taken);
        if met < fewest {
            (best, fewest) = (multiplier, met);
        }
        if met == 0 {
            break;
        }
    }
    best
}

/// How many names begin where another does.
fn meetings(heads: &[Head], multiplier: u32, shift: u32, taken: &mut [bool]) -> usize {
    heads
        .iter()
        .filter(|head| {
            taken.get_mut(start(head, multiplier, shift)).is_some_and(|taken| std::mem::replace(taken, true))
        })
        .count()
}

//! A table from member names to what is known of them: one look, by first bytes and length, at the name that is due, and
//! by hash where another one comes.
#![expect(clippy::cast_possible_truncation, reason = "a hash is cut; a schema has fewer than 2^24 names")]

use super::source::{Name, Source};
use crate::json::Head;

/// Multipliers that are tried to find a table in which no two names meet.
const TRIALS: u32 = 24;
/// The length of a name longer than its head, which no name of a value has.
const NO_LENGTH: u32 = u32::MAX;
/// Of a place in the table: another name that would be here stands further on.
const GOES_ON: u32 = 1 << 31;
/// Taken places that a name is moved past while the table is made.
const PROBES_MAX: usize = 64;
/// The most bytes of a name that its head holds whole.
const HEAD_BYTES: usize = 16;

/// The names of one object, each with a number and a bit.
#[derive(Debug, Clone)]
pub(super) struct Names {
    /// In the order of the entries.
    slots: Box<[Slot]>,
    /// In byte order, and for each of the entries its place there.
    sorted: Box<[Slot]>,
    ranks: Box<[u32]>,
    /// A power of two, at least two, at most half of them taken: the place of a slot and one, or 0.
    table: Box<[u32]>,
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
    /// What the name stands for: a block of an object, a place in a union's table.
    pub(super) child: u32,
    /// Of a name that must be there, a bit of its own.
    pub(super) bit: u64,
}

impl Slot {
    /// Certain where it says yes.
    #[inline]
    const fn is(&self, name: &Name) -> bool {
        self.low == name.low && self.high == name.high && self.length == name.length
    }
}

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
        let mut table = vec![0u32; size];
        for (place, head) in (1u32..).zip(&heads) {
            let mut at = start(head, multiplier, shift);
            let mut probes = 0;
            while let Some(taken) = table.get_mut(at) {
                if *taken == 0 {
                    *taken = place;
                    break;
                }
                if probes == PROBES_MAX {
                    return None;
                }
                probes += 1;
                *taken |= GOES_ON;
                at = (at + 1) & (size - 1);
            }
        }
        let slots = entries.iter().zip(&heads).map(|(entry, head)| {
            let length = if entry.name.len() <= HEAD_BYTES { entry.name.len() as u32 } else { NO_LENGTH };
            Slot { low: head.low, high: head.high, length, child: entry.child, bit: entry.bit }
        });
        let slots: Box<[Slot]> = slots.collect();
        let (sorted, ranks) = in_byte_order(entries, &slots);
        let mut text = String::with_capacity(entries.iter().map(|entry| entry.name.len()).sum());
        let mut ends = Vec::with_capacity(entries.len());
        for entry in entries {
            text.push_str(entry.name);
            ends.push(text.len() as u32);
        }
        Some(Names {
            slots,
            sorted,
            ranks,
            table: table.into(),
            text: text.into(),
            ends: ends.into(),
            multiplier,
            shift,
        })
    }

    /// The slot of a member's name: the one at `due`, if that is its name; otherwise by hash. Then the next one is due.
    #[inline]
    pub(super) fn find_due<'i, S: Source<'i>>(
        &self,
        source: S,
        name: &Name,
        key: S::Key,
        due: &mut usize,
    ) -> Option<&Slot> {
        let slots = if S::AS_WRITTEN { &self.slots } else { &self.sorted };
        if let Some(slot) = slots.get(*due)
            && slot.is(name)
        {
            *due += 1;
            return Some(slot);
        }
        let place = self.place(source, key)?;
        *due = 1 + if S::AS_WRITTEN { place } else { *self.ranks.get(place)? as usize };
        self.slots.get(place)
    }

    /// It reads the name anew, so that those who seldom come here keep it in registers.
    #[inline(never)]
    fn place<'i, S: Source<'i>>(&self, source: S, key: S::Key) -> Option<usize> {
        self.position(&source.name(key), |text| source.is_name(key, text))
    }

    /// The slot of a name; `is` compares the whole text where its first bytes do not tell.
    #[inline]
    pub(super) fn find(&self, name: &Name, is: impl Fn(&str) -> bool) -> Option<&Slot> {
        self.slots.get(self.position(name, is)?)
    }

    #[inline]
    fn position(&self, name: &Name, is: impl Fn(&str) -> bool) -> Option<usize> {
        let mut at = (name.hash.wrapping_mul(self.multiplier) >> self.shift) as usize;
        loop {
            let taken = *self.table.get(at)?;
            let place = ((taken & !GOES_ON) as usize).wrapping_sub(1);
            let slot = self.slots.get(place)?;
            if slot.is(name) {
                return Some(place);
            }
            if slot.low == name.low && slot.high == name.high && self.is_text(place, &is) {
                return Some(place);
            }
            if taken & GOES_ON == 0 {
                return None;
            }
            at = (at + 1) & (self.table.len() - 1);
        }
    }

    #[inline(never)]
    fn is_text(&self, place: usize, is: &impl Fn(&str) -> bool) -> bool {
        self.text(place).is_some_and(is)
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

    /// The names with their slots.
    pub(super) fn slots(&self) -> impl Iterator<Item = (&str, &Slot)> {
        self.texts().zip(&self.slots)
    }

    /// The slot of a name that is no member's.
    pub(super) fn by_text(&self, name: &str) -> Option<&Slot> {
        self.find(&Name::of(name.as_bytes()), |text| text == name)
    }

    pub(super) fn bytes(&self) -> usize {
        2 * size_of_val(&*self.slots)
            + size_of_val(&*self.ranks)
            + size_of_val(&*self.table)
            + self.text.len()
            + size_of_val(&*self.ends)
    }
}

/// The slots by the names of their entries, and the place of each entry among them.
fn in_byte_order(entries: &[Entry<'_>], slots: &[Slot]) -> (Box<[Slot]>, Box<[u32]>) {
    let mut order: Vec<(&str, u32)> = entries.iter().map(|entry| entry.name).zip(0..).collect();
    order.sort_unstable();
    let mut ranks = vec![0; order.len()];
    for (rank, (_, place)) in (0..).zip(&order) {
        if let Some(slot) = ranks.get_mut(*place as usize) {
            *slot = rank;
        }
    }
    let sorted = order.iter().filter_map(|(_, place)| slots.get(*place as usize).copied());
    (sorted.collect(), ranks.into())
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

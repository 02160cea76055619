//! Member names: their hash, and the search for one that stands twice in an object.
#![expect(clippy::cast_possible_truncation, reason = "a hash is cut; indexes of entries are below 2^26")]

use super::scan::{first_words, word};
use super::text::{stands_for, unescaped};
use super::token::Token;

/// A member name as [`super::Member::name_hash`] has it: equal names have equal hashes, in every process.
///
/// It is no protection against names that are chosen to collide; nothing here needs it to be.
pub fn name_hash(name: &str) -> u32 {
    Head::of(name.as_bytes()).hash32()
}

/// The first sixteen bytes of a name, with zeros after its end, and its hash.
#[derive(Clone, Copy)]
pub(crate) struct Head {
    pub(crate) low: u64,
    pub(crate) high: u64,
    pub(crate) hash: u64,
}

impl Head {
    /// Of a name that has at most sixteen bytes.
    #[inline]
    pub(super) const fn short(low: u64, high: u64) -> Head {
        Head { low, high, hash: mix(low, high) }
    }

    /// What [`name_hash`] is.
    #[inline]
    pub(crate) const fn hash32(&self) -> u32 {
        (self.hash >> 32) as u32
    }

    /// Of an unescaped name.
    #[inline]
    pub(crate) fn of(name: &[u8]) -> Head {
        let (low, high) = first_words(name);
        let mut head = Head::short(low, high);
        for chunk in name.get(16..).unwrap_or_default().chunks(8) {
            head.hash = mix(word(chunk, 0), head.hash >> 7);
        }
        head
    }
}

#[inline]
const fn mix(low: u64, high: u64) -> u64 {
    low.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ high.wrapping_mul(0xC2B2_AE3D_27D4_EB4F)
}

/// Are the names at these entries the same after unescaping?
pub(super) fn same_name(tokens: &[Token], text: &[u8], a: usize, b: usize) -> bool {
    let (Some(x), Some(y)) = (tokens.get(a..a + 2), tokens.get(b..b + 2)) else { return false };
    let ([x, x_head], [y, y_head]) = (x, y) else { return false };
    if x.aux() != y.aux() || x_head != y_head {
        return false;
    }
    match (x.escaped(), y.escaped()) {
        (_, false) => stands_for(body(text, *x), x.escaped(), body(text, *y)),
        (false, true) => stands_for(body(text, *y), true, body(text, *x)),
        (true, true) => stands_for(body(text, *x), true, &unescaped(body(text, *y), true)),
    }
}

#[inline]
pub(super) fn body(text: &[u8], token: Token) -> &[u8] {
    text.get(token.offset()..token.end()).unwrap_or_default()
}

/// The entry of the earlier member, among those from `from` on, whose name is that of the entry `name`.
#[inline(never)]
pub(super) fn earlier(tokens: &[Token], text: &[u8], from: usize, name: usize) -> Option<usize> {
    let hash = tokens.get(name)?.aux();
    let mut at = from;
    while at < name {
        let [other, _, value] = *tokens.get(at..)?.first_chunk::<3>()?;
        // Nearly always that tells them apart.
        if other.aux() == hash && same_name(tokens, text, at, name) {
            return Some(at);
        }
        at = value.after(at + 2);
    }
    None
}

/// The entries of the names of one object.
struct NameEntries<'a> {
    tokens: &'a [Token],
    at: usize,
    end: usize,
}

impl Iterator for NameEntries<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        if self.at >= self.end {
            return None;
        }
        let name = self.at;
        self.at = self.tokens.get(name + 2)?.after(name + 2);
        Some(name)
    }
}

/// The table that finds repeated names in objects of many members. Keeps its memory.
#[derive(Debug, Clone, Default)]
pub(super) struct NameTable {
    slots: Vec<u32>,
}

impl NameTable {
    pub(super) fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<u32>()
    }

    /// The first member, in the order of the text, of a complete object whose name an earlier one has, as the entries
    /// of the earlier and the later. The names are at the entries `from..end`.
    ///
    /// Near-linear whatever the names: where more than a few collide, they are sorted instead.
    #[inline(never)]
    pub(super) fn repeated(
        &mut self,
        tokens: &[Token],
        text: &[u8],
        from: usize,
        members: usize,
    ) -> Option<(usize, usize)> {
        let size = (members * 4).next_power_of_two();
        if self.slots.len() < size {
            self.slots.resize(size, 0);
        }
        let slots = self.slots.get_mut(..size)?;
        slots.fill(0);
        let shift = 32 - size.trailing_zeros();
        let mut probes_left = members * 8;
        for name in (NameEntries { tokens, at: from, end: tokens.len() }) {
            let mut slot = (tokens.get(name)?.aux() >> shift) as usize;
            loop {
                let entry = slots.get_mut(slot)?;
                // No name is at entry 0: that is the root value.
                if *entry == 0 {
                    *entry = name as u32;
                    break;
                }
                let other = *entry as usize;
                if same_name(tokens, text, other, name) {
                    return Some((other, name));
                }
                if probes_left == 0 {
                    return repeated_by_sorting(tokens, text, from);
                }
                probes_left -= 1;
                slot = (slot + 1) & (size - 1);
            }
        }
        None
    }
}

/// The same, for names that were chosen to collide.
#[cold]
fn repeated_by_sorting(tokens: &[Token], text: &[u8], from: usize) -> Option<(usize, usize)> {
    let entries = NameEntries { tokens, at: from, end: tokens.len() };
    let mut names: Vec<_> = entries
        .map(|entry| {
            let token = tokens.get(entry).copied().unwrap_or_default();
            (unescaped(body(text, token), token.escaped()), entry)
        })
        .collect();
    names.sort_unstable();
    let pairs = names.windows(2).filter_map(|pair| match pair {
        [(a, first), (b, second)] if a == b => Some((*first, *second)),
        _ => None,
    });
    // Where a name stands three times, the pair of its first two has the lowest second.
    pairs.min_by_key(|&(_, second)| second)
}

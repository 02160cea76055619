//! A union of more branches than a mask has room for, if a member's text tells them apart.

use std::collections::BTreeMap;

use super::object::{Entry, Names};
use super::plan::{FastNode, FastPath};
use super::source::{Name, Source};
use super::union::{object, requires, words, words_of};
use crate::json::kind;

/// Branches that take any text at that member. They are candidates of each text, so that there cannot be many.
const UNTAGGED_MAX: usize = 8;

/// The member and, by its text, the places of the branches that are left.
#[derive(Debug, Clone)]
pub(super) struct Wide {
    name: Box<str>,
    found_by: Name,
    /// `child` is the place in `ends`.
    words: Names,
    /// The places of all words, one list after the other, and where each ends.
    places: Box<[u32]>,
    ends: Box<[u32]>,
    /// Where the member has another text or is no text, and where it is missing.
    other: Box<[u32]>,
    missing: Box<[u32]>,
}

impl Wide {
    /// `None` if there is no such member. Linear in the size of the schema.
    pub(super) fn of(nodes: &[&FastNode], path: &FastPath) -> Option<Wide> {
        let name = tag(nodes, path)?;
        let mut other = Vec::new();
        let mut by_word: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for (place, node) in (0u32..).zip(nodes) {
            match words(node, path, name) {
                Some(words) => {
                    for (_, _, word) in &words.texts {
                        let tagged = by_word.entry(word).or_default();
                        // A branch may say the same text twice.
                        if tagged.last() != Some(&place) {
                            tagged.push(place);
                        }
                    }
                }
                None => other.push(place),
            }
        }
        if other.len() > UNTAGGED_MAX {
            return None;
        }
        let mut entries = Vec::with_capacity(by_word.len());
        let (mut places, mut ends) = (Vec::new(), Vec::with_capacity(by_word.len()));
        for (child, (word, tagged)) in (0u32..).zip(by_word) {
            entries.push(Entry { name: word, child, bit: 0 });
            let from = places.len();
            places.extend(tagged);
            places.extend(&other);
            places.get_mut(from..)?.sort_unstable();
            ends.push(u32::try_from(places.len()).ok()?);
        }
        let missing = (0u32..).zip(nodes).filter(|(_, node)| !requires(node, path, name));
        Some(Wide {
            name: name.into(),
            found_by: Name::of(name.as_bytes()),
            words: Names::new(&entries)?,
            places: places.into(),
            ends: ends.into(),
            other: other.into(),
            missing: missing.map(|(place, _)| place).collect(),
        })
    }

    /// The places of the branches that are left; `None` if that cannot be told.
    #[inline]
    pub(super) fn left<'i, S: Source<'i>>(&self, source: S, value: S::Value) -> Option<&[u32]> {
        if source.kind(value) != kind::OBJECT {
            return None;
        }
        let is_tag = |name: &Name| {
            name.hash == self.found_by.hash
                && name.low == self.found_by.low
                && name.high == self.found_by.high
        };
        let mut members = source.members(value);
        let tag = members.find(|(name, key, _)| is_tag(name) && source.is_name(*key, &self.name));
        let Some((_, _, tag)) = tag else { return Some(&self.missing) };
        if source.kind(tag) != kind::STRING {
            return Some(&self.other);
        }
        let text = source.text(tag);
        if text.escaped {
            return None;
        }
        let Some(slot) = self.words.find(&Name::of(text.bytes), |word| word.as_bytes() == text.bytes) else {
            return Some(&self.other);
        };
        let list = slot.child as usize;
        let start = list.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        self.places.get(start as usize..*self.ends.get(list)? as usize)
    }

    pub(super) fn bytes(&self) -> usize {
        let lists = [&self.places, &self.ends, &self.other, &self.missing];
        self.name.len()
            + self.words.bytes()
            + lists.into_iter().map(|list| size_of_val(&**list)).sum::<usize>()
    }
}

/// The declared name whose texts tell most branches apart; of several, the first in byte order.
fn tag<'a>(nodes: &[&FastNode], path: &'a FastPath) -> Option<&'a str> {
    let mut tagged: BTreeMap<&str, usize> = BTreeMap::new();
    for node in nodes {
        let slots = object(node, path).into_iter().flat_map(|object| object.names.slots());
        for (name, _) in slots.filter(|(_, slot)| words_of(slot, path).is_some()) {
            *tagged.entry(name).or_default() += 1;
        }
    }
    let (name, count) = tagged.into_iter().max_by_key(|(name, count)| (*count, std::cmp::Reverse(*name)))?;
    (count >= 2).then_some(name)
}

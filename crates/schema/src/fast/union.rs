//! The branches of `anyOf` and `oneOf` that a first look at a value leaves: by its kind, by a member whose text tells
//! them apart, by the name of its first member. Of a union of many branches, by such a member alone.

use super::object::{Entry, Names};
use super::plan::{FastNode, FastPath, Others};
use super::source::Source;
use super::wide::Wide;
use super::words::Words;
use crate::json::{Head, kind};
use crate::program::BlockId;

/// Branches that a mask has room for.
const BRANCHES_MAX: usize = 64;

/// One union.
#[derive(Debug, Clone)]
pub(super) struct Union {
    /// Exactly one branch must hold.
    pub(super) one: bool,
    pub(super) branches: Box<[BlockId]>,
    choice: Choice,
}

/// What tells the branches apart.
#[derive(Debug, Clone)]
enum Choice {
    Masks(Box<Masks>),
    Wide(Wide),
    Nothing,
}

/// Masks of branches, a bit each.
#[derive(Debug, Clone)]
struct Masks {
    /// The branches that accept a kind at all, by the number of its bit.
    by_kind: [u64; 8],
    tag: Option<Tag>,
    /// The branches that an object can keep whose first member has that name; `child` is the place in `by_first`.
    first: Names,
    by_first: Box<[u64]>,
    /// The branches that take other first members, and those that take an object without members.
    other_first: u64,
    no_first: u64,
}

/// A member that must be one of a few texts, other ones in other branches.
#[derive(Debug, Clone)]
struct Tag {
    name: Box<str>,
    low: u64,
    high: u64,
    hash: u32,
    words: Words,
    /// By word, the branches that are left.
    by_word: Box<[u64]>,
    /// The branches that are left where the member has another text or is no text, and where it is missing.
    other: u64,
    missing: u64,
}

/// The branches that can hold, by their places in the union, in their order.
#[derive(Debug, Clone)]
pub(crate) enum Candidates<'u> {
    Mask(u64),
    Listed(std::slice::Iter<'u, u32>),
    /// From the first to before the second.
    All(u32, u32),
}

impl Candidates<'_> {
    /// How many are left.
    #[inline]
    pub(super) fn count_left(&self) -> usize {
        match self {
            Candidates::Mask(mask) => mask.count_ones() as usize,
            Candidates::Listed(places) => places.len(),
            Candidates::All(next, end) => (end - next) as usize,
        }
    }
}

impl Iterator for Candidates<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        match self {
            Candidates::Mask(0) => None,
            Candidates::Mask(mask) => {
                let place = mask.trailing_zeros() as usize;
                *mask &= *mask - 1;
                Some(place)
            }
            Candidates::Listed(places) => places.next().map(|place| *place as usize),
            Candidates::All(next, end) => {
                let place = *next;
                *next += u32::from(place < *end);
                (place < *end).then_some(place as usize)
            }
        }
    }
}

impl Union {
    /// The plan's nodes are those of the branches, complete but for their unions.
    pub(super) fn new(one: bool, branches: Vec<BlockId>, path: &FastPath) -> Union {
        let nodes: Vec<&FastNode> =
            branches.iter().map(|block| path.node(*block).unwrap_or(&FastNode::ANY)).collect();
        let choice = if branches.len() <= BRANCHES_MAX {
            Masks::of(&nodes, path).map_or(Choice::Nothing, |masks| Choice::Masks(Box::new(masks)))
        } else {
            Wide::of(&nodes, path).map_or(Choice::Nothing, Choice::Wide)
        };
        Union { one, branches: branches.into(), choice }
    }

    /// Is there anything that tells the branches apart?
    pub(super) const fn tells(&self) -> bool {
        !matches!(self.choice, Choice::Nothing)
    }

    /// The branches that can hold.
    #[inline]
    pub(super) fn candidates<'i, S: Source<'i>>(&self, source: S, value: S::Value) -> Candidates<'_> {
        let all = || Candidates::all(self.branches.len());
        match &self.choice {
            Choice::Masks(masks) => Candidates::Mask(masks.left(source, value)),
            Choice::Wide(wide) => {
                wide.left(source, value).map_or_else(all, |left| Candidates::Listed(left.iter()))
            }
            Choice::Nothing => all(),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        let choice = match &self.choice {
            Choice::Masks(masks) => masks.bytes(),
            Choice::Wide(wide) => wide.bytes(),
            Choice::Nothing => 0,
        };
        size_of::<Union>() + size_of_val(&*self.branches) + choice
    }
}

impl Candidates<'_> {
    /// All of so many.
    pub(super) fn all(branches: usize) -> Self {
        // A schema has fewer than 2^24 parts.
        Candidates::All(0, u32::try_from(branches).unwrap_or(u32::MAX))
    }
}

impl Masks {
    fn of(nodes: &[&FastNode], path: &FastPath) -> Option<Masks> {
        let mut by_kind = [0; 8];
        for (bit, mask) in by_kind.iter_mut().enumerate() {
            *mask = mask_of(nodes, |node| node.types >> bit & 1 == 1);
        }
        let names = declared(nodes, path);
        let by_first: Box<[u64]> =
            names.iter().map(|name| mask_of(nodes, |node| takes(node, path, name))).collect();
        let entries: Vec<_> =
            names.iter().zip(0..).map(|(name, child)| Entry { name, child, bit: 0 }).collect();
        Some(Masks {
            by_kind,
            tag: Tag::of(nodes, &names, path),
            first: Names::new(&entries)?,
            by_first,
            other_first: mask_of(nodes, |node| !is_closed(node, path)),
            no_first: mask_of(nodes, |node| object(node, path).is_none_or(|object| object.required == 0)),
        })
    }

    #[inline]
    fn left<'i, S: Source<'i>>(&self, source: S, value: S::Value) -> u64 {
        let found = source.kind(value);
        let left = self.by_kind.get(found.trailing_zeros() as usize & 7).copied().unwrap_or_default();
        if found != kind::OBJECT || left & left.wrapping_sub(1) == 0 {
            return left;
        }
        let mut members = source.members(value);
        let Some((name, key, _)) = members.next() else { return left & self.no_first };
        let left = left
            & match self.first.find(&name, |text| source.is_name(key, text)) {
                Some(slot) => self.by_first.get(slot.child as usize).copied().unwrap_or(u64::MAX),
                None => self.other_first,
            };
        match &self.tag {
            Some(tag) if left & left.wrapping_sub(1) != 0 => left & tag.branches(source, value),
            _ => left,
        }
    }

    fn bytes(&self) -> usize {
        size_of::<Masks>()
            + size_of_val(&*self.by_first)
            + self.first.bytes()
            + self.tag.as_ref().map_or(0, |tag| tag.words.bytes() + size_of_val(&*tag.by_word))
    }
}

impl Tag {
    /// The declared name whose texts tell most branches apart, if any does.
    fn of(nodes: &[&FastNode], names: &[&str], path: &FastPath) -> Option<Tag> {
        let tagged = |name: &str| nodes.iter().filter(|node| words(node, path, name).is_some()).count();
        let name = *names.iter().max_by_key(|name| (tagged(name), std::cmp::Reverse(**name)))?;
        if tagged(name) < 2 {
            return None;
        }
        let all = nodes.iter().filter_map(|node| words(node, path, name));
        let mut texts: Vec<String> =
            all.flat_map(|words| words.texts.iter().map(|word| word.2.to_string())).collect();
        texts.sort_unstable();
        texts.dedup();
        if texts.len() > super::words::WORDS_MAX {
            return None;
        }
        let has = |node: &&FastNode, text: &str| {
            words(node, path, name).is_none_or(|words| words.texts.iter().any(|word| &*word.2 == text))
        };
        let by_word = texts.iter().map(|text| mask_of(nodes, |node| has(&node, text))).collect();
        let head = Head::of(name.as_bytes());
        Some(Tag {
            name: name.into(),
            low: head.low,
            high: head.high,
            hash: head.hash32(),
            words: Words::new(texts),
            by_word,
            other: mask_of(nodes, |node| words(node, path, name).is_none()),
            missing: mask_of(nodes, |node| !requires(node, path, name)),
        })
    }

    #[inline]
    fn branches<'i, S: Source<'i>>(&self, source: S, value: S::Value) -> u64 {
        let is_tag = |name: &super::source::Name| {
            name.hash == self.hash && name.low == self.low && name.high == self.high
        };
        let member =
            source.members(value).find(|(name, key, _)| is_tag(name) && source.is_name(*key, &self.name));
        let Some((_, _, value)) = member else { return self.missing };
        if source.kind(value) != kind::STRING {
            return self.other;
        }
        let text = source.text(value);
        if text.escaped {
            return u64::MAX;
        }
        let (low, high) = source.head(value);
        let word = self.words.position(text.bytes, low, high);
        word.and_then(|word| self.by_word.get(word)).copied().unwrap_or(self.other)
    }
}

fn mask_of(nodes: &[&FastNode], has: impl Fn(&FastNode) -> bool) -> u64 {
    nodes.iter().zip(0..).filter(|(node, _)| has(node)).fold(0, |mask, (_, bit)| mask | 1 << bit)
}

/// What is known of a branch's members. Whatever else the branch asks, it asks this too.
pub(super) fn object<'a>(node: &FastNode, path: &'a FastPath) -> Option<&'a super::plan::FastObject> {
    path.objects.get(node.object? as usize)
}

fn is_closed(node: &FastNode, path: &FastPath) -> bool {
    object(node, path).is_some_and(|object| object.others == Others::Refused)
}

/// The names that the branches declare, in byte order.
fn declared<'a>(nodes: &[&FastNode], path: &'a FastPath) -> Vec<&'a str> {
    let objects = nodes.iter().filter_map(|node| object(node, path));
    let mut names: Vec<&str> = objects.flat_map(|object| object.names.texts()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn slot<'a>(node: &FastNode, path: &'a FastPath, name: &str) -> Option<&'a super::object::Slot> {
    object(node, path)?.names.by_text(name)
}

/// Can the branch take a member of that name?
fn takes(node: &FastNode, path: &FastPath, name: &str) -> bool {
    !is_closed(node, path) || slot(node, path, name).is_some()
}

pub(super) fn requires(node: &FastNode, path: &FastPath, name: &str) -> bool {
    slot(node, path, name).is_some_and(|slot| slot.bit != 0)
}

/// The texts of which the member must be one, if nothing but text will do.
pub(super) fn words<'a>(node: &FastNode, path: &'a FastPath, name: &str) -> Option<&'a Words> {
    words_of(slot(node, path, name)?, path)
}

/// The texts of which a member with that slot must be one, if nothing but text will do.
pub(super) fn words_of<'a>(slot: &super::object::Slot, path: &'a FastPath) -> Option<&'a Words> {
    let member = path.node(BlockId(slot.child))?;
    if member.types != kind::STRING {
        return None;
    }
    path.words.get(member.words? as usize)
}

//! The branches of `anyOf` and `oneOf` that a first look at a value leaves: by its kind, by a member whose text tells
//! them apart, by the name of its first member.

use super::object::{Entry, Names};
use super::plan::{FastNode, FastPath, Others};
use super::source::Source;
use super::words::Words;
use crate::json::{Head, kind};
use crate::program::BlockId;

/// Branches that a mask has room for; a union of more is left to the instructions.
pub(super) const BRANCHES_MAX: usize = 64;

/// One union.
#[derive(Debug, Clone)]
pub(super) struct Union {
    /// Exactly one branch must hold.
    pub(super) one: bool,
    pub(super) branches: Box<[BlockId]>,
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

impl Union {
    /// The plan's nodes are those of the branches, complete but for their unions.
    pub(super) fn new(one: bool, branches: Vec<BlockId>, path: &FastPath) -> Union {
        let nodes: Vec<&FastNode> =
            branches.iter().map(|block| path.node(*block).unwrap_or(&FastNode::ANY)).collect();
        let mut by_kind = [0; 8];
        for (bit, mask) in by_kind.iter_mut().enumerate() {
            *mask = mask_of(&nodes, |node| node.types >> bit & 1 == 1);
        }
        let names = declared(&nodes, path);
        let by_first = names.iter().map(|name| mask_of(&nodes, |node| takes(node, path, name)));
        let by_first: Box<[u64]> = by_first.collect();
        let entries =
            names.iter().zip(0..).map(|(name, child)| Entry { name: (*name).into(), child, bit: 0 });
        Union {
            one,
            by_kind,
            tag: Tag::of(&nodes, &names, path),
            first: Names::new(entries.collect()),
            by_first,
            other_first: mask_of(&nodes, |node| !is_closed(node, path)),
            no_first: mask_of(&nodes, |node| object(node, path).is_none_or(|object| object.required == 0)),
            branches: branches.into(),
        }
    }

    /// The branches that can hold.
    #[inline]
    pub(super) fn candidates<'i, S: Source<'i>>(&self, source: S, value: S::Value) -> u64 {
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

    pub(super) fn bytes(&self) -> usize {
        size_of::<Union>()
            + size_of_val(&*self.branches)
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
fn object<'a>(node: &FastNode, path: &'a FastPath) -> Option<&'a super::plan::FastObject> {
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

fn requires(node: &FastNode, path: &FastPath, name: &str) -> bool {
    slot(node, path, name).is_some_and(|slot| slot.bit != 0)
}

/// The texts of which the member must be one, if nothing but text will do.
fn words<'a>(node: &FastNode, path: &'a FastPath, name: &str) -> Option<&'a Words> {
    let member = path.node(BlockId(slot(node, path, name)?.child))?;
    if member.types != kind::STRING {
        return None;
    }
    path.words.get(member.words? as usize)
}

//! The tree of a pattern: one arena, children before their parents, so that a walk from the leaves is a plain loop
//! and dropping it needs no stack.

use regex_syntax::hir::ClassUnicode;

/// A node's place in the arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NodeId(u32);

/// A set's place among the sets of its tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SetId(pub(super) u32);

/// What matches without consuming and without looking further than one code point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Assertion {
    /// The absolute start.
    Start,
    /// The absolute end.
    End,
    /// Between a code point of `[A-Za-z0-9_]` and something else.
    Boundary,
    /// Everywhere else.
    NoBoundary,
}

impl Assertion {
    /// Whether it holds between two code points; `None` is the start or the end of the subject.
    pub(super) fn holds(self, before: Option<char>, after: Option<char>) -> bool {
        let word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
        match self {
            Assertion::Start => before.is_none(),
            Assertion::End => after.is_none(),
            Assertion::Boundary => word(before) != word(after),
            Assertion::NoBoundary => word(before) == word(after),
        }
    }
}

/// A repetition.
#[derive(Debug, Clone, Copy)]
pub(super) struct Repeat {
    pub(super) body: NodeId,
    pub(super) min: u32,
    /// `None` is without end.
    pub(super) max: Option<u32>,
    pub(super) greedy: bool,
    pub(super) captures: Captures,
}

/// The capturing groups `first..end` that stand in a repetition's body: each round forgets what they held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Captures {
    pub(super) first: u32,
    pub(super) end: u32,
}

/// A lookaround.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    pub(super) body: NodeId,
    pub(super) ahead: bool,
    pub(super) negative: bool,
}

#[derive(Debug)]
pub(super) enum Node {
    Empty,
    Literal(char),
    Set(SetId),
    Assert(Assertion),
    Concat(Vec<NodeId>),
    Alternate(Vec<NodeId>),
    /// A capturing group; the first is number 1.
    Capture(u32, NodeId),
    Repeat(Repeat),
    Look(Look),
    /// What a group captured: of several groups with one name, the one that took part.
    BackReference(Vec<u32>),
}

/// A pattern that has been read.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    sets: Vec<ClassUnicode>,
    root: NodeId,
    /// How many capturing groups there are.
    pub(super) captures: u32,
    /// Whether there is neither lookaround nor a backreference.
    pub(super) regular: bool,
}

/// A tree that is being built.
#[derive(Debug, Default)]
pub(super) struct TreeBuilder {
    nodes: Vec<Node>,
    sets: Vec<ClassUnicode>,
    irregular: bool,
}

impl TreeBuilder {
    pub(super) fn add(&mut self, node: Node) -> NodeId {
        self.irregular |= matches!(node, Node::Look(_) | Node::BackReference(_));
        // A pattern has at most 4 GiB of text and a node takes at least a byte of it.
        let id = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(node);
        id
    }

    pub(super) fn add_set(&mut self, set: ClassUnicode) -> SetId {
        let id = SetId(u32::try_from(self.sets.len()).unwrap_or(u32::MAX));
        self.sets.push(set);
        id
    }

    pub(super) fn set(&self, id: SetId) -> Option<&ClassUnicode> {
        self.sets.get(id.0 as usize)
    }

    /// A sequence; of one item, the item itself.
    pub(super) fn concat(&mut self, items: Vec<NodeId>) -> NodeId {
        match items.as_slice() {
            [] => self.add(Node::Empty),
            [only] => *only,
            _ => self.add(Node::Concat(items)),
        }
    }

    /// A choice; of one alternative, the alternative itself.
    pub(super) fn alternate(&mut self, alternatives: Vec<NodeId>) -> NodeId {
        match alternatives.as_slice() {
            [only] => *only,
            _ => self.add(Node::Alternate(alternatives)),
        }
    }

    /// Says which groups a backreference means, once all groups are known.
    pub(super) fn resolve(&mut self, reference: NodeId, groups: Vec<u32>) {
        if let Some(node) = self.nodes.get_mut(reference.0 as usize) {
            *node = Node::BackReference(groups);
        }
    }

    pub(super) fn finish(self, root: NodeId, captures: u32) -> Tree {
        Tree { nodes: self.nodes, sets: self.sets, root, captures, regular: !self.irregular }
    }
}

impl Tree {
    pub(super) fn root(&self) -> NodeId {
        self.root
    }

    #[expect(
        clippy::indexing_slicing,
        reason = "an id is only made by adding a node, and nodes are never removed"
    )]
    pub(super) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// Every node with its id, children before their parents.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter()
    }

    pub(super) fn sets(&self) -> &[ClassUnicode] {
        &self.sets
    }

    /// Bytes that the tree takes.
    pub(super) fn bytes(&self) -> usize {
        let parts = self.nodes.iter().map(|node| match node {
            Node::Concat(items) | Node::Alternate(items) => items.capacity() * size_of::<NodeId>(),
            Node::BackReference(groups) => groups.capacity() * size_of::<u32>(),
            Node::Empty
            | Node::Literal(_)
            | Node::Set(_)
            | Node::Assert(_)
            | Node::Capture(..)
            | Node::Repeat(_)
            | Node::Look(_) => 0,
        });
        let sets = self.sets.iter().map(|set| size_of::<ClassUnicode>() + size_of_val(set.ranges()));
        self.nodes.capacity() * size_of::<Node>() + parts.sum::<usize>() + sets.sum::<usize>()
    }
}

/// One value for each node of a tree, made in the arena's order.
#[derive(Debug)]
pub(super) struct PerNode<T>(Vec<T>);

impl<T> PerNode<T> {
    pub(super) fn with_capacity_of(tree: &Tree) -> Self {
        PerNode(Vec::with_capacity(tree.nodes.len()))
    }

    pub(super) fn push(&mut self, value: T) {
        self.0.push(value);
    }

    #[expect(clippy::indexing_slicing, reason = "children stand before their parents")]
    pub(super) fn get(&self, id: NodeId) -> &T {
        &self.0[id.0 as usize]
    }
}

impl<T: Default> PerNode<T> {
    #[expect(clippy::indexing_slicing, reason = "children stand before their parents")]
    pub(super) fn take(&mut self, id: NodeId) -> T {
        std::mem::take(&mut self.0[id.0 as usize])
    }
}

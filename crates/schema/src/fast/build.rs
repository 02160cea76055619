//! The plan of a program, from its instructions.

use super::object::{Entry, Names};
use super::plan::{ALL, FastNode, FastObject, FastPath, Others, Range};
use super::union::Union;
use super::words::{WORDS_MAX, Words};
use crate::json::{Kind, Node, Number, kind};
use crate::program::{Additional, BlockId, Bound, Count, ObjectPlan, Op, Parts};

/// Steps from a reference to what it points to, and on; more are left to the instructions.
const STEPS_MAX: usize = 16;
/// Names that can have a bit.
const REQUIRED_MAX: usize = 64;

impl FastPath {
    /// The plan of a program; empty where references depend on the way to them, which only the instructions keep.
    pub(crate) fn of(parts: &Parts) -> FastPath {
        if !parts.dynamic.is_empty() {
            return FastPath::default();
        }
        let mut builder = Builder::new(parts);
        // One more, for names of which nothing but their presence is asked.
        let mut nodes: Vec<FastNode> = (0..=parts.blocks.len()).map(|block| builder.node(block)).collect();
        for node in &mut nodes {
            node.settle();
        }
        builder.finish(nodes)
    }
}

struct Builder<'p> {
    parts: &'p Parts,
    objects: Vec<FastObject>,
    words: Vec<Words>,
    also: Vec<BlockId>,
    /// The unions in their order: which must be one, and the branches.
    unions: Vec<(bool, Vec<BlockId>)>,
}

/// What is gathered of a block before it becomes one table.
#[derive(Default)]
struct Gathered<'p> {
    required: Vec<&'p str>,
    plan: Option<&'p ObjectPlan>,
    also: Vec<BlockId>,
}

impl<'p> Builder<'p> {
    fn new(parts: &'p Parts) -> Self {
        Builder { parts, objects: Vec::new(), words: Vec::new(), also: Vec::new(), unions: Vec::new() }
    }

    fn finish(self, nodes: Vec<FastNode>) -> FastPath {
        let mut path = FastPath {
            nodes: nodes.into(),
            objects: self.objects.into(),
            words: self.words.into(),
            unions: Box::default(),
            also: self.also.into(),
        };
        let unions: Vec<_> =
            self.unions.into_iter().map(|(one, branches)| Union::new(one, branches, &path)).collect();
        for node in &mut path.nodes {
            let union = node.union.and_then(|union| unions.get(union as usize));
            if union.is_some_and(|union| !union.tells()) {
                // A look at each branch is what the instructions have as well.
                (node.ask, node.union) = (ALL, None);
            }
        }
        path.unions = unions.into();
        path
    }

    fn node(&mut self, block: usize) -> FastNode {
        let parts = self.parts;
        let mut node = FastNode::ANY;
        let Some(block) = parts.blocks.get(block) else { return node };
        if block.tracks {
            node.ask = ALL;
        }
        let mut gathered = Gathered::default();
        for instruction in parts.instructions(block) {
            self.operation(&mut node, &mut gathered, &instruction.op);
        }
        let from = self.also.len();
        let also: Vec<_> = gathered.also.iter().map(|block| self.target(*block)).collect();
        self.also.extend(also);
        node.also = (number(from), number(self.also.len()));
        self.object(&mut node, &gathered);
        node
    }

    /// What a block that is only a reference points to.
    fn target(&self, block: BlockId) -> BlockId {
        let mut at = block;
        for _ in 0..STEPS_MAX {
            match self.parts.block(at).map(|block| self.parts.instructions(block)) {
                Some([only]) if let Op::Ref { block } = only.op => at = block,
                _ => break,
            }
        }
        at
    }

    fn operation(&mut self, node: &mut FastNode, gathered: &mut Gathered<'p>, op: &'p Op) {
        match op {
            Op::Never => node.types = 0,
            Op::Type { types, .. } => {
                let (kinds, integer) = types.kinds();
                node.types &= kinds;
                node.integer |= integer;
            }
            Op::Enum { members, .. } => {
                let members = members.iter().filter_map(|(_, spot)| self.parts.constant(*spot));
                self.constants(node, &members.collect::<Vec<_>>());
            }
            Op::Const { value } => {
                self.constants(node, self.parts.constant(*value).as_slice());
            }
            Op::Number { bound, limit } => node.bound(*bound, self.parts.constant(*limit)),
            Op::Length { count } => node.chars.narrow(*count),
            Op::ItemCount { count } => node.items_count.narrow(*count),
            Op::PropertyCount { count } => node.members_count.narrow(*count),
            Op::Pattern { pattern } if node.pattern.is_none() => node.pattern = Some(*pattern),
            Op::Pattern { .. } | Op::Format { .. } => node.ask |= kind::STRING,
            Op::MultipleOf { .. } => node.ask |= kind::NUMBER,
            Op::Items { prefix, rest } if prefix.is_empty() && node.items.is_none() => {
                node.items = rest.map(|block| self.target(block));
            }
            Op::Items { .. } | Op::UniqueItems | Op::Contains { .. } | Op::UnevaluatedItems { .. } => {
                node.ask |= kind::ARRAY;
            }
            Op::Required { names, .. } => gathered.required.extend(names.iter().map(|name| &**name)),
            Op::Properties(plan) if gathered.plan.is_none() => gathered.plan = Some(plan),
            // A second look at the members, as profile `wire` has it, among others.
            Op::Properties(_)
            | Op::PropertyNames { .. }
            | Op::DependentRequired { .. }
            | Op::DependentSchemas { .. }
            | Op::UnevaluatedProperties { .. } => node.ask |= kind::OBJECT,
            Op::AllOf { blocks } => gathered.also.extend(blocks),
            Op::Ref { block } => gathered.also.push(*block),
            Op::AnyOf { blocks, .. } => self.union(node, false, blocks),
            Op::OneOf { blocks, .. } => self.union(node, true, blocks),
            // What has no place in a plan is a question for the instructions.
            _ => node.ask = ALL,
        }
    }

    fn union(&mut self, node: &mut FastNode, one: bool, blocks: &[BlockId]) {
        if node.union.is_some() {
            node.ask = ALL;
            return;
        }
        node.union = Some(number(self.unions.len()));
        let branches = blocks.iter().map(|block| self.target(*block)).collect();
        self.unions.push((one, branches));
    }

    /// What `enum` or `const` leaves: a few texts, and literals; numbers and containers are for the instructions.
    fn constants(&mut self, node: &mut FastNode, constants: &[Node<'_>]) {
        let mut kinds = 0;
        let mut texts = Vec::new();
        let (mut truths, mut falsehoods) = (false, false);
        for constant in constants {
            match constant.kind() {
                Kind::Null => kinds |= kind::NULL,
                Kind::Bool => {
                    kinds |= kind::BOOL;
                    truths |= constant.as_bool() == Some(true);
                    falsehoods |= constant.as_bool() == Some(false);
                }
                Kind::String => {
                    kinds |= kind::STRING;
                    texts.extend(constant.as_str().map(String::from));
                }
                Kind::Number => kinds |= kind::NUMBER,
                Kind::Array => kinds |= kind::ARRAY,
                Kind::Object => kinds |= kind::OBJECT,
            }
        }
        node.types &= kinds;
        node.ask |= kinds & (kind::NUMBER | kind::ARRAY | kind::OBJECT);
        if truths != falsehoods {
            node.ask |= kind::BOOL;
        }
        if texts.len() > WORDS_MAX || node.words.is_some() {
            node.ask |= kind::STRING;
        } else if !texts.is_empty() {
            node.words = Some(number(self.words.len()));
            self.words.push(Words::new(texts));
        }
    }

    /// One table of the names that are declared or must be there.
    fn object(&mut self, node: &mut FastNode, gathered: &Gathered<'p>) {
        if gathered.plan.is_none() && gathered.required.is_empty() {
            return;
        }
        let others = match gathered.plan.map_or(Additional::Open, |plan| plan.additional) {
            Additional::Open | Additional::Any => Others::Good,
            Additional::None(_) => Others::Refused,
            Additional::Schema(block) => Others::Schema(self.target(block)),
        };
        let patterns = gathered.plan.is_some_and(|plan| !plan.patterns.is_empty());
        let slots = gathered.plan.map(|plan| &*plan.slots).unwrap_or_default();
        let mut required = gathered.required.clone();
        required.sort_unstable();
        required.dedup();
        let is_declared = |name: &str| slots.binary_search_by(|slot| (*slot.name).cmp(name)).is_ok();
        let undeclared: Vec<&str> = required.iter().copied().filter(|name| !is_declared(name)).collect();
        if patterns || required.len() > REQUIRED_MAX || (!undeclared.is_empty() && others != Others::Good) {
            node.ask |= kind::OBJECT;
            // What is taken for granted of branches is less than what the tables would say.
            return;
        }
        let bit = |name: &str| required.binary_search(&name).map_or(0, |place| 1 << place);
        // The schema's own order is the one in which members are most often written.
        let mut declared: Vec<_> = slots.iter().collect();
        declared.sort_by_key(|slot| slot.place);
        let mut entries: Vec<Entry<'_>> = declared
            .into_iter()
            .map(|slot| Entry { name: &slot.name, child: self.target(slot.block).0, bit: bit(&slot.name) })
            .collect();
        let any = BlockId(number(self.parts.blocks.len()));
        entries.extend(undeclared.iter().map(|&name| Entry { name, child: any.0, bit: bit(name) }));
        let Some(names) = Names::new(&entries) else {
            node.ask |= kind::OBJECT;
            return;
        };
        node.object = Some(number(self.objects.len()));
        let required = entries.iter().fold(0, |mask, entry| mask | entry.bit);
        self.objects.push(FastObject { names, required, others });
    }
}

impl Range {
    fn narrow(&mut self, count: Count) {
        match count {
            Count::AtLeast(least) => self.least = self.least.max(least),
            Count::AtMost(most) => self.most = self.most.min(most),
        }
    }
}

impl FastNode {
    /// A bound is kept here if it is whole and fits; if it excludes itself, only where numbers must be whole.
    fn bound(&mut self, bound: Bound, limit: Option<Node<'_>>) {
        let whole = limit.and_then(Node::as_number).and_then(Number::as_i64);
        // The extremes stand for no bound.
        let whole = whole.filter(|whole| (i64::MIN + 2..i64::MAX - 1).contains(whole));
        match (bound, whole) {
            (Bound::Minimum, Some(whole)) => self.low = self.low.max(whole),
            (Bound::Maximum, Some(whole)) => self.high = self.high.min(whole),
            (Bound::ExclusiveMinimum, Some(whole)) if self.integer => self.low = self.low.max(whole + 1),
            (Bound::ExclusiveMaximum, Some(whole)) if self.integer => self.high = self.high.min(whole - 1),
            _ => self.ask |= kind::NUMBER,
        }
    }

    /// Works out what can be told at the first look.
    fn settle(&mut self) {
        let elsewhere = self.union.is_some() || self.also.0 < self.also.1;
        self.deep = self.words.is_some() || self.pattern.is_some();
        let bounded = self.integer || self.low != i64::MIN || self.high != i64::MAX;
        self.done = self.types & !self.ask;
        for (more, kind) in [
            (elsewhere, ALL),
            (self.deep || !self.chars.is_any(), kind::STRING),
            (bounded, kind::NUMBER),
            (self.items.is_some() || !self.items_count.is_any(), kind::ARRAY),
            (self.object.is_some() || !self.members_count.is_any(), kind::OBJECT),
        ] {
            if more {
                self.done &= !kind;
            }
        }
        if elsewhere {
            return;
        }
        let knows = self.types & !self.ask;
        if knows & kind::STRING != 0 {
            // A text of one byte has a character; one of `n` characters may have four bytes for each.
            let low =
                if self.chars.least > 1 { self.chars.least.saturating_mul(4) } else { self.chars.least };
            let most = self.chars.most.min(TEXT_BYTES);
            (self.text_low, self.text_span) = span(low, most);
        }
        if knows & kind::NUMBER != 0 {
            let low = u64::try_from(self.low.max(0)).unwrap_or(0);
            let high = u64::try_from(self.high).unwrap_or(0).min(SMALL_MAX);
            if self.high >= 0 {
                (self.int_low, self.int_span) = span(low, high);
            }
        }
    }
}

/// More bytes than any text on a tape has, and fewer than the mark of escapes.
const TEXT_BYTES: u64 = (1 << 31) - 2;
/// The largest whole number that is looked up by its span.
const SMALL_MAX: u64 = (1 << 32) - 2;

/// From `low` on, how many.
fn span(low: u64, high: u64) -> (u32, u32) {
    let span = (high + 1).saturating_sub(low);
    match (u32::try_from(low), u32::try_from(span)) {
        (Ok(low), Ok(span)) => (low, span),
        _ => (0, 0),
    }
}

/// An index within a program, which has fewer than 2^24 parts.
fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

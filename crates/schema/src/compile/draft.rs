//! A block under construction: keywords that work together are gathered here and become one instruction.

use crate::program::{Additional, BlockId, Instruction, ObjectPlan, Op, PatternId, Slot};

/// A block under construction.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    instructions: Vec<Instruction>,
    pub(crate) members: MembersDraft,
    pub(crate) items: ItemsDraft,
    pub(crate) contains: ContainsDraft,
    pub(crate) condition: ConditionDraft,
}

/// `properties`, `patternProperties`, `additionalProperties`.
#[derive(Debug, Default)]
pub(crate) struct MembersDraft {
    /// In byte order of the names.
    pub(crate) slots: Vec<Slot>,
    pub(crate) patterns: Vec<(PatternId, BlockId)>,
    pub(crate) additional: Option<Additional>,
}

/// `prefixItems` (a list under `items` in draft-07), `items` (there `additionalItems`).
#[derive(Debug, Default)]
pub(crate) struct ItemsDraft {
    pub(crate) prefix: Vec<BlockId>,
    pub(crate) rest: Option<(&'static str, BlockId)>,
}

/// `contains`, `minContains`, `maxContains`.
#[derive(Debug, Default)]
pub(crate) struct ContainsDraft {
    pub(crate) block: Option<BlockId>,
    pub(crate) least: Option<u64>,
    pub(crate) most: Option<u64>,
}

/// `if`, `then`, `else`.
#[derive(Debug, Default)]
pub(crate) struct ConditionDraft {
    pub(crate) condition: Option<BlockId>,
    pub(crate) then: Option<BlockId>,
    pub(crate) otherwise: Option<BlockId>,
}

impl Draft {
    pub(crate) fn push(&mut self, keyword: &'static str, op: Op) {
        self.instructions.push(Instruction { keyword, op });
    }

    /// The block's instructions in the order in which they are checked and reported. With `keep_all`, also those that
    /// only say what is evaluated.
    pub(crate) fn finish(mut self, keep_all: bool) -> Vec<Instruction> {
        self.members(keep_all);
        self.items();
        self.contains();
        self.condition();
        if !self.instructions.is_sorted_by_key(|instruction| rank(&instruction.op)) {
            self.instructions.sort_by_key(|instruction| rank(&instruction.op));
        }
        self.instructions
    }

    fn members(&mut self, keep_all: bool) {
        let MembersDraft { mut slots, patterns, additional } = std::mem::take(&mut self.members);
        let additional = match additional {
            Some(Additional::Any) if !keep_all => Additional::Open,
            written => written.unwrap_or(Additional::Open),
        };
        if slots.is_empty() && patterns.is_empty() && additional == Additional::Open {
            return;
        }
        self.mark_required(&mut slots);
        let plan = ObjectPlan::new(slots, patterns, additional);
        self.push("properties", Op::Properties(Box::new(plan)));
    }

    /// Marks the names under `required`, if all are declared: the walk over the members then counts them in passing, and
    /// the instruction of its own is left for the report.
    fn mark_required(&mut self, slots: &mut [Slot]) {
        for instruction in &mut self.instructions {
            let Op::Required { names, counted } = &mut instruction.op else { continue };
            let places = names.iter().map(|name| slots.binary_search_by(|slot| slot.name.cmp(name)));
            let Ok(places) = places.collect::<Result<Vec<_>, _>>() else { continue };
            *counted = true;
            for place in places {
                if let Some(slot) = slots.get_mut(place) {
                    slot.required = true;
                }
            }
            return;
        }
    }

    fn items(&mut self) {
        let ItemsDraft { prefix, rest } = std::mem::take(&mut self.items);
        if !prefix.is_empty() || rest.is_some() {
            let keyword = rest.map_or("items", |(keyword, _)| keyword);
            self.push(keyword, Op::Items { prefix: prefix.into(), rest: rest.map(|(_, block)| block) });
        }
    }

    fn contains(&mut self) {
        let ContainsDraft { block, least, most } = std::mem::take(&mut self.contains);
        if let Some(block) = block {
            self.push("contains", Op::Contains { block, least: least.unwrap_or(1), most });
        }
    }

    /// Without `if`, the other two have no effect (2020-12 core, section 10.2.2).
    fn condition(&mut self) {
        let ConditionDraft { condition, then, otherwise } = std::mem::take(&mut self.condition);
        if let Some(condition) = condition {
            self.push("if", Op::If { condition, then, otherwise });
        }
    }
}

/// Cheap and telling assertions first, those about the whole value before those about its parts.
const fn rank(op: &Op) -> u8 {
    match op {
        Op::Never => 0,
        Op::Type { .. } => 1,
        Op::Enum { .. } => 2,
        Op::Const { .. } => 3,
        Op::Number { .. } => 4,
        Op::MultipleOf { .. } => 5,
        Op::Length { .. } => 6,
        Op::Format { .. } | Op::Pattern { .. } => 7,
        Op::ItemCount { .. } => 8,
        Op::UniqueItems => 9,
        Op::Items { .. } => 10,
        Op::Contains { .. } => 11,
        Op::Required { .. } => 12,
        Op::PropertyCount { .. } => 13,
        Op::Properties(_) => 14,
        Op::PropertyNames { .. } => 15,
        Op::DependentRequired { .. } => 16,
        Op::DependentSchemas { .. } => 17,
        Op::Ref { .. } | Op::DynamicRef { .. } => 18,
        Op::AllOf { .. } => 19,
        Op::AnyOf { .. } => 20,
        Op::OneOf { .. } => 21,
        Op::Not { .. } => 22,
        Op::If { .. } => 23,
        // They look at what all the others have evaluated.
        Op::UnevaluatedItems { .. } => 24,
        Op::UnevaluatedProperties { .. } => 25,
    }
}

//! The instructions, and which keyword's file carries each one out.

use crate::check::{Run, Stop};
use crate::format::Format;
use crate::json::Node;
use crate::keywords::{
    any_of, bounds, const_, contains, dependent, enum_, format, if_, items, lengths, multiple_of, never, not,
    one_of, pattern, properties, property_names, ref_, required, type_, unevaluated, unique_items,
};
use crate::program::{BlockId, ObjectPlan, PatternId};
use crate::resolve::Spot;
use crate::types::TypeSet;

/// One assertion, with the keyword it comes from.
#[derive(Debug, Clone)]
pub(crate) struct Instruction {
    /// As written in the schema, so that an alias keeps its name.
    pub(crate) keyword: &'static str,
    pub(crate) op: Op,
}

/// What is asserted.
#[derive(Debug, Clone)]
pub(crate) enum Op {
    /// Nothing holds.
    Never,
    Type {
        types: TypeSet,
        written: Spot,
    },
    /// The hashes of the members, sorted, each with its member.
    Enum {
        members: Box<[(u64, Spot)]>,
        written: Spot,
    },
    Const {
        value: Spot,
    },
    Number {
        bound: Bound,
        limit: Spot,
    },
    MultipleOf {
        divisor: Spot,
    },
    Length {
        count: Count,
    },
    ItemCount {
        count: Count,
    },
    PropertyCount {
        count: Count,
    },
    Pattern {
        pattern: PatternId,
    },
    Format {
        format: Format,
    },
    UniqueItems,
    /// The first items by place, the others by one schema.
    Items {
        prefix: Box<[BlockId]>,
        rest: Option<BlockId>,
    },
    Contains {
        block: BlockId,
        least: u64,
        most: Option<u64>,
    },
    Required {
        names: Box<[Box<str>]>,
        /// The instruction for the members counts them while deciding.
        counted: bool,
    },
    Properties(Box<ObjectPlan>),
    PropertyNames {
        block: BlockId,
    },
    DependentRequired {
        rules: Box<[NamesRule]>,
    },
    DependentSchemas {
        rules: Box<[(Box<str>, BlockId)]>,
    },
    AllOf {
        blocks: Box<[BlockId]>,
    },
    AnyOf {
        blocks: Box<[BlockId]>,
        types: Option<TypeSet>,
    },
    OneOf {
        blocks: Box<[BlockId]>,
        types: Option<TypeSet>,
    },
    Not {
        block: BlockId,
    },
    If {
        condition: BlockId,
        then: Option<BlockId>,
        otherwise: Option<BlockId>,
    },
    Ref {
        block: BlockId,
    },
    /// The outermost resource in dynamic scope that has the anchor; `block` if none has.
    DynamicRef {
        block: BlockId,
        anchor: u32,
    },
    UnevaluatedItems {
        block: BlockId,
    },
    UnevaluatedProperties {
        block: BlockId,
    },
}

/// A member's name, and the names that its presence asks for.
pub(crate) type NamesRule = (Box<str>, Box<[Box<str>]>);

/// Which side of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bound {
    Minimum,
    Maximum,
    ExclusiveMinimum,
    ExclusiveMaximum,
}

/// A bound on a count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Count {
    AtLeast(u64),
    AtMost(u64),
}

impl Count {
    pub(crate) const fn holds(self, count: u64) -> bool {
        match self {
            Count::AtLeast(least) => count >= least,
            Count::AtMost(most) => count <= most,
        }
    }

    pub(crate) const fn number(self) -> u64 {
        match self {
            Count::AtLeast(number) | Count::AtMost(number) => number,
        }
    }
}

impl Op {
    /// Whether the value keeps the assertion. With `COLLECT`, every violation is reported to the run.
    #[inline]
    pub(crate) fn holds<'i, const COLLECT: bool>(
        &self,
        run: &mut Run<'_, 'i>,
        at: crate::check::Site,
        value: Node<'i>,
    ) -> Result<bool, Stop> {
        match self {
            Op::Never => never::holds::<COLLECT>(run, at, value),
            Op::Type { types, written } => type_::holds::<COLLECT>(run, at, value, *types, *written),
            Op::Enum { members, written } => enum_::holds::<COLLECT>(run, at, value, members, *written),
            Op::Const { value: only } => const_::holds::<COLLECT>(run, at, value, *only),
            Op::Number { bound, limit } => bounds::holds::<COLLECT>(run, at, value, *bound, *limit),
            Op::MultipleOf { divisor } => multiple_of::holds::<COLLECT>(run, at, value, *divisor),
            Op::Length { count } => lengths::text_holds::<COLLECT>(run, at, value, *count),
            Op::ItemCount { count } => lengths::items_hold::<COLLECT>(run, at, value, *count),
            Op::PropertyCount { count } => lengths::properties_hold::<COLLECT>(run, at, value, *count),
            Op::Pattern { pattern } => pattern::holds::<COLLECT>(run, at, value, *pattern),
            Op::Format { format } => format::holds::<COLLECT>(run, at, value, *format),
            Op::UniqueItems => unique_items::holds::<COLLECT>(run, at, value),
            Op::Items { prefix, rest } => items::hold::<COLLECT>(run, at, value, prefix, *rest),
            Op::Contains { block, least, most } => {
                contains::holds::<COLLECT>(run, at, value, *block, *least, *most)
            }
            Op::Required { counted: true, .. } if !COLLECT => Ok(true),
            Op::Required { names, counted } => required::holds::<COLLECT>(run, at, value, names, *counted),
            Op::Properties(plan) => properties::hold::<COLLECT>(run, at, value, plan),
            Op::PropertyNames { block } => property_names::hold::<COLLECT>(run, at, value, *block),
            Op::DependentRequired { rules } => dependent::names_hold::<COLLECT>(run, at, value, rules),
            Op::DependentSchemas { rules } => dependent::schemas_hold::<COLLECT>(run, value, rules),
            Op::AllOf { blocks } => ref_::all_hold::<COLLECT>(run, value, blocks),
            Op::AnyOf { blocks, types } => any_of::holds::<COLLECT>(run, at, value, blocks, *types),
            Op::OneOf { blocks, types } => one_of::holds::<COLLECT>(run, at, value, blocks, *types),
            Op::Not { block } => not::holds::<COLLECT>(run, at, value, *block),
            Op::If { condition, then, otherwise } => {
                if_::holds::<COLLECT>(run, value, *condition, *then, *otherwise)
            }
            Op::Ref { block } => run.reference::<COLLECT>(at, *block, value),
            Op::DynamicRef { block, anchor } => {
                let block = run.dynamic(*anchor)?.unwrap_or(*block);
                run.reference::<COLLECT>(at, block, value)
            }
            Op::UnevaluatedItems { block } => unevaluated::items_hold::<COLLECT>(run, value, *block),
            Op::UnevaluatedProperties { block } => {
                unevaluated::properties_hold::<COLLECT>(run, value, *block)
            }
        }
    }

    /// Bytes beside the instruction itself.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Op::Enum { members, .. } => size_of_val(&**members),
            Op::Items { prefix: blocks, .. }
            | Op::AllOf { blocks }
            | Op::AnyOf { blocks, .. }
            | Op::OneOf { blocks, .. } => size_of_val(&**blocks),
            Op::Required { names, .. } => names.iter().map(|name| size_of_val(name) + name.len()).sum(),
            Op::Properties(plan) => plan.bytes(),
            Op::DependentRequired { rules } => rules.iter().map(rule_bytes).sum(),
            Op::DependentSchemas { rules } => rules.iter().map(|rule| size_of_val(rule) + rule.0.len()).sum(),
            _ => 0,
        }
    }

    /// The blocks that are applied to the same value, so that a loop through them would never end.
    pub(crate) fn in_place(&self) -> Vec<BlockId> {
        match self {
            Op::AllOf { blocks } | Op::AnyOf { blocks, .. } | Op::OneOf { blocks, .. } => blocks.to_vec(),
            Op::Not { block } | Op::Ref { block } | Op::DynamicRef { block, .. } => vec![*block],
            Op::If { condition, then, otherwise } => {
                [Some(*condition), *then, *otherwise].into_iter().flatten().collect()
            }
            Op::DependentSchemas { rules } => rules.iter().map(|(_, block)| *block).collect(),
            _ => Vec::new(),
        }
    }
}

fn rule_bytes((name, names): &NamesRule) -> usize {
    size_of::<NamesRule>()
        + name.len()
        + names.iter().map(|name| size_of_val(name) + name.len()).sum::<usize>()
}

//! What a subschema says about a value without looking at it: the types that it takes, and which subschemas apply to the
//! value's parts. The one place where coercion looks into a program.

use std::collections::HashMap;
use std::sync::Arc;

use crate::coerce::Stop;
use crate::json::{Kind, Member, Node};
use crate::program::{Additional, BlockId, ObjectPlan, Op, Parts};
use crate::types::TypeSet;
use crate::{Program, Work};

/// A program, with the types that each of its blocks takes: never fewer than it really does.
#[derive(Debug)]
pub(in crate::coerce) struct Kinds {
    parts: Arc<Parts>,
    types: Vec<TypeSet>,
}

/// What applies to the parts of one value, of all the subschemas that apply to the value itself.
#[derive(Default)]
pub(in crate::coerce) struct Flat<'p> {
    pub(in crate::coerce) objects: Vec<&'p ObjectPlan>,
    pub(in crate::coerce) items: Vec<(&'p [BlockId], Option<BlockId>)>,
    pub(in crate::coerce) alternatives: Vec<Alternatives<'p>>,
    pub(in crate::coerce) conditions: Vec<Condition>,
    pub(in crate::coerce) required: Vec<&'p [Box<str>]>,
    seen: Vec<BlockId>,
}

/// `anyOf` or `oneOf`.
#[derive(Clone, Copy)]
pub(in crate::coerce) struct Alternatives<'p> {
    pub(in crate::coerce) blocks: &'p [BlockId],
    pub(in crate::coerce) exclusive: bool,
}

/// `if`, `then` and `else`.
#[derive(Clone, Copy)]
pub(in crate::coerce) struct Condition {
    pub(in crate::coerce) when: BlockId,
    pub(in crate::coerce) then: Option<BlockId>,
    pub(in crate::coerce) otherwise: Option<BlockId>,
}

impl Kinds {
    pub(in crate::coerce) fn of(program: &Program) -> Kinds {
        let parts = Arc::clone(&program.parts);
        let mut known = HashMap::new();
        let blocks = u32::try_from(parts.blocks.len()).unwrap_or(u32::MAX);
        let types = (0..blocks).map(|block| types_of(&parts, BlockId(block), &mut known, 0)).collect();
        Kinds { parts, types }
    }

    pub(in crate::coerce) fn parts(&self) -> &Parts {
        &self.parts
    }

    /// The types that all of the blocks take.
    pub(in crate::coerce) fn types(&self, blocks: &[BlockId]) -> TypeSet {
        let each =
            blocks.iter().map(|block| self.types.get(block.0 as usize).copied().unwrap_or(TypeSet::ALL));
        each.fold(TypeSet::ALL, TypeSet::intersection)
    }

    /// Gathers what a block and all that is applied in its place say about the parts of `value`.
    pub(in crate::coerce) fn flatten<'p>(&'p self, block: BlockId, value: Node<'_>, flat: &mut Flat<'p>) {
        if flat.seen.contains(&block) {
            return;
        }
        flat.seen.push(block);
        let Some(instructions) = self.parts.block(block).map(|block| self.parts.instructions(block)) else {
            return;
        };
        for instruction in instructions {
            match &instruction.op {
                Op::Properties(plan) => flat.objects.push(plan),
                Op::Items { prefix, rest } => flat.items.push((prefix, *rest)),
                Op::Required { names, .. } => flat.required.push(names),
                Op::Ref { block } => self.flatten(*block, value, flat),
                Op::AllOf { blocks } => blocks.iter().for_each(|block| self.flatten(*block, value, flat)),
                Op::AnyOf { blocks, .. } => {
                    flat.alternatives.push(Alternatives { blocks, exclusive: false });
                }
                Op::OneOf { blocks, .. } => {
                    flat.alternatives.push(Alternatives { blocks, exclusive: true });
                }
                Op::If { condition, then, otherwise } => {
                    let rule = Condition { when: *condition, then: *then, otherwise: *otherwise };
                    flat.conditions.push(rule);
                }
                Op::DependentSchemas { rules } => {
                    for (name, block) in rules {
                        if value.kind() == Kind::Object && value.member(name).is_some() {
                            self.flatten(*block, value, flat);
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

impl Flat<'_> {
    /// The work of gathering it: each subschema is looked for among those that came before.
    pub(in crate::coerce) fn work(&self) -> u64 {
        let seen = self.seen.len() as u64;
        seen + seen * seen / 64
    }

    /// Replaces `blocks` by the subschemas that apply to a member.
    pub(in crate::coerce) fn of_member(
        &self,
        parts: &Parts,
        member: Member<'_>,
        work: &mut Work,
        blocks: &mut Vec<BlockId>,
    ) -> Result<(), Stop> {
        blocks.clear();
        for plan in &self.objects {
            work.charge(1)?;
            let before = blocks.len();
            blocks.extend(plan.slot(member).and_then(|slot| plan.slots.get(slot)).map(|slot| slot.block));
            for (pattern, block) in &plan.patterns {
                if let Some(pattern) = parts.pattern(*pattern)
                    && pattern.is_match(&member.name(), work)?
                {
                    blocks.push(*block);
                }
            }
            if blocks.len() == before
                && let Additional::Schema(block) = plan.additional
            {
                blocks.push(block);
            }
        }
        Ok(())
    }
}

/// References within references that are followed for types; beyond, any type is taken to be possible.
const DEPTH_MAX: u64 = 64;

fn types_of(parts: &Parts, block: BlockId, known: &mut HashMap<u32, TypeSet>, depth: u64) -> TypeSet {
    if let Some(types) = known.get(&block.0) {
        return *types;
    }
    let Some(instructions) = parts.block(block).map(|block| parts.instructions(block)) else {
        return TypeSet::ALL;
    };
    if depth == DEPTH_MAX {
        return TypeSet::ALL;
    }
    // For a reference that comes back here; those that consume nothing are refused when a schema is compiled.
    known.insert(block.0, TypeSet::ALL);
    let mut types = TypeSet::ALL;
    for instruction in instructions {
        types = types.intersection(match &instruction.op {
            Op::Never => TypeSet::EMPTY,
            Op::Type { types, .. } => *types,
            Op::Enum { members, .. } => members
                .iter()
                .filter_map(|(_, spot)| parts.constant(*spot))
                .fold(TypeSet::EMPTY, |set, member| set.union(TypeSet::of(member))),
            Op::Const { value } => parts.constant(*value).map_or(TypeSet::ALL, TypeSet::of),
            Op::Ref { block } => types_of(parts, *block, known, depth + 1),
            Op::AllOf { blocks } => blocks
                .iter()
                .fold(TypeSet::ALL, |set, block| set.intersection(types_of(parts, *block, known, depth + 1))),
            Op::AnyOf { blocks, .. } | Op::OneOf { blocks, .. } => blocks
                .iter()
                .fold(TypeSet::EMPTY, |set, block| set.union(types_of(parts, *block, known, depth + 1))),
            _ => TypeSet::ALL,
        });
    }
    known.insert(block.0, types);
    types
}

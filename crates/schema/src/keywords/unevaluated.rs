//! `unevaluatedItems` and `unevaluatedProperties` (2020-12 core, section 11): what holds for parts that nothing applied
//! to the same value has looked at.

use crate::check::{Run, Stop};
use crate::compile::{Compiler, Draft, Entry};
use crate::json::{Kind, Node};
use crate::program::{BlockId, Op};

pub(crate) fn items<'a>(compiler: &mut Compiler<'a>, draft: &mut Draft, entry: &Entry<'a, '_>) {
    let block = compiler.subschema(entry);
    draft.push("unevaluatedItems", Op::UnevaluatedItems { block });
}

pub(crate) fn properties<'a>(compiler: &mut Compiler<'a>, draft: &mut Draft, entry: &Entry<'a, '_>) {
    let block = compiler.subschema(entry);
    draft.push("unevaluatedProperties", Op::UnevaluatedProperties { block });
}

pub(crate) fn items_hold<'i, const COLLECT: bool>(
    run: &mut Run<'_, 'i>,
    value: Node<'i>,
    block: BlockId,
) -> Result<bool, Stop> {
    if value.kind() != Kind::Array {
        return Ok(true);
    }
    let evaluated = run.evaluated()?;
    let mut good = true;
    for (index, item) in value.items().enumerate() {
        if evaluated.contains(&item.id()) {
            continue;
        }
        good &= run.item::<COLLECT>(block, index, item)?;
        if !COLLECT && !good {
            break;
        }
        run.mark(item);
    }
    Ok(good)
}

pub(crate) fn properties_hold<'i, const COLLECT: bool>(
    run: &mut Run<'_, 'i>,
    value: Node<'i>,
    block: BlockId,
) -> Result<bool, Stop> {
    if value.kind() != Kind::Object {
        return Ok(true);
    }
    let evaluated = run.evaluated()?;
    let mut good = true;
    for member in value.members() {
        if evaluated.contains(&member.value().id()) {
            continue;
        }
        good &= run.member::<COLLECT>(block, member)?;
        if !COLLECT && !good {
            break;
        }
        run.mark(member.value());
    }
    Ok(good)
}

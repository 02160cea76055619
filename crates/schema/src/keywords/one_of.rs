//! `oneOf` (2020-12 core, section 10.2.1.3).

use crate::check::{OnlyBranch, Run, Site, Stop};
use crate::compile::{Compiler, Draft, Entry};
use crate::json::Node;
use crate::keywords::any_of;
use crate::program::{BlockId, Op};
use crate::types::TypeSet;
use crate::{Code, Detail, Finding};

pub(crate) fn compile<'a>(compiler: &mut Compiler<'a>, draft: &mut Draft, entry: &Entry<'a, '_>) {
    if let Some(blocks) = compiler.subschemas(entry) {
        draft.push("oneOf", Op::OneOf { types: any_of::types(entry.value), blocks: blocks.into() });
    }
}

/// Stops at the second branch that holds.
pub(crate) fn holds<'i, const COLLECT: bool>(
    run: &mut Run<'_, 'i>,
    at: Site,
    value: Node<'i>,
    blocks: &[BlockId],
    types: Option<TypeSet>,
) -> Result<bool, Stop> {
    let only = if COLLECT { run.only_branch(at, true, blocks, value) } else { OnlyBranch::Unknown };
    match only {
        OnlyBranch::Holds => return Ok(true),
        OnlyBranch::Asks(closest) => {
            return run.refuse::<COLLECT>(at, value, || {
                any_of::no_branch(Code::OneOfNone, blocks.len(), types, value, Some(closest))
            });
        }
        OnlyBranch::Unknown => {}
    }
    let mut first = None;
    for (index, block) in run.candidates(at, true, blocks, value) {
        if !run.block::<false>(block, value)? {
            continue;
        }
        match first {
            None => first = Some(index),
            Some(first) => return run.refuse::<COLLECT>(at, value, || several(first, index)),
        }
    }
    if first.is_some() {
        return Ok(true);
    }
    let closest = if COLLECT { run.closest(at, true, blocks, value) } else { None };
    run.refuse::<COLLECT>(at, value, || {
        any_of::no_branch(Code::OneOfNone, blocks.len(), types, value, closest)
    })
}

fn several(first: usize, second: usize) -> Finding {
    let message = format!(
        "expected a value that exactly one alternative accepts, found one that alternatives {first} and {second} accept"
    );
    Finding::new(Code::OneOfSeveral, message)
        .with("first", Detail::Count(first as u64))
        .with("second", Detail::Count(second as u64))
}

//! `if`, `then`, `else` (2020-12 core, section 10.2.2).

use crate::check::{Run, Stop};
use crate::compile::{Compiler, Draft, Entry};
use crate::json::Node;
use crate::program::BlockId;

pub(crate) fn condition<'a>(compiler: &mut Compiler<'a>, draft: &mut Draft, entry: &Entry<'a, '_>) {
    draft.condition.condition = Some(compiler.subschema(entry));
}

pub(crate) fn then<'a>(compiler: &mut Compiler<'a>, draft: &mut Draft, entry: &Entry<'a, '_>) {
    draft.condition.then = Some(compiler.subschema(entry));
}

pub(crate) fn otherwise<'a>(compiler: &mut Compiler<'a>, draft: &mut Draft, entry: &Entry<'a, '_>) {
    draft.condition.otherwise = Some(compiler.subschema(entry));
}

pub(crate) fn holds<'i, const COLLECT: bool>(
    run: &mut Run<'_, 'i>,
    value: Node<'i>,
    condition: BlockId,
    then: Option<BlockId>,
    otherwise: Option<BlockId>,
) -> Result<bool, Stop> {
    let branch = if run.block::<false>(condition, value)? { then } else { otherwise };
    branch.map_or(Ok(true), |branch| run.block::<COLLECT>(branch, value))
}

//! `not` (2020-12 core, section 10.2.1.4).

use crate::check::{Run, Site, Stop};
use crate::compile::{Compiler, Draft, Entry};
use crate::json::Node;
use crate::program::{BlockId, Op};
use crate::{Code, Finding};

pub(crate) fn compile<'a>(compiler: &mut Compiler<'a>, draft: &mut Draft, entry: &Entry<'a, '_>) {
    let block = compiler.subschema(entry);
    draft.push("not", Op::Not { block });
}

pub(crate) fn holds<'i, const COLLECT: bool>(
    run: &mut Run<'_, 'i>,
    at: Site,
    value: Node<'i>,
    block: BlockId,
) -> Result<bool, Stop> {
    if !run.block::<false>(block, value)? {
        return Ok(true);
    }
    run.refuse::<COLLECT>(at, value, || {
        Finding::new(
            Code::NotMatched,
            "expected a value that the schema under `not` refuses, found one that it accepts",
        )
    })
}

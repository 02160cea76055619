//! `contains`, `minContains`, `maxContains` (2020-12 core, section 10.3.1.3; validation, sections 6.4.4 and 6.4.5).

use crate::check::{Run, Site, Stop};
use crate::compile::{Compiler, Draft, Entry};
use crate::json::{Kind, Node};
use crate::keywords::lengths::count;
use crate::program::BlockId;
use crate::{Code, Detail, Finding};

pub(crate) fn compile<'a>(compiler: &mut Compiler<'a>, draft: &mut Draft, entry: &Entry<'a, '_>) {
    draft.contains.block = Some(compiler.subschema(entry));
}

pub(crate) fn least(compiler: &mut Compiler<'_>, draft: &mut Draft, entry: &Entry<'_, '_>) {
    draft.contains.least = count(compiler, entry);
}

pub(crate) fn most(compiler: &mut Compiler<'_>, draft: &mut Draft, entry: &Entry<'_, '_>) {
    draft.contains.most = count(compiler, entry);
}

pub(crate) fn holds<'i, const COLLECT: bool>(
    run: &mut Run<'_, 'i>,
    at: Site,
    value: Node<'i>,
    block: BlockId,
    least: u64,
    most: Option<u64>,
) -> Result<bool, Stop> {
    if value.kind() != Kind::Array {
        return Ok(true);
    }
    let mut matches = 0u64;
    for (index, item) in value.items().enumerate() {
        if !run.item::<false>(block, index, item)? {
            continue;
        }
        matches += 1;
        run.mark(item);
        // Decided, unless others must know every item that matches.
        if most.is_some_and(|most| matches > most)
            || (most.is_none() && matches >= least && !run.is_tracking())
        {
            break;
        }
    }
    if matches < least {
        return run.refuse::<COLLECT>(at, value, || {
            let message = format!("expected at least {least} items as `contains` describes, found {matches}");
            Finding::new(Code::ContainsTooFew, message).with("minContains", Detail::Count(least))
        });
    }
    match most {
        Some(most) if matches > most => run.refuse::<COLLECT>(at, value, || {
            let message = format!("expected at most {most} items as `contains` describes, found more");
            Finding::new(Code::ContainsTooMany, message).with("maxContains", Detail::Count(most))
        }),
        _ => Ok(true),
    }
}

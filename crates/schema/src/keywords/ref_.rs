//! References and what they point to, and `allOf`: schemas that are applied where they stand (2020-12 core, sections 8.2
//! and 10.2.1.1).

use crate::check::{Run, Stop};
use crate::compile::{Compiler, Draft, Entry};
use crate::dialect::Dialect;
use crate::json::Node;
use crate::program::{BlockId, Op};
use crate::resolve::is_reference;

pub(crate) fn compile<'a>(compiler: &mut Compiler<'a>, draft: &mut Draft, entry: &Entry<'a, '_>) {
    if let Some(block) = compiler.resolve(entry) {
        draft.push("$ref", Op::Ref { block });
    }
}

pub(crate) fn all_of<'a>(compiler: &mut Compiler<'a>, draft: &mut Draft, entry: &Entry<'a, '_>) {
    if let Some(blocks) = compiler.subschemas(entry) {
        draft.push("allOf", Op::AllOf { blocks: blocks.into() });
    }
}

/// `$defs` and `definitions`: each member is judged, whether it is pointed to or not.
pub(crate) fn definitions<'a>(compiler: &mut Compiler<'a>, _: &mut Draft, entry: &Entry<'a, '_>) {
    compiler.named_subschemas(entry);
}

pub(crate) fn dynamic<'a>(compiler: &mut Compiler<'a>, draft: &mut Draft, entry: &Entry<'a, '_>) {
    if let Some(op) = compiler.resolve_dynamic(entry) {
        draft.push("$dynamicRef", op);
    }
}

/// `$id`: in 2020-12 without a fragment, or with an empty one (2020-12 core, section 8.2.1).
pub(crate) fn identifier(compiler: &mut Compiler<'_>, _: &mut Draft, entry: &Entry<'_, '_>) {
    let Some(text) = entry.value.as_str() else {
        return compiler.malformed(entry, "a URI reference as text");
    };
    let names_a_part = text.split_once('#').is_some_and(|(_, fragment)| !fragment.is_empty());
    if !is_reference(&text) || (compiler.dialect() == Dialect::Draft202012 && names_a_part) {
        compiler.malformed(entry, "a URI reference without a fragment");
    }
}

/// `$anchor` and `$dynamicAnchor` (2020-12 core, section 8.2.2).
pub(crate) fn anchor(compiler: &mut Compiler<'_>, _: &mut Draft, entry: &Entry<'_, '_>) {
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
    };
    if !entry.value.as_str().is_some_and(|name| is_name(&name)) {
        compiler.malformed(entry, "a name of letters, digits, `-`, `_` and `.`");
    }
}

pub(crate) fn all_hold<'i, const COLLECT: bool>(
    run: &mut Run<'_, 'i>,
    value: Node<'i>,
    blocks: &[BlockId],
) -> Result<bool, Stop> {
    let mut good = true;
    for block in blocks {
        good &= run.block::<COLLECT>(*block, value)?;
        if !COLLECT && !good {
            break;
        }
    }
    Ok(good)
}

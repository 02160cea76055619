//! `$ref` and what it points to, and `allOf`: schemas that are applied where they stand (2020-12 core, sections 8.2.3,
//! 8.2.4 and 10.2.1.1).

use crate::check::{Run, Stop};
use crate::compile::{Compiler, Draft, Entry};
use crate::json::Node;
use crate::program::{BlockId, Op};
use crate::{Code, Detail, Finding};

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

/// `$id`. At the root it names the whole text, and references by `#` mean the same with it or without. Below the root
/// it would change what references mean, which is not done here.
pub(crate) fn identifier(compiler: &mut Compiler<'_>, _: &mut Draft, entry: &Entry<'_, '_>) {
    if entry.value.as_str().is_none() {
        compiler.malformed(entry, "a URI as text");
    } else if !entry.schema_location.is_empty() {
        let message = "expected `$id` at the root alone, found it below";
        compiler.fault(
            Finding::new(Code::SchemaUnsupportedKeyword, message)
                .with_help("point to the schema by its place, such as `#/$defs/name`")
                .with("keyword", Detail::Text("$id".into()))
                .at_schema("$id", entry.location())
                .at_offset(entry.value.span().start),
        );
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

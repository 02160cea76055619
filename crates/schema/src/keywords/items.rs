//! `prefixItems` and `items`; in draft-07 `items`, as a list or a schema, and `additionalItems` (2020-12 core,
//! section 10.3.1; draft-07 validation, section 6.4).

use crate::check::{Run, Site, Stop};
use crate::compile::{Compiler, Draft, Entry};
use crate::dialect::{Dialect, Profile};
use crate::json::{Kind, Node};
use crate::program::BlockId;
use crate::{Code, Finding};

pub(crate) fn compile<'a>(compiler: &mut Compiler<'a>, draft: &mut Draft, entry: &Entry<'a, '_>) {
    if entry.value.kind() != Kind::Array {
        draft.items.rest = Some(("items", compiler.subschema(entry)));
        return;
    }
    match (compiler.options.profile, compiler.dialect()) {
        (Profile::Standard, Dialect::Draft07) => list(compiler, draft, entry),
        (Profile::Standard, Dialect::Draft202012) => {
            let count = entry.value.items().count();
            compiler.fault(
                Finding::new(
                    Code::SchemaMalformedKeyword,
                    format!("expected one schema for all items under `items`, found a list of {count}"),
                )
                .with_help(crate::keywords::form("items", Kind::Array).unwrap_or_default())
                .at_schema("items", entry.location())
                .at_offset(entry.value.span().start),
            );
        }
        (Profile::Portable | Profile::Wire, _) => compiler.fault(
            Finding::new(Code::SchemaUnsupportedForm, "expected one schema under `items`, found a list")
                .with_help("describe all items by one schema")
                .at_schema("items", entry.location())
                .at_offset(entry.value.span().start),
        ),
    }
}

pub(crate) fn prefix<'a>(compiler: &mut Compiler<'a>, draft: &mut Draft, entry: &Entry<'a, '_>) {
    if let Some(blocks) = compiler.subschemas(entry) {
        draft.items.prefix = blocks;
    }
}

/// Draft-07 allows an empty list, which constrains nothing (its metaschema asks for one schema at least, its text does
/// not say so; the metaschema is followed).
fn list<'a>(compiler: &mut Compiler<'a>, draft: &mut Draft, entry: &Entry<'a, '_>) {
    prefix(compiler, draft, entry);
}

/// Without a list under `items`, `additionalItems` has no effect (draft-07 validation, section 6.4.2); it must be a
/// schema all the same.
pub(crate) fn additional<'a>(compiler: &mut Compiler<'a>, draft: &mut Draft, entry: &Entry<'a, '_>) {
    let block = compiler.subschema(entry);
    if entry.sibling("items").is_some_and(|items| items.kind() == Kind::Array) {
        draft.items.rest = Some(("additionalItems", block));
    }
}

pub(crate) fn hold<'i, const COLLECT: bool>(
    run: &mut Run<'_, 'i>,
    at: Site,
    value: Node<'i>,
    prefix: &[BlockId],
    rest: Option<BlockId>,
) -> Result<bool, Stop> {
    let mut good = true;
    let unsure = run.first_unsure(at, value);
    for (index, item) in value.items().enumerate() {
        let Some(block) = prefix.get(index).copied().or(rest) else { break };
        good &= match unsure {
            Some(first) if item.index() < first => true,
            Some(first) if item.index() == first => run.unsure_item::<COLLECT>(block, index, item)?,
            _ => run.item::<COLLECT>(block, index, item)?,
        };
        if !COLLECT && !good {
            break;
        }
        run.mark(item);
    }
    Ok(good)
}

//! `anyOf` (2020-12 core, section 10.2.1.2).

use crate::check::{OnlyBranch, Run, Site, Stop};
use crate::compile::{Compiler, Draft, Entry};
use crate::dialect::Profile;
use crate::json::Node;
use crate::program::{BlockId, Op};
use crate::types::{TypeSet, found};
use crate::{Code, Finding};

pub(crate) fn compile<'a>(compiler: &mut Compiler<'a>, draft: &mut Draft, entry: &Entry<'a, '_>) {
    if let Some(blocks) = compiler.subschemas(entry) {
        draft.push("anyOf", Op::AnyOf { types: types(entry.value), blocks: blocks.into() });
    }
    if compiler.options.profile == Profile::Portable && entry.sibling("oneOf").is_some() {
        compiler.fault(
            Finding::new(
                Code::SchemaUnsupportedForm,
                "expected one of `oneOf` and `anyOf`, found both in one schema",
            )
            .with_help("keep one of them, or put one into a branch of the other")
            .at_schema("anyOf", entry.location())
            .at_offset(entry.value.span().start),
        );
    }
}

/// The types of all branches together, if each branch names its own.
pub(crate) fn types(branches: Node<'_>) -> Option<TypeSet> {
    branches
        .items()
        .try_fold(TypeSet::EMPTY, |set, branch| Some(set.union(TypeSet::named_by(branch.member("type")?)?)))
}

/// Stops at the first branch that holds, unless others must know what the later ones evaluate.
pub(crate) fn holds<'i, const COLLECT: bool>(
    run: &mut Run<'_, 'i>,
    at: Site,
    value: Node<'i>,
    blocks: &[BlockId],
    types: Option<TypeSet>,
) -> Result<bool, Stop> {
    let only = if COLLECT { run.only_branch(at, false, blocks, value) } else { OnlyBranch::Unknown };
    match only {
        OnlyBranch::Holds => return Ok(true),
        OnlyBranch::Asks(closest) => {
            return run.refuse::<COLLECT>(at, value, || {
                no_branch(Code::AnyOfNone, blocks.len(), types, value, Some(closest))
            });
        }
        OnlyBranch::Unknown => {}
    }
    let mut good = false;
    for (_, block) in run.candidates(at, false, blocks, value) {
        good |= run.block::<false>(block, value)?;
        if good && !run.is_tracking() {
            break;
        }
    }
    if good {
        return Ok(true);
    }
    let closest = if COLLECT { run.closest(at, false, blocks, value) } else { None };
    run.refuse::<COLLECT>(at, value, || no_branch(Code::AnyOfNone, blocks.len(), types, value, closest))
}

/// What to say when no branch holds: the types that would do if that is the fault, else what the closest branch asks.
pub(crate) fn no_branch(
    code: Code,
    branches: usize,
    types: Option<TypeSet>,
    value: Node<'_>,
    closest: Option<String>,
) -> Finding {
    if let Some(types) = types
        && !types.has(value)
    {
        return Finding::new(code, format!("expected {}, found {}", types.names(), found(value)));
    }
    let alternatives = if branches == 1 { "alternative" } else { "alternatives" };
    let found = found(value);
    let finding = Finding::new(
        code,
        format!(
            "expected a value that one of {branches} {alternatives} accepts, found {found} that none does"
        ),
    );
    match closest {
        Some(closest) => finding.with_help(closest),
        None => finding,
    }
}

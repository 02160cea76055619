//! `required` (2020-12 validation, section 6.5.3).

use std::collections::HashSet;

use crate::check::{Run, Site, Stop};
use crate::compile::{Compiler, Draft, Entry};
use crate::dialect::Profile;
use crate::json::{Kind, Member, Node};
use crate::program::{ObjectPlan, Op};
use crate::{Code, Detail, Finding};

pub(crate) fn compile(compiler: &mut Compiler<'_>, draft: &mut Draft, entry: &Entry<'_, '_>) {
    if let Some(names) = names(compiler, entry, entry.value, "") {
        draft.push("required", Op::Required { names, counted: false });
    }
}

/// Names of which each is compared with all before it; of more, a table is made.
const NAMES_FEW: usize = 16;

/// A list of names, each kept once, in the order of the list. `tail` leads to it within the keyword. The names must
/// differ, but profile `portable`, by its document, takes a name twice.
pub(crate) fn names(
    compiler: &mut Compiler<'_>,
    entry: &Entry<'_, '_>,
    list: Node<'_>,
    tail: &str,
) -> Option<Box<[Box<str>]>> {
    let names: Vec<_> = list.items().filter_map(Node::as_str).collect();
    if list.kind() != Kind::Array || names.len() != list.len() {
        compiler.malformed_at(entry, list, tail, "a list of names");
        return None;
    }
    let distinct: Box<[Box<str>]> = if names.len() <= NAMES_FEW {
        let earlier = |at: usize| names.iter().take(at);
        let names = names.iter().enumerate();
        names
            .filter(|(at, name)| earlier(*at).all(|other| other != *name))
            .map(|(_, name)| (&**name).into())
            .collect()
    } else {
        let mut seen = HashSet::new();
        names.iter().filter(|name| seen.insert(&***name)).map(|name| (&**name).into()).collect()
    };
    if distinct.len() < list.len() && compiler.options.profile == Profile::Standard {
        compiler.malformed_at(entry, list, tail, "a list of names that all differ");
        return None;
    }
    Some(distinct)
}

pub(crate) fn holds<'i, const COLLECT: bool>(
    run: &mut Run<'_, 'i>,
    at: Site,
    value: Node<'i>,
    names: &[Box<str>],
    counted: bool,
) -> Result<bool, Stop> {
    if value.kind() != Kind::Object {
        return Ok(true);
    }
    if counted && all_are_there(run, at, value) {
        run.charge(names.len() + value.len())?;
        return Ok(true);
    }
    let missing = missing(run, value, names)?;
    for name in &missing {
        run.refuse::<COLLECT>(at, value, || property_missing(name))?;
    }
    Ok(missing.is_empty())
}

/// Whether the value has every required member, by the table of declared ones beside the keyword.
fn all_are_there(run: &Run<'_, '_>, at: Site, value: Node<'_>) -> bool {
    let block = run.parts.block(at.block).map(|block| run.parts.instructions(block)).unwrap_or_default();
    let plan = block.iter().find_map(|instruction| match &instruction.op {
        Op::Properties(plan) => Some(plan),
        _ => None,
    });
    let is_required = |plan: &ObjectPlan, member| {
        plan.slot(member).and_then(|slot| plan.slots.get(slot)).is_some_and(|slot| slot.required)
    };
    plan.is_some_and(|plan| {
        let there = value.members().filter(|member| is_required(plan, *member)).count();
        there == plan.required
    })
}

pub(crate) fn property_missing(name: &str) -> Finding {
    Finding::new(Code::PropertyMissing, ["expected the member `", name, "`, found none"].concat())
        .with("property", Detail::Text(name.to_owned()))
}

/// Members times names beyond which a table is made, so that the work stays linear.
const PAIRS_MAX: usize = 1_024;

/// The names that the object lacks.
pub(crate) fn missing<'n>(
    run: &mut Run<'_, '_>,
    value: Node<'_>,
    names: &'n [Box<str>],
) -> Result<Vec<&'n str>, Stop> {
    run.charge(names.len() + value.len())?;
    if names.len().saturating_mul(value.len()) <= PAIRS_MAX {
        return Ok(names.iter().map(AsRef::as_ref).filter(|name| value.member(name).is_none()).collect());
    }
    let present: HashSet<_> = value.members().map(Member::name).collect();
    Ok(names.iter().map(AsRef::as_ref).filter(|name| !present.contains(*name)).collect())
}

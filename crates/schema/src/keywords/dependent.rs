//! `dependentRequired`, `dependentSchemas` and their elder `dependencies` (2020-12 validation, section 6.5.4; core,
//! section 10.2.2.4; draft-07 validation, section 6.5.7).

use crate::check::{Run, Site, Stop};
use crate::compile::{Compiler, Draft, Entry};
use crate::json::{Kind, Node};
use crate::keywords::required;
use crate::location::below;
use crate::program::{BlockId, NamesRule, Op};

pub(crate) fn required(compiler: &mut Compiler<'_>, draft: &mut Draft, entry: &Entry<'_, '_>) {
    if entry.value.kind() != Kind::Object {
        return compiler.malformed(entry, "an object of lists of names");
    }
    let rules = sorted(entry.value).into_iter().filter_map(|(name, list)| {
        let tail = below("", &name);
        required::names(compiler, entry, list, &tail).map(|names| (name.into(), names))
    });
    let rules: Vec<NamesRule> = rules.collect();
    draft.push("dependentRequired", Op::DependentRequired { rules: rules.into() });
}

pub(crate) fn schemas<'a>(compiler: &mut Compiler<'a>, draft: &mut Draft, entry: &Entry<'a, '_>) {
    if let Some(schemas) = compiler.named_subschemas(entry) {
        let rules = schemas.into_iter().map(|(name, block)| (name.into(), block)).collect();
        draft.push("dependentSchemas", Op::DependentSchemas { rules });
    }
}

/// Each member is a list of names or a schema.
pub(crate) fn dependencies<'a>(compiler: &mut Compiler<'a>, draft: &mut Draft, entry: &Entry<'a, '_>) {
    if entry.value.kind() != Kind::Object {
        return compiler.malformed(entry, "an object of lists of names or schemas");
    }
    let (mut lists, mut schemas): (Vec<NamesRule>, Vec<(Box<str>, BlockId)>) = (Vec::new(), Vec::new());
    for (name, rule) in sorted(entry.value) {
        if rule.kind() == Kind::Array {
            let names = required::names(compiler, entry, rule, &below("", &name));
            lists.extend(names.map(|names| (name.into(), names)));
        } else {
            let block = compiler.subschema_in(entry, &name, rule);
            schemas.push((name.into(), block));
        }
    }
    draft.push("dependencies", Op::DependentRequired { rules: lists.into() });
    draft.push("dependencies", Op::DependentSchemas { rules: schemas.into() });
}

fn sorted(object: Node<'_>) -> Vec<(String, Node<'_>)> {
    let mut members: Vec<_> =
        object.members().map(|member| (member.name().into_owned(), member.value())).collect();
    members.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    members
}

pub(crate) fn names_hold<'i, const COLLECT: bool>(
    run: &mut Run<'_, 'i>,
    at: Site,
    value: Node<'i>,
    rules: &[NamesRule],
) -> Result<bool, Stop> {
    if value.kind() != Kind::Object {
        return Ok(true);
    }
    let mut good = true;
    for (name, names) in rules {
        run.charge(value.len())?;
        if value.member(name).is_none() {
            continue;
        }
        for missing in required::missing(run, value, names)? {
            good = run.refuse::<COLLECT>(at, value, || {
                required::property_missing(missing)
                    .with_help(format!("`{name}` asks for `{missing}` beside it"))
            })?;
        }
        if !COLLECT && !good {
            break;
        }
    }
    Ok(good)
}

pub(crate) fn schemas_hold<'i, const COLLECT: bool>(
    run: &mut Run<'_, 'i>,
    value: Node<'i>,
    rules: &[(Box<str>, BlockId)],
) -> Result<bool, Stop> {
    if value.kind() != Kind::Object {
        return Ok(true);
    }
    let mut good = true;
    for (name, block) in rules {
        run.charge(value.len())?;
        if value.member(name).is_some() {
            good &= run.block::<COLLECT>(*block, value)?;
        }
        if !COLLECT && !good {
            break;
        }
    }
    Ok(good)
}

//! `uniqueItems` (2020-12 validation, section 6.4.3), near linear: only items of equal hash are compared.

use crate::check::{Run, Site, Stop};
use crate::compile::{Compiler, Draft, Entry};
use crate::json::{Kind, Node};
use crate::program::Op;
use crate::{Code, Detail, Finding};

pub(crate) fn compile(compiler: &mut Compiler<'_>, draft: &mut Draft, entry: &Entry<'_, '_>) {
    match entry.value.as_bool() {
        Some(true) => draft.push("uniqueItems", Op::UniqueItems),
        Some(false) => {}
        None => compiler.malformed(entry, "a boolean"),
    }
}

pub(crate) fn holds<'i, const COLLECT: bool>(
    run: &mut Run<'_, 'i>,
    at: Site,
    value: Node<'i>,
) -> Result<bool, Stop> {
    if value.kind() != Kind::Array || value.len() < 2 {
        return Ok(true);
    }
    run.charge(value.raw().len())?;
    let mut items: Vec<_> =
        value.items().enumerate().map(|(index, item)| (item.value_hash(), index, item)).collect();
    items.sort_unstable_by_key(|&(hash, index, _)| (hash, index));
    for group in items.chunk_by(|a, b| a.0 == b.0) {
        if let Some((first, second)) = equal_pair(run, group)? {
            return run.refuse::<COLLECT>(at, value, || {
                let message =
                    format!("expected items that all differ, found items {first} and {second} equal");
                Finding::new(Code::ArrayNotUnique, message)
                    .with("first", Detail::Count(first as u64))
                    .with("second", Detail::Count(second as u64))
            });
        }
    }
    Ok(true)
}

/// Two equal items among those of one hash, by their places.
fn equal_pair<'i>(
    run: &mut Run<'_, 'i>,
    group: &[(u64, usize, Node<'i>)],
) -> Result<Option<(usize, usize)>, Stop> {
    for (at, (_, second, item)) in group.iter().enumerate() {
        for (_, first, earlier) in group.get(..at).unwrap_or_default() {
            run.charge(item.raw().len())?;
            if item.equals(*earlier) {
                return Ok(Some((*first, *second)));
            }
        }
    }
    Ok(None)
}

//! `enum` (2020-12 validation, section 6.1.2).

use crate::check::{Run, Site, Stop};
use crate::compile::{Compiler, Draft, Entry};
use crate::json::{Kind, Node};
use crate::program::Op;
use crate::resolve::Spot;
use crate::types::{alternatives, found};
use crate::{Code, Finding};

/// Choices named in a message; more are counted.
const CHOICES_NAMED_MAX: usize = 12;
/// Bytes of a choice in a message; longer ones are left out.
const CHOICE_BYTES_MAX: usize = 60;

pub(crate) fn compile(compiler: &mut Compiler<'_>, draft: &mut Draft, entry: &Entry<'_, '_>) {
    if entry.value.kind() != Kind::Array {
        compiler.malformed(entry, "a list of values");
        return;
    }
    let mut members: Vec<_> =
        entry.value.items().map(|item| (item.value_hash(), compiler.spot(item))).collect();
    members.sort_unstable();
    draft.push("enum", Op::Enum { members: members.into(), written: compiler.spot(entry.value) });
}

pub(crate) fn holds<'i, const COLLECT: bool>(
    run: &mut Run<'_, 'i>,
    at: Site,
    value: Node<'i>,
    members: &[(u64, Spot)],
    written: Spot,
) -> Result<bool, Stop> {
    run.charge(value.raw().len())?;
    let hash = value.value_hash();
    let first = members.partition_point(|(member, _)| *member < hash);
    for (_, id) in members.iter().skip(first).take_while(|(member, _)| *member == hash) {
        run.charge(value.raw().len())?;
        if run.parts.constant(*id).is_some_and(|member| member.equals(value)) {
            return Ok(true);
        }
    }
    let Some(written) = run.parts.constant(written) else { return Ok(false) };
    run.refuse::<COLLECT>(at, value, || {
        let other = if written.items().any(|choice| choice.kind() == value.kind()) { "another " } else { "" };
        let choices = choices(written);
        Finding::new(Code::EnumMismatch, ["expected ", &choices, ", found ", other, found(value)].concat())
    })
}

/// The choices as JSON text, so that a number and a text of the same look differ.
fn choices(written: Node<'_>) -> String {
    let short: Vec<_> =
        written.items().map(Node::raw_str).filter(|raw| raw.len() <= CHOICE_BYTES_MAX).collect();
    match written.len() {
        0 => String::from("a value (the list of choices is empty, so none is accepted)"),
        1 if short.len() == 1 => alternatives(&short),
        count if short.len() == count && count <= CHOICES_NAMED_MAX => {
            format!("one of {}", alternatives(&short))
        }
        count => {
            let named = short.get(..CHOICES_NAMED_MAX.min(short.len())).unwrap_or_default();
            format!("one of {count} choices, such as {}", named.join(", "))
        }
    }
}

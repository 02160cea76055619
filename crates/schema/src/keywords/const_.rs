//! `const` (2020-12 validation, section 6.1.3).

use crate::check::{Run, Site, Stop};
use crate::compile::{Compiler, Draft, Entry};
use crate::json::Node;
use crate::program::Op;
use crate::resolve::Spot;
use crate::types::found;
use crate::{Code, Finding};

/// Bytes of the value in a message; a longer one is not repeated.
const VALUE_BYTES_MAX: usize = 60;

pub(crate) fn compile(compiler: &mut Compiler<'_>, draft: &mut Draft, entry: &Entry<'_, '_>) {
    draft.push("const", Op::Const { value: compiler.spot(entry.value) });
}

pub(crate) fn holds<'i, const COLLECT: bool>(
    run: &mut Run<'_, 'i>,
    at: Site,
    value: Node<'i>,
    only: Spot,
) -> Result<bool, Stop> {
    let Some(only) = run.parts.constant(only) else { return Ok(false) };
    if only.kind() == value.kind() {
        run.charge(value.raw().len())?;
        if only.equals(value) {
            return Ok(true);
        }
    }
    run.refuse::<COLLECT>(at, value, || {
        let expected = match only.raw_str() {
            short if short.len() <= VALUE_BYTES_MAX => short,
            _ => "the value under `const`",
        };
        let other = if only.kind() == value.kind() { "another " } else { "" };
        Finding::new(Code::ConstMismatch, ["expected ", expected, ", found ", other, found(value)].concat())
    })
}

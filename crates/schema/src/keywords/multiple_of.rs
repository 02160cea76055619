//! `multipleOf` (2020-12 validation, section 6.2.1), exact on decimals.

use crate::check::{Run, Site, Stop};
use crate::compile::{Compiler, Draft, Entry};
use crate::json::Node;
use crate::program::Op;
use crate::resolve::Spot;
use crate::{Code, Detail, Finding};

pub(crate) fn compile(compiler: &mut Compiler<'_>, draft: &mut Draft, entry: &Entry<'_, '_>) {
    match entry.value.as_number() {
        Some(divisor) if !divisor.is_zero() && !divisor.is_negative() => {
            draft.push("multipleOf", Op::MultipleOf { divisor: compiler.spot(entry.value) });
        }
        _ => compiler.malformed(entry, "a number above 0"),
    }
}

pub(crate) fn holds<'i, const COLLECT: bool>(
    run: &mut Run<'_, 'i>,
    at: Site,
    value: Node<'i>,
    divisor: Spot,
) -> Result<bool, Stop> {
    let Some(number) = value.as_number() else { return Ok(true) };
    let Some(written) = run.parts.constant(divisor) else { return Ok(false) };
    let Some(divisor) = written.as_number() else { return Ok(true) };
    run.work().charge(number.multiple_of_work(divisor))?;
    if number.is_multiple_of(divisor) {
        return Ok(true);
    }
    let written = written.raw_str();
    run.refuse::<COLLECT>(at, value, || {
        Finding::new(
            Code::NumberNotMultiple,
            format!("expected a multiple of {written}, found another number"),
        )
        .with("multipleOf", Detail::Json(written.to_owned()))
    })
}

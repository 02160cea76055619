//! `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum` (2020-12 validation, sections 6.2.2 to 6.2.5). Numbers
//! are compared as exact decimals.

use crate::check::{Run, Site, Stop};
use crate::compile::{Compiler, Draft, Entry};
use crate::json::{Kind, Node};
use crate::program::{Bound, Op};
use crate::resolve::Spot;
use crate::{Code, Detail, Finding};

pub(crate) fn minimum(compiler: &mut Compiler<'_>, draft: &mut Draft, entry: &Entry<'_, '_>) {
    compile(compiler, draft, entry, Bound::Minimum);
}

pub(crate) fn maximum(compiler: &mut Compiler<'_>, draft: &mut Draft, entry: &Entry<'_, '_>) {
    compile(compiler, draft, entry, Bound::Maximum);
}

pub(crate) fn exclusive_minimum(compiler: &mut Compiler<'_>, draft: &mut Draft, entry: &Entry<'_, '_>) {
    compile(compiler, draft, entry, Bound::ExclusiveMinimum);
}

pub(crate) fn exclusive_maximum(compiler: &mut Compiler<'_>, draft: &mut Draft, entry: &Entry<'_, '_>) {
    compile(compiler, draft, entry, Bound::ExclusiveMaximum);
}

fn compile(compiler: &mut Compiler<'_>, draft: &mut Draft, entry: &Entry<'_, '_>, bound: Bound) {
    if entry.value.kind() == Kind::Number {
        draft.push(entry.keyword, Op::Number { bound, limit: compiler.spot(entry.value) });
    } else if let (Kind::Bool, Bound::ExclusiveMinimum | Bound::ExclusiveMaximum) =
        (entry.value.kind(), bound)
    {
        draft_04(compiler, entry);
    } else {
        compiler.malformed(entry, "a number");
    }
}

/// In draft-04, and in OpenAPI 3.0 after it, the keyword says of the other bound whether it is exclusive.
fn draft_04(compiler: &mut Compiler<'_>, entry: &Entry<'_, '_>) {
    let inclusive = if entry.keyword == "exclusiveMinimum" { "minimum" } else { "maximum" };
    let message = format!("expected a number for `{}`, found boolean, as draft-04 had it", entry.keyword);
    let help =
        format!("write the number itself instead of that of `{inclusive}`: `\"{}\": 0`", entry.keyword);
    let finding = Finding::new(Code::SchemaMalformedKeyword, message)
        .with_help(help)
        .at_schema(entry.keyword, entry.location());
    compiler.fault(finding.at_offset(entry.value.span().start));
}

#[inline]
pub(crate) fn holds<'i, const COLLECT: bool>(
    run: &mut Run<'_, 'i>,
    at: Site,
    value: Node<'i>,
    bound: Bound,
    limit: Spot,
) -> Result<bool, Stop> {
    let Some(number) = value.as_number() else { return Ok(true) };
    let Some(limit) = run.parts.constant(limit) else { return Ok(false) };
    let Some(limit_number) = limit.as_number() else { return Ok(true) };
    run.charge(value.raw().len() / 8)?;
    let order = number.cmp(&limit_number);
    let good = match bound {
        Bound::Minimum => order.is_ge(),
        Bound::Maximum => order.is_le(),
        Bound::ExclusiveMinimum => order.is_gt(),
        Bound::ExclusiveMaximum => order.is_lt(),
    };
    if good {
        return Ok(true);
    }
    run.refuse::<COLLECT>(at, value, || describe(bound, limit.raw_str()))
}

fn describe(bound: Bound, limit: &str) -> Finding {
    let (code, expected, found, name) = match bound {
        Bound::Minimum => (Code::NumberTooSmall, "at least", "a smaller one", "minimum"),
        Bound::Maximum => (Code::NumberTooLarge, "at most", "a larger one", "maximum"),
        Bound::ExclusiveMinimum => (Code::NumberTooSmall, "above", "one that is not", "exclusiveMinimum"),
        Bound::ExclusiveMaximum => (Code::NumberTooLarge, "below", "one that is not", "exclusiveMaximum"),
    };
    // PERF: the engine's cases with one violation: texts alone are joined in a third of the time that formatting takes.
    Finding::new(code, ["expected a number ", expected, " ", limit, ", found ", found].concat())
        .with(name, Detail::Json(limit.to_owned()))
}

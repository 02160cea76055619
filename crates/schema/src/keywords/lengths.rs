//! Bounds on counts: `minLength`, `maxLength`, `minItems`, `maxItems`, `minProperties`, `maxProperties` (2020-12
//! validation, sections 6.3 to 6.5).

use crate::check::{Run, Site, Stop};
use crate::compile::{Compiler, Draft, Entry};
use crate::json::{Kind, Node};
use crate::program::{Count, Op};
use crate::{Code, Detail, Finding};

pub(crate) fn min_length(compiler: &mut Compiler<'_>, draft: &mut Draft, entry: &Entry<'_, '_>) {
    compile(compiler, draft, entry, |count| Op::Length { count: Count::AtLeast(count) });
}

pub(crate) fn max_length(compiler: &mut Compiler<'_>, draft: &mut Draft, entry: &Entry<'_, '_>) {
    compile(compiler, draft, entry, |count| Op::Length { count: Count::AtMost(count) });
}

pub(crate) fn min_items(compiler: &mut Compiler<'_>, draft: &mut Draft, entry: &Entry<'_, '_>) {
    compile(compiler, draft, entry, |count| Op::ItemCount { count: Count::AtLeast(count) });
}

pub(crate) fn max_items(compiler: &mut Compiler<'_>, draft: &mut Draft, entry: &Entry<'_, '_>) {
    compile(compiler, draft, entry, |count| Op::ItemCount { count: Count::AtMost(count) });
}

pub(crate) fn min_properties(compiler: &mut Compiler<'_>, draft: &mut Draft, entry: &Entry<'_, '_>) {
    compile(compiler, draft, entry, |count| Op::PropertyCount { count: Count::AtLeast(count) });
}

pub(crate) fn max_properties(compiler: &mut Compiler<'_>, draft: &mut Draft, entry: &Entry<'_, '_>) {
    compile(compiler, draft, entry, |count| Op::PropertyCount { count: Count::AtMost(count) });
}

fn compile(compiler: &mut Compiler<'_>, draft: &mut Draft, entry: &Entry<'_, '_>, op: fn(u64) -> Op) {
    if let Some(count) = count(compiler, entry) {
        draft.push(entry.keyword, op(count));
    }
}

/// A whole number from 0 up, by value: `2.0` is one.
pub(crate) fn count(compiler: &mut Compiler<'_>, entry: &Entry<'_, '_>) -> Option<u64> {
    match entry.value.as_number() {
        Some(number) if number.is_integer() && !number.is_negative() => {
            // No value has more parts than a machine word can count.
            Some(number.as_u64().unwrap_or(u64::MAX))
        }
        _ => {
            compiler.malformed(entry, "a whole number from 0 up");
            None
        }
    }
}

/// Counts code points, not bytes, UTF-16 units or grapheme clusters.
pub(crate) fn text_holds<'i, const COLLECT: bool>(
    run: &mut Run<'_, 'i>,
    at: Site,
    value: Node<'i>,
    count: Count,
) -> Result<bool, Stop> {
    if value.kind() != Kind::String {
        return Ok(true);
    }
    run.charge(value.raw().len())?;
    if decided_by_bytes(count, value.raw().len() as u64 - 2) {
        return Ok(true);
    }
    let length = value.char_count() as u64;
    if count.holds(length) {
        return Ok(true);
    }
    let names =
        Names { few: Code::StringTooShort, many: Code::StringTooLong, parts: ["character", "characters"] };
    run.refuse::<COLLECT>(at, value, || describe(at, &names, count, length))
}

/// Whether the number of bytes between the quotes already says that the bound is kept: a character takes one byte at
/// least, and twelve at most, written as two escapes.
const fn decided_by_bytes(count: Count, bytes: u64) -> bool {
    match count {
        Count::AtLeast(least) => bytes / 12 >= least,
        Count::AtMost(most) => bytes <= most,
    }
}

pub(crate) fn items_hold<'i, const COLLECT: bool>(
    run: &mut Run<'_, 'i>,
    at: Site,
    value: Node<'i>,
    count: Count,
) -> Result<bool, Stop> {
    if value.kind() != Kind::Array || count.holds(value.len() as u64) {
        return Ok(true);
    }
    let names = Names { few: Code::ArrayTooShort, many: Code::ArrayTooLong, parts: ["item", "items"] };
    run.refuse::<COLLECT>(at, value, || describe(at, &names, count, value.len() as u64))
}

pub(crate) fn properties_hold<'i, const COLLECT: bool>(
    run: &mut Run<'_, 'i>,
    at: Site,
    value: Node<'i>,
    count: Count,
) -> Result<bool, Stop> {
    if value.kind() != Kind::Object || count.holds(value.len() as u64) {
        return Ok(true);
    }
    let names =
        Names { few: Code::PropertiesTooFew, many: Code::PropertiesTooMany, parts: ["member", "members"] };
    run.refuse::<COLLECT>(at, value, || describe(at, &names, count, value.len() as u64))
}

struct Names {
    few: Code,
    many: Code,
    parts: [&'static str; 2],
}

fn describe(at: Site, names: &Names, count: Count, found: u64) -> Finding {
    let (code, side) = match count {
        Count::AtLeast(_) => (names.few, "at least"),
        Count::AtMost(_) => (names.many, "at most"),
    };
    let [one, several] = names.parts;
    let parts = if count.number() == 1 { one } else { several };
    Finding::new(code, format!("expected {side} {} {parts}, found {found}", count.number()))
        .with(at.keyword, Detail::Count(count.number()))
}

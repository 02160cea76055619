//! `type` (2020-12 validation, section 6.1.1).

use crate::check::{Run, Site, Stop};
use crate::compile::{Compiler, Draft, Entry};
use crate::json::{Kind, Node};
use crate::program::Op;
use crate::resolve::Spot;
use crate::types::{TypeSet, found};
use crate::{Code, Detail, Finding};

/// Whether a value has the form of `type`: a name, or a list of distinct ones, known or not.
pub(crate) fn is_well_formed(written: Node<'_>) -> bool {
    match written.kind() {
        Kind::String => true,
        Kind::Array => {
            let names: Vec<_> = written.items().filter_map(Node::as_str).collect();
            let distinct: std::collections::HashSet<_> = names.iter().collect();
            written.len() > 0 && names.len() == written.len() && distinct.len() == names.len()
        }
        _ => false,
    }
}

pub(crate) fn compile(compiler: &mut Compiler<'_>, draft: &mut Draft, entry: &Entry<'_, '_>) {
    if !is_well_formed(entry.value) {
        compiler.malformed(entry, "a type name or a list of distinct ones");
        return;
    }
    let mut types = TypeSet::EMPTY;
    let one = (entry.value.kind() != Kind::Array).then_some(entry.value);
    for written in one.into_iter().chain(entry.value.items()) {
        match TypeSet::named_by(written) {
            Some(named) => types = types.union(named),
            None => {
                unknown(compiler, entry, &written.as_str().unwrap_or_default(), written.span().start);
            }
        }
    }
    draft.push("type", Op::Type { types, written: compiler.spot(entry.value) });
}

fn unknown(compiler: &mut Compiler<'_>, entry: &Entry<'_, '_>, name: &str, offset: usize) {
    let message = format!(
        "expected one of object, array, string, number, integer, boolean and null as a type, found `{name}`"
    );
    let mut finding =
        Finding::new(Code::SchemaUnknownType, message).with("type", Detail::Text(name.to_owned()));
    if let Some(help) = advice(name) {
        finding = finding.with_help(help);
    }
    compiler.fault(finding.at_schema("type", entry.location()).at_offset(offset));
}

/// What people mean by the type names of other languages.
fn advice(name: &str) -> Option<&'static str> {
    Some(match name.to_ascii_lowercase().as_str() {
        "int" | "int32" | "int64" | "long" => "write `integer`",
        "float" | "double" | "decimal" => "write `number`",
        "bool" => "write `boolean`",
        "str" | "text" => "write `string`",
        "date" | "datetime" | "date-time" => "write `\"type\": \"string\"` with a `format`",
        "dict" | "map" | "record" => "write `object`",
        "list" | "tuple" | "set" => "write `array`",
        "none" | "nil" => "write `null`",
        "any" => "leave `type` out: every value is then accepted",
        lower if TypeSet::named(lower).is_some() => "write the name in lower case",
        _ => return None,
    })
}

#[inline]
pub(crate) fn holds<'i, const COLLECT: bool>(
    run: &mut Run<'_, 'i>,
    at: Site,
    value: Node<'i>,
    types: TypeSet,
    written: Spot,
) -> Result<bool, Stop> {
    if types.has(value) {
        return Ok(true);
    }
    let Some(written) = run.parts.constant(written) else { return Ok(false) };
    run.refuse::<COLLECT>(at, value, || {
        let names = types.names();
        Finding::new(Code::TypeMismatch, ["expected ", &names, ", found ", found(value)].concat())
            .with("type", Detail::Json(written.raw_str().to_owned()))
    })
}

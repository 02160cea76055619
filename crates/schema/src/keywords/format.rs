//! `format` (2020-12 and draft-07 validation, section 7): an annotation, unless its assertion is asked for.

use crate::check::{Run, Site, Stop};
use crate::compile::{Compiler, Draft, Entry};
use crate::dialect::Profile;
use crate::format::Format;
use crate::json::Node;
use crate::program::Op;
use crate::resolve::Vocabularies;
use crate::{Code, Detail, Finding};

pub(crate) fn compile(compiler: &mut Compiler<'_>, draft: &mut Draft, entry: &Entry<'_, '_>) {
    let Some(name) = entry.value.as_str() else {
        compiler.malformed(entry, "a text");
        return;
    };
    if compiler.options.profile != Profile::Standard {
        return;
    }
    let is_required = compiler.scope.language.vocabularies.has(Vocabularies::FORMAT_ASSERTION);
    match Format::from_name(&name) {
        Some(format) if is_required || compiler.options.format_assertion => {
            draft.push("format", Op::Format { format });
        }
        Some(_) => {}
        None if is_required => refuse_unknown(compiler, entry, &name),
        None => doubt_unknown(compiler, entry, &name),
    }
}

/// SPEC: 2020-12 validation, section 7.2.3: where the metaschema has formats asserted, an unknown one is refused.
fn refuse_unknown(compiler: &mut Compiler<'_>, entry: &Entry<'_, '_>, name: &str) {
    let message =
        format!("expected a format of JSON Schema, found `{name}`, which the metaschema has asserted");
    let finding = Finding::new(Code::SchemaUnsupportedForm, message)
        .with_help("say what the text must be with `pattern`")
        .at_schema("format", entry.location());
    compiler.fault(finding.at_offset(entry.value.span().start));
}

fn doubt_unknown(compiler: &mut Compiler<'_>, entry: &Entry<'_, '_>, name: &str) {
    let message =
        format!("expected a format of JSON Schema, found `{name}`, which says nothing to a validator");
    let finding = Finding::new(Code::SchemaFormatUnknown, message)
        .with_help(
            "say what the value must be: a number by `minimum` and `maximum`, a text by `pattern`; a mere note belongs \
             into `description`",
        )
        .at_schema("format", entry.location());
    compiler.warn(finding.at_offset(entry.value.span().start));
}

/// Formats are about texts; other values have none and pass.
pub(crate) fn holds<'i, const COLLECT: bool>(
    run: &mut Run<'_, 'i>,
    at: Site,
    value: Node<'i>,
    format: Format,
) -> Result<bool, Stop> {
    let Some(text) = value.as_str() else { return Ok(true) };
    run.charge(value.raw().len())?;
    if format.holds(&text) {
        return Ok(true);
    }
    run.refuse::<COLLECT>(at, value, || {
        Finding::new(Code::FormatMismatch, format!("expected {}, found another text", format.good()))
            .with("format", Detail::Text(format.name().to_owned()))
    })
}

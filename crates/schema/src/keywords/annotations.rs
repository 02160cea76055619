//! Annotations: they assert nothing, but their form is checked (2020-12 validation, section 9; core, section 8).

use crate::compile::{Compiler, Draft, Entry};
use crate::dialect::Profile;
use crate::json::Kind;

/// Any value.
pub(crate) const fn any(_: &mut Compiler<'_>, _: &mut Draft, _: &Entry<'_, '_>) {}

/// A text.
pub(crate) fn text(compiler: &mut Compiler<'_>, _: &mut Draft, entry: &Entry<'_, '_>) {
    form(compiler, entry, Kind::String, "a text");
}

/// A boolean.
pub(crate) fn boolean(compiler: &mut Compiler<'_>, _: &mut Draft, entry: &Entry<'_, '_>) {
    form(compiler, entry, Kind::Bool, "a boolean");
}

/// A list.
pub(crate) fn list(compiler: &mut Compiler<'_>, _: &mut Draft, entry: &Entry<'_, '_>) {
    form(compiler, entry, Kind::Array, "a list");
}

/// The dialect: chosen at the root of a resource; elsewhere only the same one may be named again.
pub(crate) fn dialect(compiler: &mut Compiler<'_>, draft: &mut Draft, entry: &Entry<'_, '_>) {
    text(compiler, draft, entry);
    if compiler.options.profile == Profile::Portable {
        return;
    }
    let Some(uri) = entry.value.as_str() else { return };
    match compiler.language(&uri) {
        Ok(language) if language == compiler.scope.language => {}
        Ok(_) => compiler.other_dialect(entry.schema, entry.schema_location, &uri),
        Err(unknown) => compiler.other_dialect(entry.schema, entry.schema_location, &unknown),
    }
}

/// `$vocabulary`: URIs with whether each is required. It speaks to those who use the schema as a metaschema.
pub(crate) fn vocabulary(compiler: &mut Compiler<'_>, _: &mut Draft, entry: &Entry<'_, '_>) {
    let is_good = entry.value.members().all(|member| member.value().kind() == Kind::Bool);
    if entry.value.kind() != Kind::Object || !is_good {
        compiler.malformed(entry, "an object of booleans");
    }
}

fn form(compiler: &mut Compiler<'_>, entry: &Entry<'_, '_>, kind: Kind, expected: &str) {
    if entry.value.kind() != kind {
        compiler.malformed(entry, expected);
    }
}

//! `propertyNames` (2020-12 core, section 10.3.2.4): each name, taken as a string, keeps the schema.

use crate::check::{Run, Site, Stop};
use crate::compile::{Compiler, Draft, Entry};
use crate::json::{Kind, Node, Tape};
use crate::program::{BlockId, Op};
use crate::{Detail, Finding};

pub(crate) fn compile<'a>(compiler: &mut Compiler<'a>, draft: &mut Draft, entry: &Entry<'a, '_>) {
    let block = compiler.subschema(entry);
    draft.push("propertyNames", Op::PropertyNames { block });
}

pub(crate) fn hold<'i, const COLLECT: bool>(
    run: &mut Run<'_, 'i>,
    _: Site,
    value: Node<'i>,
    block: BlockId,
) -> Result<bool, Stop> {
    if value.kind() != Kind::Object {
        return Ok(true);
    }
    let limits = run.parts.limits.arguments_text();
    let mut tape = Tape::new();
    let mut good = true;
    for member in value.members() {
        let span = member.name_span();
        // A name with its quotes is the text of a string, so it is read as one.
        let text = value.text_bytes().get(span.clone()).unwrap_or_default();
        let Ok(name) = tape.read(text, &limits) else { continue };
        for finding in run.aside::<COLLECT>(block, name, &mut good)? {
            run.refuse_elsewhere(rehomed(finding, &member.name(), span.start))?;
        }
        if !COLLECT && !good {
            break;
        }
    }
    Ok(good)
}

/// A violation by a name, told as one of the object that has the member.
fn rehomed(mut finding: Finding, name: &str, offset: usize) -> Finding {
    finding.message = format!("in the name `{name}`: {}", finding.message);
    finding.with("property", Detail::Text(name.to_owned())).at_offset(offset)
}

//! `check --fix`: mends what has one plain meaning, as splices over the bytes of the text, so that everything else keeps
//! its form. What is mended is chosen by the findings, but for the spelling of `definitions`, which is no fault.
//!
//! | fault | becomes |
//! |---|---|
//! | a misspelt annotation (`desciption`) | its name, spelled right |
//! | `nullable: true` | `null` among the types, or a branch of the `anyOf`, and in the `enum` |
//! | `exclusiveMinimum: true` of draft-04 | the bound of `minimum`, exclusive |
//! | `definitions` in 2020-12, `$defs` in draft-07 | the dialect's name, references included |
//! | an open root, on request | `additionalProperties: false` |
//!
//! A misspelt constraint is not mended: what it would then refuse is for its author to say.

mod annotations;
mod bounds;
mod definitions;
mod diff;
mod nullable;
mod object;
mod splice;

use callgate_schema::Code;
use callgate_schema::json::{Node, Tape};

pub(super) use self::diff::diff;
use self::object::Object;
pub(super) use self::splice::Splice;
use super::input::Input;
use super::report::{Report, Reporter};
use super::source::{Slice, Source};

/// Rounds of mending: what is mended can bring other faults to light. Each one mends all that it finds.
const ROUNDS_MAX: usize = 8;

/// What was mended.
#[derive(Debug)]
pub(super) struct Fixed {
    /// The report about the mended text.
    pub(super) report: Report,
    /// What was done, in order.
    pub(super) mended: Vec<String>,
}

/// Mends a text until there is nothing more to mend.
pub(super) fn fix(reporter: Reporter, report: &Report) -> Fixed {
    // A root that is taken as closed is found all the same, to be written so.
    let finder = Reporter { close_open_objects: false, ..reporter };
    let input = |text: &[u8]| Input { name: report.file.clone(), text: text.to_vec() };
    let mut text = report.text.clone();
    let mut mended = Vec::new();
    for _ in 0..ROUNDS_MAX {
        let fixes = fixes(reporter.close_open_objects, &finder.report(input(&text)));
        if fixes.is_empty() {
            break;
        }
        let mut splices = Vec::new();
        for fix in fixes {
            if splice::add(&mut splices, fix.splices) {
                mended.push(fix.what);
            }
        }
        text = splice::apply(&text, splices);
    }
    Fixed { report: reporter.report(input(&text)), mended }
}

/// One thing to mend: all of its splices or none.
struct Fix {
    what: String,
    splices: Vec<Splice>,
}

fn fixes(closes: bool, report: &Report) -> Vec<Fix> {
    let mut fixes = Vec::new();
    for part in schemas(&report.text) {
        let mut tape = Tape::new();
        let Some(root) = part.read(&report.text, &mut tape) else { continue };
        let within = |line: &&super::report::Line| {
            let below = line.pointer.strip_prefix(&part.pointer);
            below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
        };
        for line in report.lines.iter().filter(within) {
            let below = line.pointer.strip_prefix(&part.pointer).unwrap_or_default();
            let fix = fix_one(closes, root, below, line.finding.code);
            fixes.extend(fix.map(|fix| at(fix, &part, &line.subject, below)));
        }
        let spelled = definitions::fix(root);
        fixes.extend(spelled.map(|fix| at(fix, &part, "", "")));
    }
    fixes
}

/// The fix for a finding at this place of a schema, if there is a plain one.
fn fix_one(closes: bool, root: Node<'_>, pointer: &str, code: Code) -> Option<Fix> {
    if code == Code::SchemaOpenRoot {
        return closes.then(|| object::close(root)).flatten();
    }
    let (object, keyword) = Object::of(root, pointer)?;
    match (code, keyword.as_str()) {
        (Code::SchemaUnknownKeyword, "nullable") => nullable::fix(&object),
        (Code::SchemaUnknownKeyword, _) => annotations::fix(&object, &keyword),
        (Code::SchemaMalformedKeyword, "exclusiveMinimum") => bounds::fix(&object, &keyword, "minimum"),
        (Code::SchemaMalformedKeyword, "exclusiveMaximum") => bounds::fix(&object, &keyword, "maximum"),
        _ => None,
    }
}

/// The fix with its splices where the part is in the text, and its words with the place.
fn at(fix: Fix, part: &Slice, tool: &str, below: &str) -> Fix {
    let by = part.span.start;
    let splices = fix.splices.into_iter().map(|splice| splice.shifted(by)).collect();
    let tool = if tool.is_empty() { String::new() } else { format!("{tool}: ") };
    Fix { what: format!("{tool}{} at {}{below}", fix.what, part.pointer), splices }
}

/// The schemas of a text: the text itself, or those of its tools.
fn schemas(text: &[u8]) -> Vec<Slice> {
    match Source::of(text) {
        Source::Schema => vec![Slice { pointer: String::new(), span: 0..text.len(), key: None }],
        Source::Catalog { tools, .. } => {
            let of = |tool: &Slice| ["inputSchema", "outputSchema"].map(|name| tool.member(text, name));
            tools.iter().flat_map(of).flatten().collect()
        }
    }
}

#[cfg(test)]
mod tests;

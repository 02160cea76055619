//! From a relaxed schema to one for a receiver that wants objects closed and properties all there.

use super::super::judge::{Remark, judge, judge_one};
use super::super::schemas::{for_each_child, types};
use super::super::shape::Shape;
use super::super::table::{LooksFor, Receiver};
use super::super::tree::{Tree, below};
use super::{Effect, Log, ROUNDS_MAX};

/// The types that stand for anything where anything cannot be said.
const SCALARS: [&str; 4] = ["string", "number", "boolean", "null"];

/// Whether a receiver demands more than a schema may say.
pub(super) fn is_needed(receiver: &Receiver) -> bool {
    receiver.minds(&Shape::ObjectNotClosed)
}

/// Whether a remark is mended by demanding more, since this receiver cannot be told less.
pub(super) fn mends(receiver: &Receiver, remark: &Remark) -> bool {
    let by_more =
        [Shape::ObjectNotClosed, Shape::PropertyNotRequired, Shape::WithoutType, Shape::ArrayWithoutItems];
    is_needed(receiver) && matches!(&remark.rule.looks_for, LooksFor::Shape(shape) if by_more.contains(shape))
}

/// The tightened schema; nothing if that cannot be found.
pub(super) fn tighten(mut schema: Tree, receiver: &'static Receiver, log: &mut Log) -> Option<Tree> {
    for _ in 0..ROUNDS_MAX {
        if judge(&schema, receiver).is_empty() {
            return Some(schema);
        }
        round(&mut schema, "", receiver, log);
    }
    None
}

fn round(schema: &mut Tree, pointer: &str, receiver: &'static Receiver, log: &mut Log) {
    never_allowed(schema);
    for remark in judge_one(schema, pointer, receiver) {
        let LooksFor::Shape(shape) = &remark.rule.looks_for else { continue };
        match shape {
            Shape::WithoutType => typed(schema, pointer, log),
            Shape::ArrayWithoutItems => itemized(schema, &remark.pointer, log),
            Shape::ObjectNotClosed => {
                schema.set("additionalProperties", Tree::Raw("false".into()));
                log.note(Effect::Demanded, pointer, "additionalProperties", "no members beyond `properties`");
            }
            Shape::PropertyNotRequired => present(schema, &remark.keyword, &remark.pointer, log),
            _ => {}
        }
    }
    for_each_child(schema, |way, child| round(child, &format!("{pointer}{way}"), receiver, log));
}

/// A property that may never be there need not be named where nothing else may be there either; a pattern of names could
/// let it in again.
fn never_allowed(schema: &mut Tree) {
    if !schema.has("patternProperties")
        && let Some(Tree::Object(properties)) = schema.get_mut("properties")
    {
        properties.retain(|(_, value)| !value.is_raw("false"));
    }
    if let Some(Tree::Array(branches)) = schema.get_mut("anyOf") {
        branches.retain(|branch| !branch.is_raw("false"));
    }
}

fn scalars() -> Tree {
    let branches = SCALARS.map(|name| Tree::object([("type", Tree::text(name))]));
    Tree::object([("anyOf", Tree::Array(branches.to_vec()))])
}

/// Says what the items of an array are: what they must be where nothing else looks at them, if that is said, since with
/// `items` nothing is left for that to look at; else anything simple.
fn itemized(schema: &mut Tree, pointer: &str, log: &mut Log) {
    let (items, what) = match schema.get("unevaluatedItems") {
        Some(others) => (others.clone(), "every item is what `unevaluatedItems` says"),
        None => (scalars(), "items are texts, numbers, booleans or null"),
    };
    schema.set("items", items);
    log.note(Effect::Demanded, pointer, "items", what);
}

/// What nothing satisfies, in words that a receiver knows.
fn impossible() -> Tree {
    let [one, zero] = ["1", "0"].map(|number| Tree::Raw(number.to_owned()));
    Tree::object([("type", Tree::text("number")), ("minimum", one), ("maximum", zero)])
}

/// Names the type that the keywords are about, or the simple ones if there is nothing to go by.
fn typed(schema: &mut Tree, pointer: &str, log: &mut Log) {
    if schema.is_raw("false") {
        *schema = impossible();
        return;
    }
    let about = |keywords: &[&str]| keywords.iter().any(|keyword| schema.has(keyword));
    let choices: Vec<&str> = match (schema.get("enum"), schema.get("const")) {
        (Some(choices), _) => choices.items().iter().map(type_of).collect(),
        (None, Some(value)) => vec![type_of(value)],
        (None, None) => Vec::new(),
    };
    let name = if !choices.is_empty() {
        let mut names: Vec<&str> = Vec::new();
        for name in choices {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let list = names.iter().map(|name| Tree::text(*name)).collect();
        if let [only] = names.as_slice() { Tree::text(*only) } else { Tree::Array(list) }
    } else if about(&[
        "properties",
        "required",
        "additionalProperties",
        "patternProperties",
        "minProperties",
        "maxProperties",
    ]) {
        Tree::text("object")
    } else if about(&["items", "prefixItems", "minItems", "maxItems", "contains"]) {
        Tree::text("array")
    } else if about(&["pattern", "format"]) {
        Tree::text("string")
    } else if about(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) {
        Tree::text("number")
    } else {
        if !schema.is_object() {
            *schema = Tree::Object(Vec::new());
        }
        schema.set("type", Tree::Array(SCALARS.map(Tree::text).to_vec()));
        return log.note(Effect::Demanded, pointer, "type", "a text, a number, a boolean or null");
    };
    let what = format!("the type is {}", name.written());
    schema.set("type", name);
    log.note(Effect::Demanded, pointer, "type", what);
}

fn type_of(value: &Tree) -> &'static str {
    match value {
        Tree::Text(_) => "string",
        Tree::Array(_) => "array",
        Tree::Object(_) => "object",
        Tree::Raw(raw) if raw == "null" => "null",
        Tree::Raw(raw) if raw == "true" || raw == "false" => "boolean",
        Tree::Raw(_) => "number",
    }
}

/// A property that must be there, and for whose absence null stands.
fn present(schema: &mut Tree, name: &str, pointer: &str, log: &mut Log) {
    if let Some(property) = schema.get_mut("properties").and_then(|properties| properties.get_mut(name)) {
        let takes_null = types(property).contains(&"null")
            || property
                .get("anyOf")
                .is_some_and(|branches| branches.items().iter().any(|branch| types(branch) == ["null"]));
        if !takes_null {
            let own = std::mem::replace(property, Tree::Object(Vec::new()));
            let null = Tree::object([("type", Tree::text("null"))]);
            property.set("anyOf", Tree::Array(vec![own, null]));
        }
    }
    match schema.get_mut("required") {
        Some(Tree::Array(required)) => required.push(Tree::text(name)),
        _ => schema.set("required", Tree::Array(vec![Tree::text(name)])),
    }
    let what = "always there; null stands for its absence: leave it out of the call then";
    log.note(Effect::Demanded, pointer, &below("", name).replacen('/', "", 1), what);
}

//! Where schemas stand within a schema.

use super::tree::{Tree, below};

/// How the values of one keyword are schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    /// The value is a schema.
    One,
    /// The value is a list of schemas.
    List,
    /// The value is a schema or, in draft-07, a list of them.
    OneOrList,
    /// The members of the value are schemas.
    Named,
    /// The members of the value are schemas or lists of names.
    NamedOrNames,
}

/// The keywords that hold schemas that apply to a value.
const HOLDERS: &[(&str, Holds)] = &[
    ("properties", Holds::Named),
    ("patternProperties", Holds::Named),
    ("additionalProperties", Holds::One),
    ("propertyNames", Holds::One),
    ("dependentSchemas", Holds::Named),
    ("dependencies", Holds::NamedOrNames),
    ("prefixItems", Holds::List),
    ("items", Holds::OneOrList),
    ("additionalItems", Holds::One),
    ("contains", Holds::One),
    ("not", Holds::One),
    ("if", Holds::One),
    ("then", Holds::One),
    ("else", Holds::One),
    ("allOf", Holds::List),
    ("oneOf", Holds::List),
    ("anyOf", Holds::List),
    ("unevaluatedItems", Holds::One),
    ("unevaluatedProperties", Holds::One),
    ("$defs", Holds::Named),
    ("definitions", Holds::Named),
];

/// Whether the keyword opens or closes the value that it is about, as receivers see it, and is no schema.
fn is_switch(keyword: &str, value: &Tree) -> bool {
    let is_about_the_rest = keyword.starts_with("additional") || keyword.starts_with("unevaluated");
    is_about_the_rest && !value.is_object()
}

/// The schemas right below this one, each with the keyword that holds it and the way to it from here.
pub(super) fn children(schema: &Tree) -> Vec<(&'static str, String, &Tree)> {
    let mut found = Vec::new();
    for (keyword, holds) in HOLDERS {
        let Some(value) = schema.get(keyword) else { continue };
        let way = format!("/{keyword}");
        match holds {
            Holds::OneOrList | Holds::List if !value.items().is_empty() => {
                for (at, item) in value.items().iter().enumerate() {
                    found.push((*keyword, format!("{way}/{at}"), item));
                }
            }
            Holds::One if is_switch(keyword, value) => {}
            Holds::One | Holds::OneOrList => found.push((*keyword, way, value)),
            Holds::List => {}
            Holds::Named | Holds::NamedOrNames => {
                for (name, member) in value.members() {
                    if !matches!(member, Tree::Array(_)) {
                        found.push((*keyword, below(&way, name), member));
                    }
                }
            }
        }
    }
    found
}

/// Calls `change` with each schema right below this one, and the way to it from here.
pub(super) fn for_each_child(schema: &mut Tree, mut change: impl FnMut(&str, &mut Tree)) {
    for (keyword, holds) in HOLDERS {
        let Some(value) = schema.get_mut(keyword) else { continue };
        let way = format!("/{keyword}");
        match (holds, value) {
            (Holds::OneOrList | Holds::List, Tree::Array(items)) => {
                for (at, item) in items.iter_mut().enumerate() {
                    change(&format!("{way}/{at}"), item);
                }
            }
            (Holds::One, value) if is_switch(keyword, value) => {}
            (Holds::One | Holds::OneOrList, value) => change(&way, value),
            (Holds::Named | Holds::NamedOrNames, Tree::Object(members)) => {
                for (name, member) in members {
                    if !matches!(member, Tree::Array(_)) {
                        change(&below(&way, name), member);
                    }
                }
            }
            (Holds::List | Holds::Named | Holds::NamedOrNames, _) => {}
        }
    }
}

/// Calls `see` with each schema in this one, itself first, and the way to it.
pub(super) fn walk<'t>(schema: &'t Tree, pointer: &str, see: &mut impl FnMut(&'t Tree, &str)) {
    see(schema, pointer);
    for (_, way, child) in children(schema) {
        walk(child, &format!("{pointer}{way}"), see);
    }
}

/// The types that a schema names, none if it names none.
pub(super) fn types(schema: &Tree) -> Vec<&str> {
    match schema.get("type") {
        Some(Tree::Text(name)) => vec![name],
        Some(list) => list.items().iter().filter_map(Tree::as_text).collect(),
        None => Vec::new(),
    }
}

/// The keywords that say something about a value without constraining it.
pub(super) fn annotates(keyword: &str) -> bool {
    const ANNOTATIONS: &[&str] = &[
        "$schema",
        "$id",
        "$anchor",
        "$dynamicAnchor",
        "$vocabulary",
        "$comment",
        "$defs",
        "definitions",
        "title",
        "description",
        "default",
        "example",
        "examples",
        "deprecated",
        "readOnly",
        "writeOnly",
        "format",
        "contentEncoding",
        "contentMediaType",
        "contentSchema",
    ];
    ANNOTATIONS.contains(&keyword) || keyword.starts_with("x-")
}

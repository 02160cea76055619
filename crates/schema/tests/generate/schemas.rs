//! Schemas: all keywords of both dialects, references that lead somewhere, and few that the engine would refuse.

use super::choices::Choices;
use super::json::Json;
use super::values::{NAMES, any, name, number, object};

const PATTERNS: &[&str] = &[
    "a",
    "^a",
    "b$",
    "^[a-c]+$",
    "é",
    r"\d",
    "^.$",
    "^$",
    "a|b",
    "(?=a)",
    "^(?:a|é)*$",
    "[^a]",
    ".{2,}",
    r"^\p{L}$",
    r"(.)\1",
];
const TYPES: &[&str] = &["object", "array", "string", "number", "integer", "boolean", "null"];
const COUNTS: &[&str] = &["1", "0", "2", "3", "1.0", "2e0", "9007199254740993"];
const ROOT: &str = "http://callgate.test/root";
const DEFINITIONS: &[&str] = &["A", "B", "C"];

/// What a schema may refer to where it stands.
#[derive(Debug, Clone, Copy)]
struct Scope {
    draft_07: bool,
    /// How many definitions the root has, and how many of them this place may refer to for the same value, so that no
    /// reference leads to itself.
    definitions: usize,
    earlier: usize,
    /// Whether the root has a URI; the definitions that have one too are resources of their own.
    named: bool,
    /// Whether the resource has the dynamic anchor.
    dynamic: bool,
    depth: usize,
}

impl Scope {
    /// For a part of the value: everything may be referred to again.
    const fn part(self) -> Scope {
        Scope { earlier: self.definitions, depth: self.depth.saturating_sub(1), ..self }
    }

    /// For the same value.
    const fn same(self) -> Scope {
        Scope { depth: self.depth.saturating_sub(1), ..self }
    }
}

/// A whole schema.
pub(crate) fn root(choices: &mut Choices<'_>, draft_07: bool) -> Json {
    let definitions = choices.pick(DEFINITIONS.len() + 1);
    let named = choices.one_in(2);
    let dynamic = named && !draft_07 && choices.one_in(2);
    let scope = Scope { draft_07, definitions, earlier: definitions, named, dynamic, depth: 3 };
    let mut root = keywords(choices, scope, 5);
    if draft_07 {
        root.set("$schema", Json::text("http://json-schema.org/draft-07/schema#"));
    }
    if named {
        root.set("$id", Json::text(ROOT));
    }
    if dynamic {
        root.set("$dynamicAnchor", Json::text("node"));
    }
    let all = DEFINITIONS.iter().take(definitions).enumerate();
    let all: Vec<(String, Json)> =
        all.map(|(at, name)| ((*name).to_owned(), definition(choices, scope, at, name))).collect();
    if !all.is_empty() {
        root.set(if draft_07 { "definitions" } else { "$defs" }, object(all));
    }
    root
}

fn definition(choices: &mut Choices<'_>, scope: Scope, at: usize, name: &str) -> Json {
    let dynamic = scope.dynamic && choices.one_in(2);
    let own = Scope { earlier: at, dynamic, depth: 2, ..scope };
    let mut schema = keywords(choices, own, 4);
    if scope.named {
        schema.set("$id", Json::text(name));
    }
    if !scope.draft_07 {
        schema.set("$anchor", Json::text(name));
        if dynamic {
            schema.set("$dynamicAnchor", Json::text("node"));
        }
    }
    if scope.draft_07 && scope.named {
        // Beside `$ref` a name would be ignored.
        if let Json::Object(members) = &mut schema {
            members.retain(|(keyword, _)| keyword != "$ref");
        }
    }
    schema
}

fn schema(choices: &mut Choices<'_>, scope: Scope) -> Json {
    if choices.is_empty() || choices.one_in(8) {
        return Json::Bool(!choices.one_in(3));
    }
    let most = 1 + scope.depth;
    keywords(choices, scope, most)
}

/// A schema of at most so many groups of keywords.
fn keywords(choices: &mut Choices<'_>, scope: Scope, most: usize) -> Json {
    let mut schema = Json::Object(Vec::new());
    for _ in 0..=choices.pick(most) {
        match choices.pick(4) {
            0 => of_one_value(choices, &mut schema),
            1 if scope.depth > 0 => of_objects(choices, scope, &mut schema),
            2 if scope.depth > 0 => of_arrays(choices, scope, &mut schema),
            3 if scope.depth > 0 => in_place(choices, scope, &mut schema),
            _ => reference(choices, scope, &mut schema),
        }
    }
    schema
}

fn of_one_value(choices: &mut Choices<'_>, schema: &mut Json) {
    match choices.pick(11) {
        0 => schema.set("type", Json::text(choices.of(TYPES).unwrap_or("null"))),
        1 => {
            let at = choices.pick(TYPES.len() - 1);
            let names = TYPES.iter().skip(at).take(2).map(|name| Json::text(name)).collect();
            schema.set("type", Json::Array(names));
        }
        2 => {
            let members = (0..=choices.pick(3)).map(|_| any(choices, 1)).collect();
            schema.set("enum", Json::Array(members));
        }
        3 => schema.set("const", any(choices, 2)),
        4 => schema.set("minimum", number(choices)),
        5 => schema.set("maximum", number(choices)),
        6 => schema.set("exclusiveMinimum", number(choices)),
        7 => schema.set("exclusiveMaximum", number(choices)),
        8 => {
            let divisors = &["1", "2", "0.1", "1.5", "1e-2", "3", "0.30000000000000000001", "1e2"];
            schema.set("multipleOf", Json::Number(choices.of(divisors).unwrap_or("1")));
        }
        9 => schema.set("pattern", pattern(choices)),
        _ => counts(choices, schema, "minLength", "maxLength"),
    }
}

fn pattern(choices: &mut Choices<'_>) -> Json {
    Json::text(choices.of(PATTERNS).unwrap_or_default())
}

fn counts(choices: &mut Choices<'_>, schema: &mut Json, least: &str, most: &str) {
    let keyword = if choices.one_in(2) { most } else { least };
    schema.set(keyword, Json::Number(choices.of(COUNTS).unwrap_or("1")));
}

fn named(choices: &mut Choices<'_>, scope: Scope) -> Json {
    object((0..=choices.pick(3)).map(|_| (name(choices), schema(choices, scope))))
}

fn names(choices: &mut Choices<'_>) -> Json {
    let at = choices.pick(NAMES.len());
    let count = choices.pick(3);
    Json::Array(NAMES.iter().cycle().skip(at).take(count).map(|name| Json::text(name)).collect())
}

fn of_objects(choices: &mut Choices<'_>, scope: Scope, to: &mut Json) {
    match choices.pick(10) {
        0 | 1 => {
            let properties = named(choices, scope.part());
            to.set("properties", properties);
        }
        2 => to.set("required", names(choices)),
        3 => {
            let rules = (0..=choices.pick(2)).map(|_| {
                let pattern = choices.of(PATTERNS).unwrap_or_default().to_owned();
                (pattern, schema(choices, scope.part()))
            });
            let rules = object(rules.collect::<Vec<_>>());
            to.set("patternProperties", rules);
        }
        4 => to.set("additionalProperties", schema(choices, scope.part())),
        5 => to.set("propertyNames", schema(choices, scope.part())),
        6 => counts(choices, to, "minProperties", "maxProperties"),
        7 if !scope.draft_07 => {
            to.set("dependentRequired", object([(name(choices), names(choices))]));
            to.set("dependentSchemas", named(choices, scope.same()));
        }
        8 if !scope.draft_07 => to.set("unevaluatedProperties", schema(choices, scope.part())),
        _ => to.set(
            "dependencies",
            object([(name(choices), names(choices)), (name(choices), schema(choices, scope.same()))]),
        ),
    }
}

fn of_arrays(choices: &mut Choices<'_>, scope: Scope, to: &mut Json) {
    let several = |choices: &mut Choices<'_>| {
        Json::Array((0..=choices.pick(3)).map(|_| schema(choices, scope.part())).collect())
    };
    match choices.pick(7) {
        0 => to.set("items", schema(choices, scope.part())),
        1 if scope.draft_07 => to.set("items", several(choices)),
        1 => to.set("prefixItems", several(choices)),
        2 if scope.draft_07 => to.set("additionalItems", schema(choices, scope.part())),
        2 => to.set("unevaluatedItems", schema(choices, scope.part())),
        3 => {
            to.set("contains", schema(choices, scope.part()));
            if !scope.draft_07 && choices.one_in(2) {
                counts(choices, to, "minContains", "maxContains");
            }
        }
        4 => to.set("uniqueItems", Json::Bool(!choices.one_in(4))),
        5 => counts(choices, to, "minItems", "maxItems"),
        _ => {
            to.set("contains", schema(choices, scope.part()));
            to.set("items", schema(choices, scope.part()));
        }
    }
}

fn in_place(choices: &mut Choices<'_>, scope: Scope, to: &mut Json) {
    let branches = |choices: &mut Choices<'_>| {
        Json::Array((0..=choices.pick(3)).map(|_| schema(choices, scope.same())).collect())
    };
    match choices.pick(6) {
        0 => to.set("allOf", branches(choices)),
        1 => to.set("anyOf", branches(choices)),
        2 => to.set("oneOf", branches(choices)),
        3 => to.set("not", schema(choices, scope.same())),
        4 => {
            to.set("if", schema(choices, scope.same()));
            to.set("then", schema(choices, scope.same()));
            if choices.one_in(2) {
                to.set("else", schema(choices, scope.same()));
            }
        }
        _ => {
            to.set("anyOf", branches(choices));
            if !scope.draft_07 {
                to.set("unevaluatedProperties", Json::Bool(false));
                to.set("unevaluatedItems", Json::Bool(false));
            }
        }
    }
}

/// A reference in one of the forms that there are. Of the definitions only those that lead to no loop; the root only
/// for parts of the value.
fn reference(choices: &mut Choices<'_>, scope: Scope, to: &mut Json) {
    if scope.dynamic && scope.earlier == scope.definitions && choices.one_in(3) {
        // The root may stand anywhere below itself, but for a part of the value alone.
        to.set(
            "properties",
            object([("a".to_owned(), object([("$dynamicRef".to_owned(), Json::text("#node"))]))]),
        );
        return;
    }
    if scope.earlier == 0 {
        return to.set("title", Json::text("t"));
    }
    let at = choices.pick(scope.earlier);
    let name = DEFINITIONS.get(at).copied().unwrap_or_default();
    let container = if scope.draft_07 { "definitions" } else { "$defs" };
    let base = if scope.named { ROOT } else { "" };
    let form = choices.pick(4);
    let reference = match (form, scope.named, scope.draft_07) {
        (1, true, _) => name.to_owned(),
        (2, true, false) => format!("{name}#{name}"),
        (2, false, false) => format!("#{name}"),
        (3, ..) => format!("{base}#/{}/{name}", if scope.draft_07 { "definitions" } else { "%24defs" }),
        _ => format!("{base}#/{container}/{name}"),
    };
    to.set("$ref", Json::Text(reference));
}

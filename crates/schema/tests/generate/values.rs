//! Values: at random, aimed at a schema, and a little beside it.

use super::choices::Choices;
use super::json::Json;

pub(crate) const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "-1",
    "1.0",
    "1.5",
    "2.0",
    "1e2",
    "100",
    "-0",
    "-0.0",
    "0.1",
    "1e-1",
    "0.3",
    "10",
    "4.5e0",
    "9007199254740992",
    "9007199254740993",
    "9007199254740993.0",
    "-9007199254740993",
    "1e400",
    "1E+400",
    "123456789012345678901234567890",
    "0.30000000000000000000000000000000004",
    "18446744073709551616",
    "1e-400",
];

pub(crate) const TEXTS: &[&str] = &[
    "a", "", "b", "ab", "abc", "é", "😀", "a\u{301}", "aaaa", "1", "foo", "\n", "\0", "a b", "/", "~1",
    "😀😀", "\u{7f}",
];

pub(crate) const NAMES: &[&str] = &[
    "a",
    "b",
    "c",
    "ab",
    "é",
    "😀",
    "",
    "a/b",
    "~",
    "__proto__",
    "toString",
    "0",
    "%41",
    "A",
    "a\u{301}",
    "$ref",
    "\"",
];

/// Whatever value.
pub(crate) fn any(choices: &mut Choices<'_>, depth: usize) -> Json {
    let kinds = if depth == 0 { 5 } else { 7 };
    match choices.pick(kinds) {
        0 => number(choices),
        1 => text(choices),
        2 => Json::Null,
        3 => Json::Bool(false),
        4 => Json::Bool(true),
        5 => Json::Array((0..choices.pick(4)).map(|_| any(choices, depth - 1)).collect()),
        _ => object((0..choices.pick(4)).map(|_| (name(choices), any(choices, depth - 1)))),
    }
}

pub(crate) fn number(choices: &mut Choices<'_>) -> Json {
    Json::Number(choices.of(NUMBERS).unwrap_or("0"))
}

pub(crate) fn text(choices: &mut Choices<'_>) -> Json {
    Json::text(choices.of(TEXTS).unwrap_or_default())
}

pub(crate) fn name(choices: &mut Choices<'_>) -> String {
    choices.of(NAMES).unwrap_or_default().to_owned()
}

/// An object of these members; of those with one name the last stays.
pub(crate) fn object(members: impl IntoIterator<Item = (String, Json)>) -> Json {
    let mut object = Json::Object(Vec::new());
    for (name, value) in members {
        object.set(&name, value);
    }
    object
}

/// A value that tries to keep a schema, by some of its keywords.
pub(crate) fn aimed(choices: &mut Choices<'_>, schema: &Json, root: &Json, depth: usize) -> Json {
    if depth == 0 {
        return any(choices, 0);
    }
    for keyword in ["$ref", "allOf", "anyOf", "oneOf", "then", "else", "if"] {
        let Some(value) = schema.member(keyword).filter(|_| !choices.one_in(4)) else { continue };
        match value {
            Json::Text(reference) => {
                let name = reference.rsplit(['/', '#']).next().unwrap_or_default();
                let definitions = root.member("$defs").or_else(|| root.member("definitions"));
                let target = definitions.and_then(|all| all.member(name)).unwrap_or(root);
                return aimed(choices, target, root, depth - 1);
            }
            Json::Array(branches) => {
                let at = choices.pick(branches.len());
                let chosen = branches.get(at).cloned().unwrap_or(Json::Null);
                return joined(aimed(choices, &chosen, root, depth - 1), parts(choices, schema, root, depth));
            }
            one => return joined(aimed(choices, one, root, depth - 1), parts(choices, schema, root, depth)),
        }
    }
    if let Some(constant) = schema.member("const") {
        return constant.clone();
    }
    if let Some(members) = schema.member("enum").map(Json::items).filter(|members| !members.is_empty()) {
        return members.get(choices.pick(members.len())).cloned().unwrap_or(Json::Null);
    }
    parts(choices, schema, root, depth).unwrap_or_else(|| of_type(choices, schema, depth))
}

/// The members of both, if both are objects.
fn joined(value: Json, other: Option<Json>) -> Json {
    match (value, other) {
        (Json::Object(members), Some(Json::Object(more))) => object(members.into_iter().chain(more)),
        (value, _) => value,
    }
}

/// An object or an array by the keywords for parts, if there are some.
fn parts(choices: &mut Choices<'_>, schema: &Json, root: &Json, depth: usize) -> Option<Json> {
    let mut members = Vec::new();
    for (name, part) in schema.member("properties").map(Json::members).unwrap_or_default() {
        if !choices.one_in(3) {
            members.push((name.clone(), aimed(choices, part, root, depth - 1)));
        }
    }
    for name in schema.member("required").map(Json::items).unwrap_or_default() {
        if let Json::Text(name) = name
            && !members.iter().any(|(known, _)| known == name)
        {
            members.push((name.clone(), any(choices, 1)));
        }
    }
    if !members.is_empty() {
        return Some(object(members));
    }
    let prefix = schema.member("prefixItems").map(Json::items).unwrap_or_default();
    let mut items: Vec<Json> = prefix.iter().map(|part| aimed(choices, part, root, depth - 1)).collect();
    for keyword in ["items", "contains", "additionalItems", "unevaluatedItems"] {
        let Some(part) = schema.member(keyword) else { continue };
        items.extend(part.items().iter().map(|part| aimed(choices, part, root, depth - 1)));
        for _ in 0..choices.pick(3) {
            items.push(aimed(choices, part, root, depth - 1));
        }
    }
    (!items.is_empty()).then_some(Json::Array(items))
}

fn of_type(choices: &mut Choices<'_>, schema: &Json, depth: usize) -> Json {
    let named = match schema.member("type") {
        Some(Json::Text(name)) => name.as_str(),
        Some(Json::Array(names)) => match names.get(choices.pick(names.len())) {
            Some(Json::Text(name)) => name,
            _ => "",
        },
        _ => "",
    };
    match named {
        "null" => Json::Null,
        "boolean" => Json::Bool(choices.one_in(2)),
        "integer" | "number" => number(choices),
        "string" => text(choices),
        "array" => Json::Array((0..choices.pick(4)).map(|_| any(choices, 1)).collect()),
        "object" => object((0..choices.pick(4)).map(|_| (name(choices), any(choices, 1)))),
        _ => any(choices, depth),
    }
}

/// Changes a value at one place, a little.
pub(crate) fn near(choices: &mut Choices<'_>, value: &mut Json) {
    match value {
        Json::Array(items) if !items.is_empty() && !choices.one_in(3) => {
            let at = choices.pick(items.len());
            match choices.pick(5) {
                0 => _ = items.remove(at),
                1 => items.extend(items.get(at).cloned()),
                2 => items.push(any(choices, 1)),
                _ => items.get_mut(at).into_iter().for_each(|item| near(choices, item)),
            }
        }
        Json::Object(members) if !members.is_empty() && !choices.one_in(3) => {
            let at = choices.pick(members.len());
            match choices.pick(5) {
                0 => _ = members.remove(at),
                1 => {
                    let (name, new) = (name(choices), any(choices, 1));
                    value.set(&name, new);
                }
                2 => members.rotate_left(at),
                _ => members.get_mut(at).into_iter().for_each(|(_, value)| near(choices, value)),
            }
        }
        Json::Number("1") => *value = Json::Number("1.0"),
        Json::Number("100") => *value = Json::Number("1e2"),
        Json::Number("9007199254740992") => *value = Json::Number("9007199254740993"),
        Json::Text(text) if !choices.one_in(3) => text.push('a'),
        value => *value = any(choices, 1),
    }
}

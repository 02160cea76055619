//! What to write instead of a keyword that is refused.

use crate::dialect::{Dialect, Profile};
use crate::json::Kind;
use crate::keywords::{KEYWORDS, Use};

/// Words of other schema languages, with what JSON Schema has for them.
const FOREIGN: &[(&str, &str)] = &[
    ("nullable", "add `null` to the types instead: `\"type\": [\"string\", \"null\"]`"),
    ("optional", "a member is optional unless its object lists it under `required`"),
    ("id", "write `$id`"),
    ("divisibleBy", "write `multipleOf`"),
    ("values", "write `enum` for the choices, or `additionalProperties` for the values of a map"),
    ("options", "write `enum` for the choices"),
    ("discriminator", "give each branch of the `oneOf` a property with a `const` of its own"),
    ("additionalItems", "2020-12 has `prefixItems` for the first items and `items` for the others"),
    ("prefixItems", "draft-07 has a list under `items` for the first items; or declare 2020-12"),
    ("dependentRequired", "draft-07 has `dependencies`; or declare 2020-12"),
    ("dependentSchemas", "draft-07 has `dependencies`; or declare 2020-12"),
    ("unevaluatedProperties", "draft-07 has no such keyword; declare 2020-12"),
    ("unevaluatedItems", "draft-07 has no such keyword; declare 2020-12"),
];

/// The advice for a keyword that is refused, if there is any.
pub(crate) fn advice(name: &str, profile: Profile, dialect: Dialect) -> Option<String> {
    let on = |keyword: &&crate::keywords::Keyword| keyword.use_in(profile, dialect) == Use::On;
    if profile == Profile::Portable && KEYWORDS.iter().any(|keyword| keyword.name == name) {
        return Some(String::from("leave it out, or check with profile `standard`"));
    }
    if let Some((_, advice)) = FOREIGN.iter().find(|(word, _)| *word == name) {
        return Some((*advice).to_owned());
    }
    let word = folded(name);
    // As many edits as the lengths differ are the fewest.
    let alike = |keyword: &&crate::keywords::Keyword| {
        letters(keyword.name).count().abs_diff(word.len()) <= DISTANCE_MAX
    };
    let words = KEYWORDS.iter().filter(on).filter(alike);
    let near = words.map(|keyword| (distance(&word, &folded(keyword.name)), keyword.name)).min();
    match near {
        Some((distance, nearest)) if distance <= DISTANCE_MAX => Some(format!("did you mean `{nearest}`?")),
        _ if profile == Profile::Standard => {
            Some(String::from("leave it out, or write it as `x-…` if it only informs people"))
        }
        _ => None,
    }
}

/// What to write where the value of a keyword, or a part of it, has the wrong form and is of this kind.
pub(crate) fn form(keyword: &str, found: Kind) -> Option<&'static str> {
    Some(match (keyword, found) {
        ("required", Kind::Bool) => {
            "take it out here; that a property must be there is said by the object that has it: \
             `\"required\": [\"name\"]`"
        }
        ("required", _) => "list the names of the properties that must be there: `\"required\": [\"name\"]`",
        ("type", _) => "write one name, `\"string\"`, or a list of several, `[\"string\", \"null\"]`",
        ("enum", _) => "list the values, in brackets: `\"enum\": [\"a\", \"b\"]`",
        ("examples", _) => "put the examples into a list, a single one too: `\"examples\": [\"a\"]`",
        ("properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas", _) => {
            "write an object that has a schema under each name: `{\"name\": {\"type\": \"string\"}}`"
        }
        ("dependentRequired" | "dependencies", _) => {
            "write an object that has a list of names under each name: `{\"card\": [\"address\"]}`"
        }
        ("allOf" | "anyOf" | "oneOf" | "prefixItems", _) => {
            "list schemas, in brackets: `[{\"type\": \"string\"}]`; leave it out if there are none"
        }
        ("additionalProperties", _) => {
            "write `false` to allow no other members, `true` to allow any, or the schema that they keep"
        }
        ("items", Kind::Array) => {
            "describe all items by one schema, or list those of the first items under `prefixItems`; to keep \
             the list, name the dialect that has it: `\"$schema\": \"http://json-schema.org/draft-07/schema#\"`"
        }
        ("pattern", _) => "write the expression in quotes, without slashes around it",
        ("$ref", _) => "write in quotes where the schema is: `\"#/$defs/name\"`",
        ("multipleOf", Kind::Number) => "write the step between the numbers, such as `1` or `0.01`",
        ("minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf", _) => {
            "write a number, without quotes"
        }
        (
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties"
            | "minContains" | "maxContains",
            _,
        ) => "write a whole number, without quotes; leave it out if there is no such bound",
        ("uniqueItems" | "deprecated" | "readOnly" | "writeOnly", _) => {
            "write `true` or `false`, without quotes"
        }
        ("title" | "description" | "$comment" | "format" | "contentEncoding" | "contentMediaType", _) => {
            "write one text, in quotes"
        }
        _ => return None,
    })
}

/// What to write where there should be a schema and a value of this kind is; `name` is the last step to it.
pub(crate) fn shape(name: &str, found: Kind) -> &'static str {
    match found {
        Kind::Bool => "write `{}` for true and `{\"not\": {}}` for false",
        _ if KEYWORDS.iter().any(|keyword| keyword.name == name) => {
            "if it is meant as the keyword of that name, put it a level up, beside `properties`; a property needs a \
             schema of its own: `{\"type\": \"string\"}`"
        }
        Kind::String => "write the type in an object: `{\"type\": \"string\"}`",
        _ => "write a schema as an object: `{\"type\": \"string\"}`; `{}` takes any value",
    }
}

/// Edits that are still taken for a slip.
const DISTANCE_MAX: usize = 2;

/// How far a word is from another, both folded.
fn distance(a: &str, b: &str) -> usize {
    if a.len() < 4 {
        return if a == b { 0 } else { usize::MAX };
    }
    strsim::damerau_levenshtein(a, b)
}

/// Case and separators count little.
fn folded(word: &str) -> String {
    letters(word).map(|letter| letter.to_ascii_lowercase()).collect()
}

fn letters(word: &str) -> impl Iterator<Item = char> {
    word.chars().filter(char::is_ascii_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_keyword_whose_value_can_have_the_wrong_form_has_an_advice() {
        // What is named here is judged elsewhere, takes any value, or says what to write in its message.
        const OTHERS: &[&str] = &[
            "$schema",
            "$id",
            "$anchor",
            "$dynamicRef",
            "$dynamicAnchor",
            "$vocabulary",
            "const",
            "default",
            "example",
            "not",
            "if",
            "then",
            "else",
            "contains",
            "propertyNames",
            "additionalItems",
            "unevaluatedItems",
            "unevaluatedProperties",
            "items",
            "contentSchema",
            "x-mcp-header",
            "additional_properties",
        ];
        for keyword in KEYWORDS {
            let has_advice = form(keyword.name, Kind::Null).is_some();
            assert_ne!(has_advice, OTHERS.contains(&keyword.name), "{}", keyword.name);
        }
        assert_ne!(form("required", Kind::Bool), form("required", Kind::String));
    }

    #[test]
    fn a_misspelt_keyword_gets_the_nearest_real_one() {
        let standard = |name| advice(name, Profile::Standard, Dialect::Draft202012).unwrap();
        assert_eq!(standard("maxlength"), "did you mean `maxLength`?");
        assert_eq!(standard("requird"), "did you mean `required`?");
        assert_eq!(standard("min_items"), "did you mean `minItems`?");
        assert!(standard("nullable").contains("\"null\"]"));
        assert!(standard("zzz").contains("x-…"));
    }
}

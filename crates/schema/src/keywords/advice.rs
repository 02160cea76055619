//! What to write instead of a keyword that is refused.

use crate::dialect::{Dialect, Profile};
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
    fn a_misspelt_keyword_gets_the_nearest_real_one() {
        let standard = |name| advice(name, Profile::Standard, Dialect::Draft202012).unwrap();
        assert_eq!(standard("maxlength"), "did you mean `maxLength`?");
        assert_eq!(standard("requird"), "did you mean `required`?");
        assert_eq!(standard("min_items"), "did you mean `minItems`?");
        assert!(standard("nullable").contains("\"null\"]"));
        assert!(standard("zzz").contains("x-…"));
    }
}

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
    let near = KEYWORDS.iter().filter(on).map(|keyword| (distance(name, keyword.name), keyword.name)).min();
    match near {
        Some((distance, nearest)) if distance <= 2 => Some(format!("did you mean `{nearest}`?")),
        _ if profile == Profile::Standard => {
            Some(String::from("leave it out, or write it as `x-…` if it only informs people"))
        }
        _ => None,
    }
}

/// How far two words are from each other; case and separators count little.
fn distance(a: &str, b: &str) -> usize {
    let fold =
        |word: &str| word.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    let (folded_a, folded_b) = (fold(a), fold(b));
    if folded_a.len() < 4 {
        return if folded_a == folded_b { 0 } else { usize::MAX };
    }
    strsim::damerau_levenshtein(&folded_a, &folded_b)
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

//! A misspelt annotation. It constrains nothing, so its right name changes no verdict.

use super::Fix;
use super::object::Object;

/// The annotations of the dialects.
const ANNOTATIONS: &[&str] = &[
    "$comment",
    "title",
    "description",
    "default",
    "example",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
];

/// Edits that a misspelling takes at most.
const EDITS_MAX: usize = 2;
/// Letters of a word below which two edits make another word of it.
const LETTERS_MIN: usize = 5;

/// Renames the member to the one annotation that is near, if the object has none of that name.
pub(super) fn fix(object: &Object<'_>, keyword: &str) -> Option<Fix> {
    let folded = fold(keyword);
    if folded.len() < LETTERS_MIN {
        return None;
    }
    let near = |name: &'static str| (strsim::damerau_levenshtein(&folded, &fold(name)), name);
    let mut all: Vec<(usize, &str)> = ANNOTATIONS.iter().map(|name| near(name)).collect();
    all.sort_unstable();
    let (distance, name) = all.first().copied()?;
    let is_plain = all.get(1).is_none_or(|(next, _)| *next > distance);
    if distance > EDITS_MAX || !is_plain || object.has(name) {
        return None;
    }
    let splices = vec![object.rename(keyword, name)?];
    Some(Fix { what: format!("spelled `{keyword}` as `{name}`"), splices })
}

/// Case and separators make no difference.
fn fold(word: &str) -> String {
    word.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase()
}

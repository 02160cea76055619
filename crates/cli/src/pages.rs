//! The pages of all codes, as they were when the program was built, in the order of their names.

include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// The page of a code.
pub(crate) fn page(code: &str) -> Option<&'static str> {
    PAGES
        .binary_search_by_key(&code, |(name, _)| name)
        .ok()
        .and_then(|at| PAGES.get(at))
        .map(|(_, page)| *page)
}

/// Why a fault matters: the paragraphs of that section of its page, each as one line.
pub(crate) fn why(code: &str) -> Option<String> {
    let section = page(code)?.split("\n## Why it matters\n").nth(1)?;
    let section = section.split("\n## ").next()?.trim();
    Some(section.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The code whose name is nearest to a word, if any is near.
pub(crate) fn nearest(word: &str) -> Option<&'static str> {
    let word = word.to_lowercase();
    let near = PAGES.iter().map(|(code, _)| (strsim::damerau_levenshtein(&word, code), *code)).min();
    if let Some((distance, code)) = near
        && distance <= code.len() / 3
    {
        return Some(code);
    }
    PAGES.iter().map(|(code, _)| *code).find(|code| word.len() > 3 && code.contains(&word))
}

#[cfg(test)]
mod tests {
    use callgate_schema::Code;

    use super::*;

    #[test]
    fn every_code_has_a_page_that_says_why() {
        let gate = callgate_wire::Code::ALL.iter().map(|code| code.as_str());
        let values = callgate_wire::ValueCode::ALL.iter().map(|code| code.as_str());
        for code in Code::ALL.iter().map(|code| code.as_str()).chain(gate).chain(values) {
            assert!(page(code).is_some_and(|page| page.starts_with(&format!("# `{code}`\n"))), "{code}");
            assert!(why(code).is_some_and(|why| !why.is_empty() && !why.contains('#')), "{code}");
        }
    }

    #[test]
    fn a_word_that_is_nearly_a_code_finds_it() {
        assert_eq!(nearest("schema-unknown-keywrd"), Some("schema-unknown-keyword"));
        assert_eq!(nearest("Unreachable"), Some("schema-unreachable"));
        assert_eq!(nearest("zzzzzz"), None);
        assert_eq!(nearest("x"), None);
    }
}

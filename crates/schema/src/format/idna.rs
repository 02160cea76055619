//! Internationalised names by IDNA2008: the library does Punycode, normal forms, the Bidi and the joiner rules; which code
//! points a label may have, and beside which others, is here (RFC 5892).

use std::sync::LazyLock;

use idna::AsciiDenyList;
use idna::uts46::{DnsLength, Hyphens, Uts46};
use regex_syntax::hir::{Class, ClassUnicode, HirKind};

/// The name with its labels in Unicode and lower case; `None` if some label, or the name as a whole, is not good.
pub(super) fn to_unicode(name: &str) -> Option<String> {
    let uts46 = Uts46::new();
    let (deny, hyphens) = (AsciiDenyList::STD3, Hyphens::CheckFirstLast);
    uts46.to_ascii(name.as_bytes(), deny, hyphens, DnsLength::Verify).ok()?;
    let (unicode, outcome) = uts46.to_unicode(name.as_bytes(), deny, hyphens);
    outcome.ok()?;
    unicode.split('.').all(|label| label.is_ascii() || is_u_label(label)).then(|| unicode.into_owned())
}

fn is_u_label(label: &str) -> bool {
    let label: Vec<char> = label.chars().collect();
    // RFC 5891, section 4.2.3.1.
    if label.get(2..4) == Some(&['-', '-']) {
        return false;
    }
    // RFC 5892, appendices A.8 and A.9: digits of the two sets do not mix.
    let has = |digits: std::ops::RangeInclusive<char>| label.iter().any(|c| digits.contains(c));
    if has('\u{660}'..='\u{669}') && has('\u{6f0}'..='\u{6f9}') {
        return false;
    }
    (0..label.len()).all(|at| is_good_at(&label, at))
}

/// RFC 5892, appendices A.3 to A.7; elsewhere the code point alone decides.
fn is_good_at(label: &[char], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| label.get(before)).copied();
    let after = label.get(at + 1).copied();
    match label.get(at).copied() {
        Some('\u{b7}') => before == Some('l') && after == Some('l'),
        Some('\u{375}') => after.is_some_and(|c| SETS.greek.has(c)),
        Some('\u{5f3}' | '\u{5f4}') => before.is_some_and(|c| SETS.hebrew.has(c)),
        Some('\u{30fb}') => label.iter().any(|c| SETS.kana_and_han.has(*c)),
        // The library has seen to the joiners.
        Some('\u{200c}' | '\u{200d}' | '-') => true,
        Some(c) => SETS.good.has(c),
        None => false,
    }
}

struct Sets {
    good: Set,
    greek: Set,
    hebrew: Set,
    kana_and_han: Set,
}

/// RFC 5892, sections 2 and 3: letters, digits and marks, less what is ignorable and old jamo, and the exceptions of
/// section 2.6. What is not stable under normalisation has been mapped away before.
const GOOD: &str = r"(?x)
    [[[\p{Ll}\p{Lu}\p{Lo}\p{Nd}\p{Lm}\p{Mn}\p{Mc}]
    -- [\p{Default_Ignorable_Code_Point} \p{White_Space} \x{20d0}-\x{20ff} \x{1d100}-\x{1d24f}
        \x{1100}-\x{11ff} \x{a960}-\x{a97c} \x{d7b0}-\x{d7fb}
        \x{640} \x{7fa} \x{302e} \x{302f} \x{3031}-\x{3035} \x{303b}]]
    \x{6fd} \x{6fe} \x{f0b} \x{3007}]";

static SETS: LazyLock<Sets> = LazyLock::new(|| Sets {
    good: Set::new(GOOD),
    greek: Set::new(r"\p{Greek}"),
    hebrew: Set::new(r"\p{Hebrew}"),
    kana_and_han: Set::new(r"[\p{Hiragana}\p{Katakana}\p{Han}]"),
});

struct Set(ClassUnicode);

impl Set {
    /// A set out of the tables of regex-syntax, which gives them out only through its own syntax.
    fn new(syntax: &str) -> Self {
        match regex_syntax::parse(syntax).map(regex_syntax::hir::Hir::into_kind) {
            Ok(HirKind::Class(Class::Unicode(set))) => Set(set),
            _ => Set(ClassUnicode::empty()),
        }
    }

    fn has(&self, c: char) -> bool {
        let ranges = self.0.ranges();
        let after = ranges.partition_point(|range| range.start() <= c);
        after.checked_sub(1).and_then(|at| ranges.get(at)).is_some_and(|range| c <= range.end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sets_are_those_of_the_tables() {
        let pairs = [('ß', '☃'), ('\u{6fd}', '\u{640}'), ('a', ' '), ('文', '\u{1100}'), ('9', '½')];
        for (good, other) in pairs {
            assert!(SETS.good.has(good), "{good}");
            assert!(!SETS.good.has(other), "{other}");
        }
        assert!(SETS.greek.has('β') && !SETS.greek.has('b'));
        assert!(SETS.hebrew.has('א') && !SETS.hebrew.has('a'));
        assert!(SETS.kana_and_han.has('ア') && !SETS.kana_and_han.has('\u{30fb}'));
    }
}

//! The sets of code points behind `.`, `\d`, `\w`, `\s` and `\p{…}`.

use std::sync::LazyLock;

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

use super::property_names::{BINARY, GENERAL_CATEGORY, SCRIPT};

fn set_of(ranges: &[(char, char)]) -> ClassUnicode {
    ClassUnicode::new(ranges.iter().map(|&(first, last)| ClassUnicodeRange::new(first, last)))
}

/// Every code point but the line terminators.
pub(super) fn dot() -> ClassUnicode {
    let mut set = set_of(&[('\n', '\n'), ('\r', '\r'), ('\u{2028}', '\u{2029}')]);
    set.negate();
    set
}

pub(super) fn digit() -> ClassUnicode {
    set_of(&[('0', '9')])
}

pub(super) fn word() -> ClassUnicode {
    set_of(&[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')])
}

/// SPEC: ECMA-262 WhiteSpace and LineTerminator, written out since the set differs from White_Space: it has U+FEFF
/// and lacks U+0085.
pub(super) fn space() -> ClassUnicode {
    set_of(&[
        ('\t', '\r'),
        (' ', ' '),
        ('\u{a0}', '\u{a0}'),
        ('\u{1680}', '\u{1680}'),
        ('\u{2000}', '\u{200a}'),
        ('\u{2028}', '\u{2029}'),
        ('\u{202f}', '\u{202f}'),
        ('\u{205f}', '\u{205f}'),
        ('\u{3000}', '\u{3000}'),
        ('\u{feff}', '\u{feff}'),
    ])
}

/// Why there is no set for a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoProperty {
    /// ECMA-262 has no such name or value.
    Unknown,
    /// It exists, but the tables here lack it.
    Missing,
}

/// The set of `\p{NAME}` or `\p{NAME=VALUE}`. Names are exact: ECMA-262 allows neither spaces nor another case.
pub(super) fn property(name: &str, value: Option<&str>) -> Result<ClassUnicode, NoProperty> {
    match (name, value) {
        (lone, None) => {
            if let Some(category) = canonical(GENERAL_CATEGORY, lone) {
                return general_category(category);
            }
            binary(canonical(BINARY, lone).ok_or(NoProperty::Unknown)?)
        }
        ("General_Category" | "gc", Some(value)) => {
            general_category(canonical(GENERAL_CATEGORY, value).ok_or(NoProperty::Unknown)?)
        }
        ("Script" | "sc", Some(value)) => script("sc", canonical(SCRIPT, value).ok_or(NoProperty::Unknown)?),
        ("Script_Extensions" | "scx", Some(value)) => {
            script("scx", canonical(SCRIPT, value).ok_or(NoProperty::Unknown)?)
        }
        _ => Err(NoProperty::Unknown),
    }
}

fn canonical(rows: &'static [&'static [&'static str]], name: &str) -> Option<&'static str> {
    rows.iter().find(|row| row.contains(&name)).and_then(|row| row.first().copied())
}

fn general_category(category: &str) -> Result<ClassUnicode, NoProperty> {
    match category {
        // A subject is valid UTF-8, which has no surrogates.
        "Surrogate" => Ok(ClassUnicode::empty()),
        _ => table(&format!(r"\p{{gc={category}}}")),
    }
}

fn script(property: &str, script: &str) -> Result<ClassUnicode, NoProperty> {
    if script != "Unknown" {
        return table(&format!(r"\p{{{property}={script}}}"));
    }
    let mut known = ClassUnicode::empty();
    for row in SCRIPT {
        // A script without a table has code points that the tables call unknown.
        if let Some(Ok(set)) = row.first().map(|name| table(&format!(r"\p{{sc={name}}}"))) {
            known.union(&set);
        }
    }
    known.negate();
    Ok(known)
}

fn binary(name: &str) -> Result<ClassUnicode, NoProperty> {
    match name {
        "ASCII" => Ok(set_of(&[('\0', '\x7f')])),
        "Any" => Ok(set_of(&[('\0', char::MAX)])),
        "Assigned" => {
            let mut set = general_category("Unassigned")?;
            set.negate();
            Ok(set)
        }
        _ => table(&format!(r"\p{{{name}}}")),
    }
}

/// A set out of the tables of regex-syntax, which gives them out only through its own syntax.
fn table(syntax: &str) -> Result<ClassUnicode, NoProperty> {
    let hir = regex_syntax::parse(syntax).map_err(|_| NoProperty::Missing)?;
    match hir.into_kind() {
        HirKind::Class(Class::Unicode(set)) => Ok(set),
        // A set of one code point is given as that code point.
        HirKind::Literal(literal) => {
            let text = std::str::from_utf8(&literal.0).map_err(|_| NoProperty::Missing)?;
            Ok(ClassUnicode::new(text.chars().map(|c| ClassUnicodeRange::new(c, c))))
        }
        _ => Err(NoProperty::Missing),
    }
}

static ID_START: LazyLock<ClassUnicode> =
    LazyLock::new(|| binary("ID_Start").unwrap_or_else(|_| ClassUnicode::empty()));
static ID_CONTINUE: LazyLock<ClassUnicode> =
    LazyLock::new(|| binary("ID_Continue").unwrap_or_else(|_| ClassUnicode::empty()));

/// Whether a group's name may begin, or go on, with `c`.
pub(super) fn in_name(c: char, first: bool) -> bool {
    match c {
        '$' | '_' => true,
        '\u{200c}' | '\u{200d}' => !first,
        _ if c.is_ascii() => c.is_ascii_alphabetic() || (!first && c.is_ascii_digit()),
        _ => contains(if first { &ID_START } else { &ID_CONTINUE }, c),
    }
}

fn contains(set: &ClassUnicode, c: char) -> bool {
    let ranges = set.ranges();
    let after = ranges.partition_point(|range| range.start() <= c);
    after.checked_sub(1).and_then(|last| ranges.get(last)).is_some_and(|range| c <= range.end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_a_table_but_those_of_a_later_unicode() {
        let mut missing = Vec::new();
        for (prefix, rows) in
            [("", BINARY), ("", GENERAL_CATEGORY), ("gc", GENERAL_CATEGORY), ("scx", SCRIPT)]
        {
            for name in rows.iter().copied().flatten() {
                let found =
                    if prefix.is_empty() { property(name, None) } else { property(prefix, Some(name)) };
                match found {
                    Ok(set) => {
                        assert!(!set.ranges().is_empty() || ["Surrogate", "Cs"].contains(name), "{name}");
                    }
                    Err(why) => {
                        assert_eq!(why, NoProperty::Missing);
                        missing.push(*name);
                    }
                }
            }
        }
        #[rustfmt::skip]
        let later = [
            "Changes_When_NFKC_Casefolded", "CWKCF", "Beria_Erfe", "Berf", "Sidetic", "Sidt", "Tai_Yo", "Tayo",
            "Tolong_Siki", "Tols",
        ];
        assert_eq!(missing, later);
    }

    #[test]
    fn unknown_scripts_are_what_no_script_has() {
        let unknown = property("Script", Some("Unknown")).unwrap();
        assert!(contains(&unknown, '\u{e000}') && contains(&unknown, '\u{378}'));
        assert!(!contains(&unknown, 'a') && !contains(&unknown, ' '));
    }
}

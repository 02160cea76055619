//! The meaning of patterns: every row of `cases/patterns.jsonl`, and what no row can show.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "what fails here fails the test")]
#![expect(clippy::disallowed_methods, reason = "a test measures how long building takes")]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use callgate_schema::pattern::{Language, Pattern};
use callgate_schema::{Code, Exhausted, Limits, Work};
use serde_json::Value;

const ROWS: &str = include_str!("../../../cases/patterns.jsonl");

/// Enough for the automaton of a small pattern to be built.
const WARM_BYTES: usize = 8 << 10;

fn compile(pattern: &str) -> Pattern {
    Pattern::compile(pattern, Language::Standard, &Limits::default()).unwrap()
}

fn language(profile: &Value) -> Language {
    match profile.as_str() {
        Some("portable") => Language::Portable,
        Some("standard") => Language::Standard,
        other => panic!("expected a profile, found {other:?}"),
    }
}

/// The answer of a row, the same from a matcher that is used for the first time and from one in long use.
fn answer(pattern: &str, language: Language, subject: Option<&str>) -> String {
    let compiled = match Pattern::compile(pattern, language, &Limits::default()) {
        Ok(compiled) => compiled,
        Err(fault) => return format!("refused {}", fault.code),
    };
    let subject = subject.expect("a row that is not refused has a string");
    let mut first = Work::new(1_000_000);
    let cold = compiled.is_match(subject, &mut first).unwrap();
    let _ = compiled.is_match(&"~".repeat(WARM_BYTES), &mut Work::new(1_000_000));
    let mut second = Work::new(1_000_000);
    let warm = compiled.is_match(subject, &mut second).unwrap();
    assert_eq!((cold, first.used()), (warm, second.used()), "`{pattern}` answers otherwise once in use");
    if cold { "match".to_owned() } else { "no-match".to_owned() }
}

#[test]
fn every_row_holds() {
    let mut wrong = String::new();
    for line in ROWS.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let mut expected = row["expect"].as_str().unwrap().to_owned();
        if let Some(code) = row["code"].as_str() {
            expected = format!("{expected} {code}");
        }
        let pattern = row["pattern"].as_str().unwrap();
        let found = answer(pattern, language(&row["profile"]), row["string"].as_str());
        if found != expected {
            writeln!(wrong, "{}: expected {expected}, found {found}", row["name"]).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn the_standard_language_takes_whatever_the_portable_one_takes() {
    for line in ROWS.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        if row["profile"] == "portable" && row["expect"] != "refused" {
            let pattern = row["pattern"].as_str().unwrap();
            let found = answer(pattern, Language::Standard, row["string"].as_str());
            assert_eq!(found, row["expect"].as_str().unwrap(), "{}", row["name"]);
        }
    }
}

#[test]
fn a_bomb_is_refused_at_once() {
    for bomb in [
        "(?:(?:a{1000}){1000}){1000}",
        "(?:(?:(?:){0,65535}){0,65535}){65535}",
        "(?:(?:(?:^){65535}){65535}){65535}",
        &r"[\p{L}\p{N}]".repeat(5_000),
        &"(?:a{9}){9}".repeat(5_000),
    ] {
        let start = Instant::now();
        let fault = Pattern::compile(bomb, Language::Standard, &Limits::default()).unwrap_err();
        assert_eq!(fault.code, Code::PatternLimit, "{}", fault.message);
        assert_eq!(fault.limit.map(|(name, _)| name), Some("pattern_compiled_bytes"));
        assert!(start.elapsed() < Duration::from_millis(500), "took {:?}", start.elapsed());
    }
}

#[test]
fn what_is_accepted_is_built_at_once() {
    let nested = format!("{}a{}", "(?:".repeat(250), "+)*".repeat(250));
    for pattern in [
        "(?:(?:(?:){65535}){65535}){65535}",
        r"^[\s\S]{0,65535}$",
        r"(?:a{65535}){0}b",
        r"^(?:\p{L}[\p{Lu}\d]{1,100}){1,100}$",
        nested.as_str(),
        &"(a)".repeat(20_000),
        &r"\p{L}".repeat(10_000),
        &"(?=a".repeat(250),
        &format!("(?<n>a){}", r"\k<n>".repeat(10_000)),
    ] {
        let start = Instant::now();
        let compiled = Pattern::compile(pattern, Language::Standard, &Limits::default());
        if let Ok(compiled) = compiled {
            let _ = compiled.is_match(&"a".repeat(WARM_BYTES), &mut Work::new(1_000_000));
        }
        assert!(start.elapsed() < Duration::from_secs(2), "took {:?}", start.elapsed());
    }
}

#[test]
fn large_classes_with_counts_are_small() {
    // What no instruction stands for is memory all the same: groups, and the automaton that is built later.
    assert!(compile(&"()".repeat(10_000)).compiled_bytes() > 20_000);
    assert!(compile(&format!("(?=a){}", "[ab]{2}".repeat(1_000))).compiled_bytes() > 60_000);
    assert!(compile("^a$").compiled_bytes() > 4_000);
    assert!(compile(r"^[\p{L}\p{N} .'-]{1,255}$").compiled_bytes() < 32 << 10);
    assert!(compile(r"^.{1,4000}$").compiled_bytes() < 64 << 10);
}

#[test]
fn backtracking_stops_at_the_allowance() {
    let subject = format!("{}b", "a".repeat(40));
    for pattern in [r"^(?=(a+)+$)", r"^(a|aa)+\1$x", r"(?<!(?:a*)*b)$z|^(?:a*)*\1()c"] {
        let mut work = Work::new(100_000);
        assert_eq!(compile(pattern).is_match(&subject, &mut work), Err(Exhausted), "`{pattern}`");
        assert!(work.charge(1).is_err(), "nothing is left");
    }
}

#[test]
fn a_deep_stack_is_a_spent_allowance() {
    let subject = "ab".repeat(2_000_000);
    let mut work = Work::new(u64::MAX);
    assert_eq!(compile(r"^(?:a|b)+(?=c)").is_match(&subject, &mut work), Err(Exhausted));
}

#[test]
fn a_linear_pattern_is_charged_by_its_size_and_the_subjects() {
    let used = |pattern: &str, length: usize| {
        let mut work = Work::new(u64::MAX);
        compile(pattern).is_match(&"a".repeat(length), &mut work).unwrap();
        work.used()
    };
    assert_eq!(used("^b", 1_000), 1_001);
    assert_eq!(used("(a+)+$", 1_000), 1_001);
    assert_eq!(used("^a{100}b", 1_000), 1 + 1_000 * (1 + 202 / 8));
    // Too large for the automaton: what is visited is counted, and it is little.
    assert!(used("^a{1,900}b", 1_000) < 3_000);
}

#[test]
fn limits_lower_what_is_taken() {
    let limits = |name: &str, value| {
        let mut limits = Limits::default();
        assert!(limits.set(name, value));
        limits
    };
    for (name, value, within, beyond) in [
        ("pattern_bytes", 3, "abc", "abcd"),
        ("pattern_nesting", 2, "((a))", "(((a)))"),
        ("pattern_count", 5, "a{5}", "a{6}"),
        ("pattern_compiled_bytes", 120, "a{9}", "a{10}"),
    ] {
        let limits = limits(name, value);
        assert!(Pattern::compile(within, Language::Standard, &limits).is_ok());
        let fault = Pattern::compile(beyond, Language::Standard, &limits).unwrap_err();
        assert_eq!((fault.code, fault.limit), (Code::PatternLimit, Some((name, value))));
    }
    // The greatest nesting has a reason of its own, and a higher limit does not lift it.
    let deep = format!("{}a{}", "(".repeat(251), ")".repeat(251));
    let fault = Pattern::compile(&deep, Language::Standard, &limits("pattern_nesting", 10_000)).unwrap_err();
    assert_eq!(fault.limit, Some(("pattern_nesting", 250)));
}

#[test]
fn a_fault_says_what_was_expected_and_where() {
    let fault =
        |pattern: &str, language| Pattern::compile(pattern, language, &Limits::default()).unwrap_err();
    let digit = fault(r"é\d", Language::Portable);
    assert_eq!(digit.offset, 2);
    assert_eq!(digit.message, r"expected one of `\ . ^ $ | ? * + ( ) [ ] { } - /` after `\`, found `d`");
    assert_eq!(digit.help.as_deref(), Some("write `[0-9]`"));
    let unclosed = fault("ab(c", Language::Standard);
    assert_eq!(unclosed.offset, 4);
    assert_eq!(
        unclosed.message,
        "expected `)` to close the group that opens at byte 2, found the end of the pattern"
    );
    let property = fault(r"x\p{greek}", Language::Standard);
    assert_eq!(
        (property.offset, property.message.as_str()),
        (1, "expected a property of ECMA-262, found `greek`")
    );
}

#[test]
fn a_pattern_is_shared_between_threads() {
    fn shared<T: Send + Sync + Clone + std::fmt::Debug>(_: &T) {}
    let pattern = compile("^[a-z]+$");
    shared(&pattern);
    assert_eq!(pattern.text(), "^[a-z]+$");
    assert!(pattern.is_linear());
    assert!(!compile("(?=a)").is_linear());
}

//! The interface for programs: what it promises beside the verdicts, which the fuzz targets compare.
#![expect(clippy::expect_used, reason = "what fails here fails the test")]

use callgate_schema::{Code, Limits, Options, Profile, ProgramCache, ValidationError, Validator, Verdict};
use serde_json::{Value, json};

fn validator(schema: &Value) -> Validator {
    Validator::new(schema).expect("it is enforceable")
}

#[test]
fn it_can_be_shared_and_printed() {
    fn shared<T: Send + Sync + Clone + std::fmt::Debug>(_: &T) {}
    let validator = validator(&json!({"type": "integer"}));
    shared(&validator);
    let there = std::thread::scope(|scope| scope.spawn(|| validator.is_valid_slice(b"1")).join());
    assert!(there.expect("the other thread answers"));
}

#[test]
fn an_error_says_where_and_what_in_both_forms_and_holds_no_value() {
    let validator = validator(&json!({"properties": {"key": {"items": {"type": "integer", "maximum": 3}}}}));
    let expected = [
        ("/key/0", "/properties/key/items/type", Code::TypeMismatch),
        ("/key/1", "/properties/key/items/maximum", Code::NumberTooLarge),
    ];
    let value = json!({"key": ["hunter2", 1_234_567]});
    let of_value: Vec<ValidationError> = validator.iter_errors(&value).collect();
    let of_text: Vec<ValidationError> = validator.iter_errors_slice(value.to_string().as_bytes()).collect();
    for errors in [&of_value, &of_text] {
        let found: Vec<_> = errors
            .iter()
            .map(|error| (error.instance_path().to_string(), error.schema_path(), error.kind()))
            .collect();
        let expected: Vec<_> = expected.iter().map(|(at, by, kind)| ((*at).to_owned(), *by, *kind)).collect();
        assert_eq!(found, expected);
        for error in errors {
            let said = format!("{error} {} {:?}", error.masked(), error.help());
            assert!(!said.contains("hunter2") && !said.contains("1234567"), "{said}");
        }
    }
    assert_eq!(of_text.first().and_then(|error| error.finding().offset), Some(8));
    assert_eq!(of_value.first().and_then(|error| error.finding().offset), None, "there is no text");
}

#[test]
fn the_text_is_read_strictly_and_exactly() {
    let validator = validator(&json!({"properties": {"n": {"maximum": 9_007_199_254_740_992_u64}}}));
    assert!(validator.is_valid_slice(br#"{"n": 9007199254740992}"#));
    assert!(!validator.is_valid_slice(br#"{"n": 9007199254740993}"#));
    assert!(!validator.is_valid_slice(br#"{"m": 1, "\u006d": 2}"#));
    let error = validator.validate_slice(br#"{"m": 1, "m": 2}"#).expect_err("the name stands twice");
    assert_eq!(error.kind(), Code::JsonDuplicateName);
}

#[test]
fn a_limit_is_neither_good_nor_bad() {
    let mut options = Validator::options();
    options.limits = Limits { arguments_depth_max: 3, ..Limits::default() };
    let validator = options.build(&json!({"items": {"$ref": "#"}})).expect("it is enforceable");
    let deep = json!([[[[]]]]);
    assert!(!validator.is_valid(&deep));
    assert!(validator.validate(&deep).is_err_and(|error| error.is_limit()));
    assert!(matches!(validator.evaluate(&deep), Verdict::Failed(_)));
    assert!(matches!(validator.evaluate_slice(b"[[[[]]]]"), Verdict::Failed(_)));
}

#[test]
fn a_schema_as_a_value_may_not_be_deep_without_end() {
    let mut schema = json!({});
    for _ in 0..500 {
        schema = json!({"not": schema});
    }
    let error = Validator::new(&schema).expect_err("it is too deep");
    assert_eq!(error.findings.first().map(|finding| finding.code), Some(Code::LimitExceeded));
}

#[test]
fn a_cache_keeps_within_its_bytes_and_forgets_what_was_asked_for_the_longest_ago() {
    let schema = |name: &str| format!(r#"{{"type": "object", "required": ["{name}"]}}"#).into_bytes();
    let options = Options::tool(Profile::Standard);
    let one = callgate_schema::Program::compile(&schema("a"), &options).expect("it is enforceable").bytes();
    let cache = ProgramCache::new(options, one * 2 + one / 2);
    for name in ["a", "b", "a", "c"] {
        cache.compile(&schema(name)).expect("it is enforceable");
        assert!(cache.bytes() <= one * 2 + one / 2);
    }
    assert_eq!(cache.len(), 2, "of three, two have room");
    assert!(cache.compile(b"{").is_err());
    assert_eq!(cache.len(), 2);
}

/// More branches than a mask has room for, told apart by `kind`; branch 5 has two of them, and the last one any.
fn many_branches(union: &str) -> Value {
    let branch = |at: usize| {
        let kind = match at {
            5 => json!({"enum": ["kind 5", "kind 6", "kind 5"]}),
            at => json!({"const": format!("kind {at}")}),
        };
        json!({
            "type": "object",
            "properties": {"kind": kind, "count": {"minimum": at}},
            "required": ["kind", "count"],
        })
    };
    let mut branches: Vec<Value> = (0..100).map(branch).collect();
    branches.push(json!({"type": "object", "required": ["any"]}));
    json!({union: branches})
}

#[test]
fn a_union_of_many_branches_is_looked_up_and_says_what_each_branch_would() {
    // Each with the number of branches that take it.
    let values = [
        (r#"{"kind": "kind 99", "count": 99}"#, 1),
        (r#"{"kind": "kind 99", "count": 98}"#, 0),
        (r#"{"count": 7, "kind": "kind 5"}"#, 1),
        (r#"{"kind": "kind 6", "count": 5}"#, 1),
        (r#"{"kind": "kind 6", "count": 6}"#, 2),
        (r#"{"kind": "kind 5", "count": 5, "any": 0}"#, 2),
        (r#"{"kind": "kind 5", "count": 4, "any": 0}"#, 1),
        (r#"{"kind": "kind \u0035", "count": 5}"#, 1),
        (r#"{"\u006bind": "kind 5", "count": 5}"#, 1),
        (r#"{"kind": "none", "count": 5}"#, 0),
        (r#"{"kind": "none", "any": 5}"#, 1),
        (r#"{"kind": 5, "count": 5}"#, 0),
        (r#"{"kind": 5, "any": 5}"#, 1),
        (r#"{"count": 5}"#, 0),
        (r#"{"any": 5}"#, 1),
        ("{}", 0),
        (r#""kind 5""#, 0),
        (r#"[{"kind": "kind 5", "count": 5}]"#, 0),
    ];
    let (any, one) = (validator(&many_branches("anyOf")), validator(&many_branches("oneOf")));
    for (text, count) in values {
        let value: Value = serde_json::from_str(text).expect("it is JSON");
        for (validator, good) in [(&any, count > 0), (&one, count == 1)] {
            assert_eq!(validator.is_valid_slice(text.as_bytes()), good, "{text}");
            assert_eq!(validator.is_valid(&value), good, "{text}");
            assert_eq!(validator.iter_errors_slice(text.as_bytes()).next().is_none(), good, "{text}");
        }
        let kind = one.validate_slice(text.as_bytes()).err().map(|error| error.kind());
        let expected = match count {
            0 => Some(Code::OneOfNone),
            1 => None,
            _ => Some(Code::OneOfSeveral),
        };
        assert_eq!(kind, expected, "{text}");
    }
    let error =
        one.validate_slice(br#"{"kind": "kind 77", "count": 3}"#).expect_err("the count is too small");
    let help = error.help().expect("one branch is meant");
    assert!(help.contains("alternative 77") && help.contains("at least 77"), "{help}");
}

#[test]
fn keywords_and_names_written_with_escapes_count_as_what_they_are() {
    let schema = br#"{"additionalProperties": true, "\u0075nevaluatedProperties": false}"#;
    let validator = Validator::from_slice(schema).expect("it is enforceable");
    assert!(validator.is_valid_slice(br#"{"a": 1}"#));
    let schema = br##"{"items": {"$ref": "#here"}, "not": {"\u0024anchor": "here", "type": "integer"}}"##;
    let validator = Validator::from_slice(schema).expect("the anchor is found");
    assert!(validator.is_valid_slice(b"[1]") && !validator.is_valid_slice(br#"["x"]"#));
}

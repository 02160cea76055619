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

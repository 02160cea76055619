//! Results and the values in them: what is written, and what is read back.

use crate::generate;

use std::collections::BTreeMap;

use callgate_wire::{AgentResult, Artifact, FailureCode, Json, Object};
use proptest::prelude::*;

#[test]
fn a_success_is_written_in_the_canonical_form() {
    let data = Object::new().with("id", "memo-9").with("size", Json::parse("1.50").unwrap());
    let result = AgentResult::success(data)
        .with_message("Saved")
        .with_artifact(Artifact::text("a \"quoted\" line\n"))
        .with_artifact(Artifact::bytes("image/png", [0u8, 255, 16]));
    insta::assert_snapshot!(result.to_json(), @r#"{"ok":true,"message":"Saved","data":{"id":"memo-9","size":1.50},"details":{},"artifacts":[{"mimeType":"text/plain","text":"a \"quoted\" line\n"},{"mimeType":"image/png","base64":"AP8Q"}]}"#);
}

#[test]
fn a_failure_is_written_in_the_canonical_form() {
    let result = AgentResult::failure(FailureCode::VALIDATION_ERROR, "`count` must be an integer")
        .with_details(Object::new().with("property", "count"));
    insta::assert_snapshot!(result.to_json(), @r#"{"ok":false,"message":"`count` must be an integer","code":"validation_error","data":{},"details":{"property":"count"},"artifacts":[]}"#);
}

#[test]
fn what_is_no_result_is_refused_with_its_field() {
    for (text, field) in [
        (r"[]", None),
        (r"{}", Some("ok")),
        (r#"{"ok":1}"#, Some("ok")),
        (r#"{"ok":true,"code":"busy"}"#, Some("code")),
        (r#"{"ok":true,"details":{"a":1}}"#, Some("details")),
        (r#"{"ok":true,"data":[]}"#, Some("data")),
        (r#"{"ok":true,"message":5}"#, Some("message")),
        (r#"{"ok":false,"code":""}"#, Some("code")),
        (r#"{"ok":false,"code":"c","data":{"a":1}}"#, Some("data")),
        (r#"{"ok":false,"code":"c","artifacts":[{"text":"t"}]}"#, Some("artifacts")),
        (r#"{"ok":true,"artifacts":{}}"#, Some("artifacts")),
        (r#"{"ok":true,"artifacts":["t"]}"#, Some("artifacts")),
        (r#"{"ok":true,"artifacts":[{}]}"#, Some("artifacts")),
        (r#"{"ok":true,"artifacts":[{"text":"t","base64":"","mimeType":"a/b"}]}"#, Some("artifacts")),
        (r#"{"ok":true,"artifacts":[{"base64":"AQ=="}]}"#, Some("mimeType")),
        (r#"{"ok":true,"artifacts":[{"base64":"AQ","mimeType":"a/b"}]}"#, Some("base64")),
    ] {
        let error = AgentResult::parse(text).unwrap_err();
        assert_eq!((error.code(), error.field()), ("result-malformed", field), "{text}");
    }
    assert_eq!(AgentResult::parse(r#"{"ok":true,"ok":true}"#).unwrap_err().code(), "json-duplicate-name");
}

#[test]
fn what_is_missing_and_harms_nothing_is_filled_in() {
    let plain = AgentResult::parse(r#"{"ok":true,"dialog":"Done","data":null}"#).unwrap();
    assert_eq!(plain, AgentResult::success(Object::new()));
    let failure = AgentResult::parse(r#"{"ok":false,"message":"m","data":{},"artifacts":[]}"#).unwrap();
    assert_eq!(failure.code(), Some(&FailureCode::AGENT_ERROR));
}

#[test]
fn rust_values_become_json_or_say_why_not() {
    #[derive(serde::Serialize)]
    enum Shape {
        Dot,
        Line(f32, i128),
        Box { width: u8 },
        Named(Option<char>),
    }
    let shapes = [Shape::Dot, Shape::Line(0.1, -1), Shape::Box { width: 2 }, Shape::Named(None)];
    insta::assert_snapshot!(
        Json::serialize(&shapes).unwrap(),
        @r#"["Dot",{"Line":[0.1,-1]},{"Box":{"width":2}},{"Named":null}]"#
    );
    let keys: BTreeMap<i32, bool> = [(-1, true), (7, false)].into();
    assert_eq!(Object::serialize(&keys).unwrap().as_str(), r#"{"-1":true,"7":false}"#);
    let code = |error: callgate_wire::ValueError| error.code();
    assert_eq!(code(Json::serialize(&[1.0, f64::INFINITY]).unwrap_err()), "value-not-json");
    assert_eq!(code(Json::serialize(&BTreeMap::from([(vec![1], 2)])).unwrap_err()), "value-not-json");
    assert_eq!(code(Object::serialize(&[1]).unwrap_err()), "value-not-object");
    assert_eq!(code(Object::parse("[]").unwrap_err()), "value-not-object");
}

#[test]
fn a_value_within_itself_without_end_is_refused_before_the_stack_ends() {
    struct Endless;
    impl serde::Serialize for Endless {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_seq([Endless])
        }
    }
    struct Mirror(usize);
    impl serde::Serialize for Mirror {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_seq((self.0 > 0).then(|| Mirror(self.0 - 1)))
        }
    }
    assert_eq!(Json::serialize(&Endless).unwrap_err().code(), "value-not-json");
    assert!(Json::serialize(&Mirror(127)).is_ok());
    assert_eq!(Json::serialize(&Mirror(128)).unwrap_err().code(), "limit-exceeded");
}

#[test]
fn members_are_set_in_place() {
    let mut object = Object::parse(r#"{ "a" : 1, "b\"" : [2], "c" : {} }"#).unwrap();
    object.set("b\"", "x");
    object.set("d", Object::new().with("e", 1.5f64.to_string()));
    object.extend(&Object::new().with("a", true).with("f", Json::null()));
    assert_eq!(object.as_str(), r#"{"a":true,"b\"":"x","c":{},"d":{"e":"1.5"},"f":null}"#);
    assert_eq!((object.len(), object.get_text("b\"").as_deref()), (5, Some("x")));
    assert!(object.get("g").is_none() && object.get_text("a").is_none() && Object::new().is_empty());
    let twice: Object = [("a", 1), ("b", 2), ("a", 3)].into_iter().collect();
    assert_eq!(twice.as_str(), r#"{"a":3,"b":2}"#);
}

proptest! {
    #[test]
    fn a_result_is_read_back_as_it_was_written(result in generate::result()) {
        let text = result.to_json();
        let back = AgentResult::parse(text.as_str()).unwrap();
        prop_assert_eq!(&back, &result);
        let again = back.to_json();
        prop_assert_eq!(again.as_str(), text.as_str());
    }

    #[test]
    fn a_compact_text_is_the_same_value_and_its_own_compact_text(text in generate::json_text()) {
        let value = Json::parse(&text).unwrap();
        let (ours, theirs): (serde_json::Value, serde_json::Value) =
            (serde_json::from_str(value.as_str()).unwrap(), serde_json::from_str(&text).unwrap());
        prop_assert_eq!(ours, theirs);
        prop_assert!(value.as_str().len() <= text.len());
        let again = Json::parse(value.as_str()).unwrap();
        prop_assert_eq!(again.as_str(), value.as_str());
    }

    #[test]
    fn a_double_is_read_back_as_the_same_double(number in any::<f64>(), single in any::<f32>()) {
        prop_assume!(number.is_finite() && single.is_finite());
        let text = Json::serialize(&(number, single)).unwrap();
        let (a, b) = text.as_str().trim_matches(['[', ']']).split_once(',').unwrap();
        prop_assert_eq!(a.parse::<f64>().unwrap().to_bits(), number.to_bits());
        prop_assert_eq!(b.parse::<f32>().unwrap().to_bits(), single.to_bits());
        let alone = Json::number(number).unwrap();
        prop_assert_eq!(alone.as_str(), a);
    }

    #[test]
    fn an_object_is_the_sum_of_its_members(object in generate::object()) {
        let again: Object = object.members().into_iter().collect();
        prop_assert_eq!(again.as_str(), object.as_str());
        let mut built = Object::new();
        for (name, value) in object.members() {
            prop_assert_eq!(object.get(&name), Some(value.clone()));
            built.set(&name, value);
        }
        prop_assert_eq!(built.as_str(), object.as_str());
    }

    #[test]
    fn nothing_that_is_read_as_a_result_panics(text in generate::json_text(), broken in ".{0,40}") {
        let _ = AgentResult::parse(&text);
        let _ = AgentResult::parse(broken);
    }
}

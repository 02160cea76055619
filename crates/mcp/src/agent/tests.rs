//! What survives the way through the protocol and back. The rows of `cases/worker/mcp-results.jsonl` say the rest.

use callgate_schema::json::Tape;
use callgate_wire::{AgentResult, Artifact, Failure, FailureCode, Json, Object, Success};
use proptest::prelude::*;

use super::{
    Form, ResourceError, read_resource, resource_contents, result_of_resource, result_of_tool, tool_result,
};
use crate::rpc;

#[test]
fn the_blocks_of_a_success_in_both_forms() {
    let result: AgentResult = Success {
        message: "Drawn".into(),
        data: Object::new().with("meta", Object::new().with("frame", 7)).with("lost", true),
        artifacts: vec![
            Artifact::bytes("image/png", [0u8, 255, 16]),
            Artifact::text_as("image/svg+xml", "<svg/>"),
            Artifact::text_as("text/csv", "a,b"),
        ],
    }
    .into();
    insta::assert_snapshot!(tool_result(&result, Form::Plain, false), @r#"{"content":[{"type":"image","data":"AP8Q","mimeType":"image/png"},{"type":"image","data":"<svg/>","mimeType":"image/svg+xml"},{"type":"text","text":"a,b"}],"_meta":{"frame":7}}"#);
    insta::assert_snapshot!(tool_result(&result, Form::Faithful, true), @r#"{"content":[{"type":"image","data":"AP8Q","mimeType":"image/png"},{"type":"resource","resource":{"uri":"artifact://1","mimeType":"image/svg+xml","text":"<svg/>"}},{"type":"text","text":"a,b","_meta":{"dev.callgate.wire/media-type":"text/csv"}}],"structuredContent":{"meta":{"frame":7},"lost":true},"_meta":{"frame":7,"dev.callgate.wire/message":"Drawn"}}"#);
}

fn artifact() -> impl Strategy<Value = Artifact> {
    let media_type = || prop_oneof!["[a-z]{1,5}/[a-z]{1,5}", Just("image/png".to_owned()), "[ -~]{0,6}"];
    prop_oneof![
        (media_type(), ".{0,12}").prop_map(|(media_type, text)| Artifact::text_as(media_type, text)),
        (media_type(), any::<Vec<u8>>()).prop_map(|(media_type, bytes)| Artifact::bytes(media_type, bytes)),
    ]
}

fn object() -> impl Strategy<Value = Object> {
    let value = prop_oneof![
        ".{0,8}".prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        Just(Json::parse(r#"{"a":[1.50,null]}"#).unwrap()),
    ];
    proptest::collection::vec((".{0,6}", value), 0..4).prop_map(|members| members.into_iter().collect())
}

/// Any JSON in place of an answer of the protocol.
fn answer() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("7".to_owned()),
        Just("\"text\"".to_owned()),
        Just("\"image\"".to_owned()),
        Just("\"AQ==\"".to_owned()),
        Just("\"{\\\"code\\\":\\\"c\\\",\\\"message\\\":\\\"m\\\"}\"".to_owned()),
    ];
    let name = prop_oneof![
        Just("content"),
        Just("contents"),
        Just("type"),
        Just("text"),
        Just("data"),
        Just("blob"),
        Just("resource"),
        Just("isError"),
        Just("_meta"),
        Just("mimeType"),
    ];
    leaf.prop_recursive(5, 60, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(","))),
            proptest::collection::btree_map(name.clone(), inner, 0..6).prop_map(|members| {
                let members: Vec<String> =
                    members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn a_failure_comes_back_as_it_went(code in ".{1,8}", message in ".{0,12}", details in object()) {
        let failure: AgentResult =
            Failure { code: FailureCode::new(code).unwrap(), message, details }.into();
        let answer = tool_result(&failure, Form::Faithful, true);
        prop_assert_eq!(result_of_tool(answer.read(&mut Tape::new()), Form::Faithful).unwrap(), failure);
    }

    #[test]
    fn artifacts_and_the_message_come_back_as_they_went(
        message in ".{0,12}",
        artifacts in proptest::collection::vec(artifact(), 1..4),
    ) {
        let sent: AgentResult = Success { message: message.clone(), data: Object::new(), artifacts: artifacts.clone() }.into();
        let answer = tool_result(&sent, Form::Faithful, false);
        let AgentResult::Success(back) = result_of_tool(answer.read(&mut Tape::new()), Form::Faithful).unwrap() else {
            return Err(TestCaseError::fail("a success became a failure"));
        };
        prop_assert_eq!(back.message, message);
        prop_assert_eq!(back.artifacts.len(), artifacts.len());
        for (back, sent) in back.artifacts.iter().zip(&artifacts) {
            // A picture that was given as a text of base64 is bytes from then on.
            let picture = sent.as_text().filter(|_| sent.is_a("image/"));
            let wanted = picture.and_then(|text| Artifact::base64(sent.media_type(), text));
            prop_assert_eq!(back, wanted.as_ref().unwrap_or(sent));
        }
        let read = read_resource(&sent, "app://r", None, rpc::INVALID_PARAMS).unwrap();
        let AgentResult::Success(read) = result_of_resource(read.read(&mut Tape::new()), Form::Faithful).unwrap() else {
            return Err(TestCaseError::fail("a success became a failure"));
        };
        prop_assert_eq!(read.artifacts, back.artifacts);
    }

    #[test]
    fn structured_content_is_the_data_byte_for_byte(data in object()) {
        let answer = tool_result(&AgentResult::success(data.clone()), Form::Faithful, true);
        let mut tape = Tape::new();
        prop_assert_eq!(answer.read(&mut tape).member("structuredContent").unwrap().raw_str(), data.as_str());
        let back = result_of_tool(answer.read(&mut tape), Form::Faithful).unwrap();
        let structured = back.data().and_then(|data| data.get("structured")).unwrap();
        prop_assert_eq!(structured.as_str(), data.as_str());
        let without = tool_result(&AgentResult::success(data), Form::Faithful, false);
        prop_assert!(without.read(&mut tape).member("structuredContent").is_none());
    }

    #[test]
    fn a_failed_read_is_an_error_in_one_form_and_a_text_in_the_other(code in "[a-z_]{1,8}", details in object()) {
        let failure: AgentResult =
            Failure { code: FailureCode::new(code.clone()).unwrap(), message: "m".into(), details: details.clone() }.into();
        let error = read_resource(&failure, "app://r", None, rpc::INVALID_PARAMS).unwrap_err();
        let data = Object::new().with("code", code).with("details", details);
        prop_assert_eq!(error, ResourceError { rpc: rpc::INTERNAL_ERROR, message: "m".into(), data });
        let contents = resource_contents(&failure, "app://r");
        let head = r#"{"contents":[{"uri":"app://r","text":"{\"code\""#;
        prop_assert_eq!(contents.as_str().get(..head.len()), Some(head));
    }

    #[test]
    fn no_answer_of_an_upstream_makes_reading_it_panic(text in answer()) {
        let answer = Json::parse(text).unwrap();
        let mut tape = Tape::new();
        for form in [Form::Plain, Form::Faithful] {
            for result in [
                result_of_tool(answer.read(&mut tape), form),
                result_of_resource(answer.read(&mut tape), form),
            ].into_iter().flatten() {
                let text = result.to_json();
                prop_assert_eq!(AgentResult::parse(text.as_str()).unwrap(), result.clone());
                let _ = tool_result(&result, form, true);
                let _ = resource_contents(&result, "app://r");
                let _ = read_resource(&result, "app://r", None, rpc::INVALID_PARAMS);
            }
        }
    }
}

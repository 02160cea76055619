//! Values and results for properties: proptest's strategies.
#![expect(clippy::unwrap_used, reason = "a generator that fails is a failed test")]

use callgate_wire::{AgentResult, Artifact, Failure, FailureCode, Json, Object, Success};
use proptest::prelude::*;

/// Texts with what JSON escapes, and with code points beyond the first plane.
pub(crate) fn text() -> impl Strategy<Value = String> {
    proptest::string::string_regex("[ -~\\x00-\\x1f\u{7f}é\u{2028}\u{1f642}\"\\\\/]{0,12}").unwrap()
}

/// Spellings of numbers, long and strange ones too.
pub(crate) fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        any::<f64>()
            .prop_filter("finite", |number| number.is_finite())
            .prop_map(|number| format!("{number:e}")),
        "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,2})?",
    ]
}

/// The text of a value, with blanks between its parts and some needless escapes.
pub(crate) fn json_text() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("false".to_owned()),
        number(),
        text().prop_map(|text| quoted(&text)),
        Just("\"\\u0041\\/\\ud83d\\ude42\"".to_owned()),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5)
                .prop_map(|items| format!("[ {}\n]", items.join(" ,"))),
            proptest::collection::btree_map(text(), inner, 0..5).prop_map(|members| {
                let members: Vec<String> =
                    members.iter().map(|(name, value)| format!("{} :\t{value}", quoted(name))).collect();
                format!("{{{} }}", members.join(","))
            }),
        ]
    })
}

pub(crate) fn json() -> impl Strategy<Value = Json> {
    json_text().prop_map(|text| Json::parse(text).unwrap())
}

pub(crate) fn object() -> impl Strategy<Value = Object> {
    proptest::collection::vec((text(), json()), 0..5).prop_map(|members| members.into_iter().collect())
}

pub(crate) fn artifact() -> impl Strategy<Value = Artifact> {
    let media_type = || prop_oneof![Just("text/plain".to_owned()), Just("image/png".to_owned()), text()];
    prop_oneof![
        (media_type(), text()).prop_map(|(media_type, text)| Artifact::text_as(media_type, text)),
        (media_type(), any::<Vec<u8>>()).prop_map(|(media_type, bytes)| Artifact::bytes(media_type, bytes)),
    ]
}

pub(crate) fn result() -> impl Strategy<Value = AgentResult> {
    let success = (text(), object(), proptest::collection::vec(artifact(), 0..3))
        .prop_map(|(message, data, artifacts)| Success { message, data, artifacts }.into());
    let failure = (text().prop_filter("a code", |code| !code.is_empty()), text(), object()).prop_map(
        |(code, message, details)| Failure { code: FailureCode::new(code).unwrap(), message, details }.into(),
    );
    prop_oneof![success, failure]
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

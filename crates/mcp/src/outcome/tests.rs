//! What callers are told, word for word.

use callgate_schema::Code as SchemaCode;
use callgate_schema::json::Digest;
use callgate_wire::{Attempt, Incarnation, Pinned, Principal, Timestamp};

use super::*;
use crate::{RequestId, answer};

fn text(bytes: &[u8]) -> String {
    let value: serde_json::Value = serde_json::from_slice(bytes).expect("an answer is JSON");
    serde_json::to_string_pretty(&value).unwrap()
}

fn id() -> RequestId {
    RequestId::parse(b"\"a\\u0062\"", 100).unwrap()
}

#[test]
fn a_refusal_is_a_result_that_a_model_can_act_on() {
    let finding = Finding::new(SchemaCode::PropertyMissing, "expected the member `path`, found none");
    let refusal = Refusal::new(Code::CallArgumentsInvalid, "the arguments break the input schema of `read`")
        .with_help("mend the arguments and call again")
        .with_findings(vec![finding], false);
    insta::assert_snapshot!(text(&answer::refusal(&id(), &refusal)));
}

#[test]
fn an_unknown_tool_is_an_error_of_the_protocol() {
    let refusal =
        Refusal::new(Code::CallUnknownTool, "expected the name of a tool that is listed, found `raed`")
            .with_help("did you mean `read`?");
    insta::assert_snapshot!(text(&answer::refusal(&id(), &refusal)));
}

fn intent(read_only: bool) -> Intent {
    Intent {
        id: IntentId::from_bytes([7; 16]),
        opened_at: Timestamp(0),
        principal: Principal::local("ada"),
        run: None,
        upstream: "notes".to_owned(),
        tool: "write".to_owned(),
        contract_digest: Digest::default(),
        arguments_digest: Digest::default(),
        call_digest: Digest::default(),
        key: None,
        approval: None,
        pinned: Pinned { read_only, idempotent: false },
        attempt: Attempt::FIRST,
        fence: Incarnation::from_bytes([1; 16]),
        retry_permitted: false,
        settlement: None,
    }
}

#[test]
fn every_way_to_end_without_a_result_says_what_is_known() {
    let mut told = String::new();
    for observation in [
        Observation::ResultTooLarge { bytes: 9_000_000 },
        Observation::InputUnavailable,
        Observation::Timeout,
        Observation::UpstreamGone,
        Observation::AnswerUnreadable,
        Observation::CancelledAfterDispatch,
        Observation::GateStopped,
        Observation::GateGone,
        Observation::CancelledBeforeDispatch,
        Observation::UpstreamGoneBeforeDispatch,
        Observation::RejectedBeforeDispatch,
    ] {
        let notice = Notice::unanswered(observation, &intent(false)).unwrap();
        told.push_str(&String::from_utf8(notice.to_result()).unwrap());
        told.push('\n');
    }
    assert_eq!(Notice::unanswered(Observation::RpcError, &intent(false)), None);
    let read_only = Notice::unanswered(Observation::Timeout, &intent(true)).unwrap();
    told.push_str(&String::from_utf8(read_only.to_result()).unwrap());
    insta::assert_snapshot!(told);
}

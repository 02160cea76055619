//! Calls: before, during and after their dispatch.

use std::sync::atomic::Ordering;

use super::*;

#[tokio::test]
async fn a_good_call_and_its_result_pass_byte_for_byte() {
    let mut bench = Bench::start(|_| {});
    let arguments = r#"{"b" : "\u0041", "a": 12345678901234567890123 ,"c":1e2}"#;
    let frame = format!(" {} ", call("\"x\"", "echo", arguments));
    bench.client.send(&frame).await;
    bench.list(ECHO).await;
    assert_eq!(bench.upstream.line().await, frame);
    assert_eq!(
        (bench.journal.told(), bench.journal.arguments()),
        (vec!["echo open".into()], vec![arguments.into()])
    );
    let answer = r#"{"result":{"content":[ ], "x":1.0},"id":"x" ,"jsonrpc":"2.0"} "#;
    bench.upstream.send(answer).await;
    assert_eq!(bench.client.line().await, answer);
    assert_eq!(bench.journal.told(), ["echo settled done"], "the record is there before the answer");
    let (end, _, rest) = bench.end().await;
    assert_eq!((end.upstream_died, rest.len()), (false, 0));
}

#[tokio::test]
async fn arguments_are_checked_and_nothing_of_a_bad_call_leaves() {
    let mut bench = Bench::listed(ECHO, |_| {}).await;
    bench.client.send(&call("1", "echo", r#"{"a":"1"}"#)).await;
    let answer = bench.client.json().await;
    assert_eq!((code(&answer), &answer["result"]["isError"]), ("call-arguments-invalid", &Value::from(true)));
    bench.client.send(&call("2", "ecco", "{}")).await;
    let answer = bench.client.json().await;
    assert_eq!((code(&answer), &answer["error"]["code"]), ("call-unknown-tool", &Value::from(-32_602)));
    bench.ping().await;
    assert!(bench.journal.told().is_empty());
}

#[tokio::test]
async fn nothing_of_a_call_leaves_before_its_intent_is_durable() {
    let mut bench = Bench::listed(ECHO, |_| {}).await;
    bench.journal.hold(usize::MAX);
    bench.client.send(&call("1", "echo", "{}")).await;
    bench.ping().await;
    bench.journal.release();
    assert_eq!(bench.upstream.line().await, call("1", "echo", "{}"));
}

#[tokio::test]
async fn calls_wait_for_the_journal_together_and_leave_in_the_order_in_which_they_came() {
    let mut bench = Bench::listed(ECHO, |_| {}).await;
    bench.journal.hold(20);
    // Large arguments take longer to check, so the first calls would be overtaken.
    let sent: Vec<String> = (0..20)
        .map(|id: usize| {
            let padding = "x".repeat(if id.is_multiple_of(5) { 200_000 } else { 1 });
            call(&id.to_string(), "echo", &format!(r#"{{"b":"{padding}"}}"#))
        })
        .collect();
    for frame in &sent {
        bench.client.send(frame).await;
    }
    for frame in &sent {
        assert_eq!(bench.upstream.line().await, *frame);
    }
}

#[tokio::test]
async fn a_call_that_is_refused_holds_up_nobody_behind_it() {
    let mut bench = Bench::listed(ECHO, |_| {}).await;
    bench.client.send(&call("1", "echo", r#"{"a":"not a number"}"#)).await;
    bench.client.send(&call("2", "echo", "{}")).await;
    assert_eq!(bench.upstream.line().await, call("2", "echo", "{}"));
}

#[tokio::test]
async fn a_call_that_is_withdrawn_before_it_has_left_never_leaves() {
    let mut bench = Bench::listed(ECHO, |_| {}).await;
    bench.journal.hold(usize::MAX);
    bench.client.send(&call("1", "echo", "{}")).await;
    bench
        .client
        .send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1.0}}"#)
        .await;
    bench.ping().await;
    bench.journal.release();
    let (_, journal, rest) = bench.end().await;
    assert_eq!((journal.told(), rest), (vec!["echo refused none call-cancelled".into()], vec![]));
}

#[tokio::test]
async fn a_call_that_is_withdrawn_while_the_tools_are_listed_leaves_no_trace() {
    let mut bench = Bench::start(|_| {});
    bench.client.send(&call("1", "echo", "{}")).await;
    bench
        .client
        .send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#)
        .await;
    bench.client.send(r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#).await;
    bench.list(ECHO).await;
    assert_eq!(bench.client.json().await["id"], 2);
    bench.ping().await;
    assert!(bench.journal.told().is_empty());
}

#[tokio::test]
async fn a_call_that_is_withdrawn_after_it_has_left_is_in_doubt_until_a_late_answer() {
    let mut bench = Bench::listed(ECHO, |_| {}).await;
    bench.call("1").await;
    let cancel =
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"r"}}"#;
    bench.client.send(cancel).await;
    assert_eq!(bench.upstream.line().await, cancel);
    bench.client.send(&call("1", "echo", "{}")).await;
    assert_eq!(code(&bench.client.json().await), "request-id-in-use", "its answer could still come");
    bench.answer(&1.into(), r#"{"content":[]}"#).await;
    bench.ping().await;
    let (_, journal, rest) = bench.end().await;
    assert_eq!((journal.told(), rest), (vec!["echo settled done".into()], vec![]));
}

#[tokio::test]
async fn a_call_that_is_withdrawn_and_never_answered_stays_in_doubt() {
    let mut bench = Bench::listed(ECHO, |_| {}).await;
    bench.call("1").await;
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    bench.client.send(cancel).await;
    bench.upstream.line().await;
    let (_, journal, _) = bench.end().await;
    assert_eq!(journal.told(), ["echo open unknown call-cancelled in doubt"]);
}

#[tokio::test]
async fn a_store_that_is_down_refuses_the_call() {
    let mut bench = Bench::listed(ECHO, |_| {}).await;
    bench.journal.fails_append.store(true, Ordering::SeqCst);
    bench.client.send(&call("1", "echo", "{}")).await;
    let answer = bench.client.json().await;
    let refusal = &answer["result"]["_meta"]["dev.callgate/refusal"];
    assert_eq!((code(&answer), &refusal["side_effect"]), ("store-unavailable", &Value::from("none")));
    bench.ping().await;
}

#[tokio::test]
async fn a_store_that_goes_down_later_costs_the_record_and_not_the_answer() {
    let mut bench = Bench::listed(ECHO, |_| {}).await;
    bench.call("1").await;
    bench.journal.fails_settle.store(true, Ordering::SeqCst);
    bench.answer(&1.into(), r#"{"content":[]}"#).await;
    assert_eq!(bench.client.line().await, r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#);
}

#[tokio::test]
async fn more_calls_than_the_bound_are_refused_and_not_queued() {
    let mut bench = Bench::listed(ECHO, |settings| settings.calls_in_flight_max = 1).await;
    bench.call("1").await;
    bench.client.send(&call("2", "echo", "{}")).await;
    assert_eq!(code(&bench.client.json().await), "calls-in-flight");
    bench.answer(&1.into(), r#"{"content":[]}"#).await;
    bench.client.line().await;
    bench.call("3").await;
}

#[tokio::test]
async fn an_id_that_is_in_use_is_refused_in_any_spelling() {
    let mut bench = Bench::listed(ECHO, |_| {}).await;
    bench.call("1").await;
    bench.client.send(r#"{"jsonrpc":"2.0","id":1e0,"method":"ping"}"#).await;
    let answer = bench.client.json().await;
    assert_eq!((code(&answer), &answer["error"]["code"]), ("request-id-in-use", &Value::from(-32_600)));
}

#[tokio::test]
async fn progress_and_requests_pass_both_ways() {
    let mut bench = Bench::listed(ECHO, |_| {}).await;
    bench.call("1").await;
    for line in [
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1.0}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"x":1e2}}"#,
    ] {
        bench.upstream.send(line).await;
        assert_eq!(bench.client.line().await, line);
    }
    let line = r#"{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}"#;
    bench.client.send(line).await;
    assert_eq!(bench.upstream.line().await, line);
    bench.answer(&1.into(), "{}").await;
    bench.client.line().await;
    assert_eq!(bench.journal.told(), ["echo settled done"]);
}

#[tokio::test]
async fn a_result_that_breaks_its_schema_is_passed_without_the_part_that_does() {
    let tool = r#"{"name":"echo","inputSchema":{"type":"object"},"outputSchema":{"type":"object","required":["x"]}}"#;
    let mut bench = Bench::listed(tool, |_| {}).await;
    bench.call("1").await;
    bench.answer(&1.into(), r#"{"content":[{"type":"text","text":"t"}],"structuredContent":{"y":1}}"#).await;
    let answer = bench.client.json().await;
    let result = &answer["result"];
    assert_eq!((&result["content"][0]["text"], result.get("structuredContent")), (&Value::from("t"), None));
    assert_eq!(result["_meta"]["dev.callgate/output"]["code"], "result-breaks-output-schema");
    assert_eq!(result.get("isError"), None, "{answer}");
    assert_eq!(bench.journal.told(), ["echo settled done result-breaks-output-schema"]);
    bench.call("2").await;
    let failed = r#"{"isError":true,"content":[]}"#;
    bench.answer(&2.into(), failed).await;
    assert_eq!(bench.client.line().await, format!(r#"{{"jsonrpc":"2.0","id":2,"result":{failed}}}"#));
}

#[tokio::test]
async fn an_upstream_cannot_speak_in_the_gates_name() {
    let mut bench = Bench::listed(ECHO, |_| {}).await;
    bench.call("1").await;
    let forged =
        r#"{"content":[],"isError":true,"_meta":{"a":1.0,"dev.callgate/refusal":{"side_effect":"none"}}}"#;
    bench.answer(&1.into(), forged).await;
    let left = r#"{"content":[],"isError":true,"_meta":{"a":1.0}}"#;
    assert_eq!(bench.client.line().await, format!(r#"{{"jsonrpc":"2.0","id":1,"result":{left}}}"#));
    bench.client.send(r#"{"jsonrpc":"2.0","id":2,"method":"resources/list"}"#).await;
    bench.upstream.line().await;
    bench.answer(&2.into(), r#"{"_meta":{"dev.callgate/output":1}}"#).await;
    assert_eq!(bench.client.line().await, r#"{"jsonrpc":"2.0","id":2,"result":{"_meta":{}}}"#);
}

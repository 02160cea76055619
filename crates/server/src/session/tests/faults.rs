//! What an upstream should not do, and what comes of it.

use super::*;

#[tokio::test]
async fn an_upstream_that_dies_leaves_its_calls_in_doubt_and_every_request_answered() {
    let mut bench = Bench::listed(ECHO, |_| {}).await;
    bench.call("1").await;
    bench.client.send(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#).await;
    bench.upstream.line().await;
    bench.upstream.close();
    let mut told: Vec<String> = Vec::new();
    for _ in 0..2 {
        let answer = bench.client.json().await;
        let refusal = &answer["result"]["_meta"]["dev.callgate/refusal"];
        told.push(format!("{} {} {}", answer["id"], code(&answer), refusal["side_effect"]));
    }
    told.sort();
    assert_eq!(told, [r#"1 upstream-gone "unknown""#, "2 upstream-gone null"]);
    for line in [call("3", "echo", "{}"), r#"{"jsonrpc":"2.0","id":3,"method":"tools/list"}"#.into()] {
        bench.client.send(&line).await;
        let answer = bench.client.json().await;
        assert_eq!(code(&answer), "upstream-gone");
        let stage = &answer["result"]["_meta"]["dev.callgate/refusal"]["stage"];
        assert!(stage.is_null() || stage == "resolve", "{answer}");
    }
    let (end, journal, _) = bench.end().await;
    assert!(end.upstream_died);
    assert_eq!(journal.told(), ["echo open unknown upstream-gone in doubt"]);
}

#[tokio::test]
async fn an_upstream_that_dies_before_a_call_has_left_has_not_seen_it() {
    let mut bench = Bench::listed(ECHO, |_| {}).await;
    bench.journal.hold(usize::MAX);
    bench.client.send(&call("1", "echo", "{}")).await;
    bench.ping().await;
    bench.upstream.close();
    bench.client.send(r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#).await;
    assert_eq!(code(&bench.client.json().await), "upstream-gone");
    bench.journal.release();
    let answer = bench.client.json().await;
    assert_eq!(code(&answer), "upstream-gone");
    assert_eq!(answer["result"]["_meta"]["dev.callgate/refusal"]["stage"], "dispatch");
    assert_eq!(bench.journal.told(), ["echo refused none upstream-gone"]);
}

#[tokio::test]
async fn a_silent_upstream_is_told_that_nobody_waits_and_its_late_answer_clears_the_doubt() {
    let mut bench = Bench::listed(ECHO, |settings| settings.call_timeout = Duration::from_millis(50)).await;
    bench.call("\"a\"").await;
    let answer = bench.client.json().await;
    assert_eq!((code(&answer), &answer["result"]["isError"]), ("upstream-timeout", &Value::from(true)));
    assert_eq!(bench.journal.told(), ["echo open unknown upstream-timeout in doubt"]);
    let cancel = bench.upstream.json().await;
    assert_eq!(
        (&cancel["method"], &cancel["params"]["requestId"]),
        (&"notifications/cancelled".into(), &"a".into())
    );
    bench.answer(&"a".into(), r#"{"content":[]}"#).await;
    bench.client.send(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#).await;
    assert_eq!(
        code(&bench.client.json().await),
        "upstream-timeout",
        "other requests have the same allowance"
    );
    let (_, journal, _) = bench.end().await;
    assert_eq!(journal.told(), ["echo settled done"]);
}

#[tokio::test]
async fn an_upstream_that_reads_nothing_and_ends_does_not_hold_up_the_client() {
    let mut bench = Bench::with_buffers(4 << 20, |_| {});
    let large = format!(r#"{{"jsonrpc":"2.0","method":"x","params":{{"x":"{}"}}}}"#, "y".repeat(3 << 20));
    for _ in 0..2 {
        bench.client.send(&large).await;
    }
    bench.client.send(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).await;
    bench.upstream.close();
    assert_eq!(code(&bench.client.json().await), "upstream-gone");
}

#[tokio::test]
async fn lines_that_nobody_waits_for_go_nowhere() {
    let mut bench = Bench::listed(ECHO, |_| {}).await;
    bench.call("1").await;
    for line in [
        "Server is listening",
        "",
        "[]",
        r#"{"jsonrpc":"2.0","id":99,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":"1","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}"#,
        r#"{"jsonrpc":"2.0","method":"x","params":{"a":1,"a":2}}"#,
    ] {
        bench.upstream.send(line).await;
    }
    bench.answer(&1.into(), "{}").await;
    bench.answer(&1.into(), "{}").await;
    assert_eq!(bench.client.line().await, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    bench.ping().await;
    assert_eq!(bench.journal.told(), ["echo settled done"]);
}

#[tokio::test]
async fn an_id_in_another_spelling_is_given_back_in_the_clients() {
    let mut bench = Bench::listed(ECHO, |_| {}).await;
    bench.call(r#""\u0061/1""#).await;
    bench.upstream.send(r#"{"jsonrpc":"2.0","id":"a\/1","result":{"x":"\u0061"}}"#).await;
    assert_eq!(bench.client.line().await, r#"{"jsonrpc":"2.0","id":"\u0061/1","result":{"x":"\u0061"}}"#);
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_leaves_its_call_in_doubt() {
    for answer in [
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"text":"\ud800"}]}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"a":1,"a":2}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":["#,
        r#"{"jsonrpc":"2.0","id":1,"result":"done"}"#,
    ] {
        let mut bench = Bench::listed(ECHO, |_| {}).await;
        bench.call("1").await;
        bench.upstream.send(answer).await;
        assert_eq!(code(&bench.client.json().await), "upstream-answer-unreadable", "{answer}");
        assert_eq!(
            bench.journal.told(),
            ["echo open unknown upstream-answer-unreadable in doubt"],
            "{answer}"
        );
    }
    let mut bench = Bench::start(|_| {});
    let ping = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
    bench.client.send(ping).await;
    // An answer that comes before the request has passed is an answer to nothing.
    assert_eq!(bench.upstream.line().await, ping);
    bench.upstream.send(r#"{"jsonrpc":"2.0","id":2,"result":{"a":1,"a":2}}"#).await;
    assert_eq!(code(&bench.client.json().await), "upstream-answer-unreadable");
}

#[tokio::test]
async fn an_error_of_the_protocol_passes_and_fails_the_call() {
    let mut bench = Bench::listed(ECHO, |_| {}).await;
    bench.call("1").await;
    let error = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no","data":1e0}}"#;
    bench.upstream.send(error).await;
    assert_eq!(bench.client.line().await, error);
    assert_eq!(bench.journal.told(), ["echo failed unknown upstream-error"]);
}

#[tokio::test]
async fn results_over_the_bound_are_dropped_and_the_tool_has_run() {
    for (bytes, told) in
        [(1_500, "echo settled done result-too-large"), (200_000, "echo settled done result-too-large")]
    {
        let mut bench = Bench::listed(ECHO, |settings| {
            settings.frames.result_bytes_max = 1_000;
            settings.frames.frame_bytes_max = 2_000;
        })
        .await;
        bench.call("1").await;
        bench.answer(&1.into(), &format!(r#"{{"content":[],"x":"{}"}}"#, "y".repeat(bytes))).await;
        let answer = bench.client.json().await;
        let refusal = &answer["result"]["_meta"]["dev.callgate/refusal"];
        assert_eq!((code(&answer), &refusal["side_effect"]), ("result-too-large", &Value::from("done")));
        assert_eq!(bench.journal.told(), [told]);
        bench.ping().await;
    }
}

#[tokio::test]
async fn a_request_of_the_upstreams_that_cannot_be_read_is_answered() {
    let mut bench = Bench::start(|_| {});
    bench.upstream.send(r#"{"jsonrpc":"2.0","id":5,"method":"roots/list","params":{"a":1,"a":2}}"#).await;
    let answer = bench.upstream.json().await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&5.into(), &Value::from(-32_600)));
}

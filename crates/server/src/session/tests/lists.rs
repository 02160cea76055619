//! `tools/list`.

use super::*;

const BAD: &str = r#"{"name":"bad","inputSchema":{"type":"object","maxlength":3}}"#;
const TWICE: &str = r#"{"name":"twice","inputSchema":{"type":"object","type":"object"}}"#;

#[tokio::test]
async fn all_pages_are_read_and_the_admitted_tools_come_as_received() {
    let mut bench = Bench::start(|_| {});
    bench.client.send(r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#).await;
    let first = bench.upstream.json().await;
    assert_eq!(first.get("params"), None);
    bench
        .answer(
            &first["id"],
            &format!(r#"{{"tools":[ {ECHO} ,{BAD}],"_meta":{{"a":1e2}},"nextCursor":"\u0032"}}"#),
        )
        .await;
    let second = bench.upstream.json().await;
    assert_eq!(second["params"]["cursor"], "2");
    let other = r#"{"inputSchema":{"type":"object"}, "execution":{"x":1.0},"name":"other"}"#;
    bench.answer(&second["id"], &format!(r#"{{"tools":[{TWICE},{other}],"ignored":1}}"#)).await;
    assert_eq!(
        bench.client.line().await,
        format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"tools":[{ECHO},{other}],"_meta":{{"a":1e2}}}}}}"#)
    );
    let mut told: Vec<String> = Vec::new();
    for (tool, code) in bench.journal.admissions() {
        told.push(code.map_or_else(|| tool.clone(), |code| format!("{tool} {code}")));
    }
    told.sort();
    assert_eq!(told, ["bad tool-input-schema-refused", "echo", "other", "twice tool-definition-malformed"]);
    bench.client.send(&call("8", "bad", "{}")).await;
    assert_eq!(code(&bench.client.json().await), "call-tool-quarantined");
}

#[tokio::test]
async fn a_cursor_of_the_clients_is_not_known() {
    let mut bench = Bench::start(|_| {});
    bench.client.send(r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"cursor":"x"}}"#).await;
    assert_eq!(bench.client.json().await["error"]["code"], -32_602);
    bench.ping().await;
}

#[tokio::test]
async fn the_upstreams_own_error_reaches_who_asked_and_calls_are_refused() {
    let mut bench = Bench::start(|_| {});
    bench.client.send(r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#).await;
    bench.client.send(&call("8", "echo", "{}")).await;
    let request = bench.upstream.json().await;
    // The call waits for the same list.
    let error = r#"{"code":-32601,"message":"no tools","data":1e0}"#;
    bench.upstream.send(&format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, request["id"])).await;
    let mut answers = [bench.client.line().await, bench.client.line().await];
    answers.sort_by_key(|answer| !answer.contains("\"id\":7"));
    assert_eq!(answers[0], format!(r#"{{"jsonrpc":"2.0","id":7,"error":{error}}}"#));
    assert!(answers[1].contains("upstream-list-failed"), "{}", answers[1]);
}

#[tokio::test]
async fn a_change_of_the_tools_is_listed_before_the_next_call() {
    let mut bench = Bench::listed(ECHO, |_| {}).await;
    let changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    bench.upstream.send(changed).await;
    assert_eq!(bench.client.line().await, changed);
    bench.client.send(&call("1", "new", "{}")).await;
    bench.list(r#"{"name":"new","inputSchema":{"type":"object"}}"#).await;
    assert_eq!(bench.upstream.line().await, call("1", "new", "{}"));
}

#[tokio::test]
async fn tools_that_change_with_every_list_do_not_hold_a_call_for_ever() {
    let mut bench = Bench::start(|_| {});
    bench.client.send(&call("1", "echo", "{}")).await;
    let mut lists = 0;
    let sent = loop {
        let line = bench.upstream.line().await;
        let request: Value = serde_json::from_str(&line).unwrap();
        if request["method"] != "tools/list" {
            break line;
        }
        lists += 1;
        bench.upstream.send(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#).await;
        bench.answer(&request["id"], &format!(r#"{{"tools":[{ECHO}]}}"#)).await;
    };
    assert_eq!((sent, lists), (call("1", "echo", "{}"), 4));
}

#[tokio::test]
async fn a_cursor_that_goes_in_a_circle_comes_to_an_end() {
    let mut bench = Bench::start(|settings| settings.frames.list_pages_max = 3);
    bench.client.send(r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#).await;
    for _ in 0..3 {
        let request = bench.upstream.json().await;
        bench.answer(&request["id"], r#"{"tools":[],"nextCursor":""}"#).await;
    }
    assert_eq!(code(&bench.client.json().await), "upstream-list-failed");
    bench.ping().await;
}

#[tokio::test]
async fn an_upstream_that_does_not_list_its_tools_is_given_up() {
    let mut bench = Bench::start(|settings| settings.call_timeout = Duration::from_millis(20));
    bench.client.send(&call("1", "echo", "{}")).await;
    assert_eq!(code(&bench.client.json().await), "upstream-timeout");
    bench.client.send(r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#).await;
    assert_eq!(code(&bench.client.json().await), "upstream-timeout");
    assert!(bench.journal.told().is_empty());
}

#[tokio::test]
async fn a_revision_that_is_not_spoken_here_is_not_agreed_on() {
    let mut bench = Bench::start(|_| {});
    let ask = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;
    for (version, agreed) in [("2025-06-18", true), ("2031-01-01", false)] {
        bench.client.send(ask).await;
        assert_eq!(bench.upstream.line().await, ask);
        let result = format!(r#"{{"protocolVersion":"{version}","capabilities":{{}}}}"#);
        bench.answer(&0.into(), &result).await;
        let answer = bench.client.line().await;
        if agreed {
            assert_eq!(answer, format!(r#"{{"jsonrpc":"2.0","id":0,"result":{result}}}"#));
        } else {
            assert!(answer.contains("protocol-revision-unsupported"), "{answer}");
        }
    }
}

#[tokio::test]
async fn nothing_but_a_new_try_passes_after_a_handshake_that_was_refused() {
    let ask = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;
    for refused in [r#"{"protocolVersion":"2031-01-01"}"#, r#"{"protocolVersion":5}"#, r#"{"a":1,"a":2}"#] {
        let mut bench = Bench::start(|_| {});
        bench.client.send(ask).await;
        bench.upstream.line().await;
        bench.answer(&0.into(), refused).await;
        bench.client.line().await;
        for request in [
            call("1", "echo", "{}"),
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#.to_owned(),
            r#"{"jsonrpc":"2.0","id":3,"method":"resources/list"}"#.to_owned(),
        ] {
            bench.client.send(&request).await;
            let answer = bench.client.json().await;
            assert_eq!(answer["error"]["data"]["code"], "protocol-revision-unsupported", "{answer}");
        }
        bench.ping().await;
        bench.client.send(&ask.replace(r#""id":0"#, r#""id":9"#)).await;
        bench.upstream.line().await;
        bench.answer(&9.into(), r#"{"protocolVersion":"2025-06-18"}"#).await;
        bench.client.line().await;
        bench.client.send(&call("4", "echo", "{}")).await;
        bench.list(ECHO).await;
        assert_eq!(bench.upstream.line().await, call("4", "echo", "{}"));
    }
}

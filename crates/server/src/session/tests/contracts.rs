//! Tools whose definition has changed since they were pinned.

use std::sync::atomic::Ordering;

use callgate_gateway::journal::{AcceptRequest, Command, Ledger as _, Records as _};
use callgate_wire::Timestamp;

use super::*;

const BEFORE: &str = r#"{"name":"echo","description":"Says it again.","inputSchema":{"type":"object"}}"#;
const NOW: &str =
    r#"{"name":"echo","description":"Says it again, and tells the author.","inputSchema":{"type":"object"}}"#;
const LATER: &str = r#"{"name":"echo","description":"Says nothing.","inputSchema":{"type":"object"}}"#;
const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

/// A session whose upstream has listed one definition and then another.
async fn changed(before: &str, now: &str) -> Bench {
    let mut bench = Bench::listed(before, |_| {}).await;
    list_again(&mut bench, now).await;
    bench
}

/// The upstream says that its tools are others, and lists these when the client asks.
async fn list_again(bench: &mut Bench, tools: &str) {
    bench.upstream.send(CHANGED).await;
    assert_eq!(bench.client.line().await, CHANGED);
    bench.client.send(r#"{"jsonrpc":"2.0","id":"again","method":"tools/list"}"#).await;
    bench.list(tools).await;
    bench.client.line().await;
}

async fn refused(bench: &mut Bench, id: &str, with: &str) {
    bench.client.send(&call(id, "echo", "{}")).await;
    assert_eq!(code(&bench.client.json().await), with);
}

/// What an operator does in a process of their own.
fn accept(bench: &Bench) {
    let pins = bench.journal.pinned(Some("fixture")).unwrap();
    let held = pins.into_iter().find_map(|record| record.pin.held).unwrap();
    let request = AcceptRequest {
        upstream: "fixture".to_owned(),
        tool: "echo".to_owned(),
        digest: held.digest,
        by: "operator:ada".to_owned(),
        at: Timestamp(1),
    };
    bench.journal.commit(Command::Accept(request)).unwrap();
}

#[tokio::test]
async fn a_changed_tool_is_neither_listed_nor_called_until_an_operator_accepts_it() {
    let other = r#"{"name":"other","inputSchema":{"type":"object"}}"#;
    let mut bench = Bench::listed(&format!("{BEFORE},{other}"), |_| {}).await;
    bench.upstream.send(CHANGED).await;
    bench.client.line().await;
    bench.client.send(r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#).await;
    bench.list(&format!("{NOW},{other}")).await;
    let listed = bench.client.line().await;
    assert_eq!(listed, format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"tools":[{other}]}}}}"#));
    refused(&mut bench, "8", "tool-contract-changed").await;
    accept(&bench);
    // No list in between: the call itself finds out, and so does the next one.
    bench.call("9").await;
    bench.call("10").await;
    bench.ping().await;
}

#[tokio::test]
async fn what_was_accepted_is_that_definition_and_no_later_one() {
    let mut bench = changed(BEFORE, NOW).await;
    accept(&bench);
    list_again(&mut bench, LATER).await;
    refused(&mut bench, "8", "tool-contract-changed").await;
    // The definition that is pinned by now comes back, and needs nobody.
    list_again(&mut bench, NOW).await;
    bench.call("9").await;
}

#[tokio::test]
async fn a_store_that_cannot_be_read_keeps_a_changed_tool_held() {
    let mut bench = changed(BEFORE, NOW).await;
    accept(&bench);
    bench.journal.fails_pinned.store(true, Ordering::SeqCst);
    refused(&mut bench, "8", "tool-contract-changed").await;
    bench.journal.fails_pinned.store(false, Ordering::SeqCst);
    bench.call("9").await;
}

/// RO-151 (d).
#[tokio::test]
async fn tools_that_could_not_be_compared_with_their_pins_are_not_called() {
    let mut bench = Bench::listed(BEFORE, |_| {}).await;
    bench.journal.fails_publish.store(true, Ordering::SeqCst);
    list_again(&mut bench, NOW).await;
    bench.client.send(&call("8", "echo", "{}")).await;
    bench.list(NOW).await;
    assert_eq!(code(&bench.client.json().await), "store-unavailable");
    // The store is back: the tools are listed and compared anew.
    bench.journal.fails_publish.store(false, Ordering::SeqCst);
    bench.client.send(&call("9", "echo", "{}")).await;
    bench.list(NOW).await;
    assert_eq!(code(&bench.client.json().await), "tool-contract-changed");
    bench.ping().await;
}

/// RO-143.
#[tokio::test]
async fn a_change_while_the_tools_are_listed_is_listed_again_and_none_is_lost() {
    let mut bench = Bench::start(|_| {});
    bench.client.send(&call("1", "echo", "{}")).await;
    let first = bench.upstream.json().await;
    bench.upstream.send(CHANGED).await;
    bench.upstream.send(CHANGED).await;
    bench.answer(&first["id"], r#"{"tools":[]}"#).await;
    bench.list(ECHO).await;
    assert_eq!(bench.upstream.line().await, call("1", "echo", "{}"));
    // One list after the last change is enough.
    bench.call("2").await;
    for _ in 0..2 {
        assert_eq!(bench.client.line().await, CHANGED);
    }
    bench.ping().await;
}

//! The example of an app that serves its own tools, run for real with a raw client, and what it leaves in its store.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "what is not there fails the test")]

use std::path::PathBuf;
use std::process::Command;

use callgate_gateway::journal::{IntentFilter, Records as _};
use callgate_store::SqliteJournal;
use callgate_testing::peer::{PATIENCE, Peer};
use callgate_wire::{IntentState, SideEffect};
use serde_json::Value;

/// Examples are built beside the tests.
fn example() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let example = test.parent().unwrap().parent().unwrap().join("examples").join("serve_notes");
    assert!(example.exists(), "build it first: cargo build -p callgate-server --example serve_notes");
    example
}

fn ask(peer: &mut Peer, id: u32, method: &str, params: &str) -> Value {
    peer.send(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)).unwrap();
    serde_json::from_slice(&peer.answer(&id.to_string(), PATIENCE).unwrap()).unwrap()
}

fn call(peer: &mut Peer, id: u32, arguments: &str) -> Value {
    ask(peer, id, "tools/call", &format!(r#"{{"name":"notes_add","arguments":{arguments}}}"#))
}

#[test]
fn an_app_of_twenty_lines_serves_its_tools_behind_the_gate() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("notes.sqlite");
    let mut peer = Peer::spawn(Command::new(example()).arg(&store)).unwrap();
    let hello: Value = serde_json::from_slice(&peer.initialize().unwrap()).unwrap();
    assert_eq!(hello["result"]["serverInfo"]["name"], "notes");

    let listed = ask(&mut peer, 1, "tools/list", "{}");
    let tool = &listed["result"]["tools"][0];
    assert_eq!(tool["name"], "notes_add");
    assert_eq!(tool["inputSchema"]["properties"]["stars"]["maximum"], 5);

    let good = call(&mut peer, 2, r#"{ "text": "milk", "stars": 2 }"#);
    assert_eq!(good["result"]["content"][0]["text"], r#"{"count":1}"#);
    for (id, bad, word) in [
        (3, r#"{"stars":2}"#, "text"),
        (4, r#"{"text":"a","stars":9}"#, "stars"),
        (5, r#"{"text":"a","colour":"red"}"#, "colour"),
        (6, r#"{"text":"a","text":"b"}"#, "once"),
    ] {
        let refused = call(&mut peer, id, bad);
        assert_eq!(refused["result"]["isError"], true, "{bad}");
        let text = refused["result"].to_string();
        assert!(text.contains(word), "{text}");
    }
    let unknown = ask(&mut peer, 7, "tools/call", r#"{"name":"notes_drop","arguments":{}}"#);
    assert_eq!(unknown["error"]["code"], -32_602);
    many_at_once(&mut peer);
    peer.close();
    assert!(peer.wait(PATIENCE).unwrap().success(), "{}", peer.stderr());
    recorded(&store);
}

/// Each gets its own answer.
fn many_at_once(peer: &mut Peer) {
    for id in 100..130 {
        let params = r#"{"name":"notes_add","arguments":{"text":"n"}}"#;
        peer.send(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#))
            .unwrap();
    }
    let answers = (100..130)
        .map(|id| serde_json::from_slice::<Value>(&peer.answer(&id.to_string(), PATIENCE).unwrap()));
    let mut counts: Vec<_> =
        answers.map(|answer| answer.unwrap()["result"]["content"][0]["text"].to_string()).collect();
    counts.sort();
    counts.dedup();
    assert_eq!(counts.len(), 30);
}

fn recorded(store: &std::path::Path) {
    let (incarnation, now) = (callgate_server::fresh_incarnation(), callgate_server::now());
    let journal = SqliteJournal::open_gate(store, incarnation, std::process::id(), now).unwrap();
    let intents = journal.list(&IntentFilter::last(100)).unwrap();
    assert_eq!(intents.len(), 31, "what was refused left no intent");
    assert!(intents.iter().all(|intent| {
        let settlement = intent.settlement.as_ref().unwrap();
        (settlement.state, settlement.side_effect) == (IntentState::Settled, SideEffect::Done)
    }));
    let first = journal.show(intents[30].id.as_str()).unwrap().unwrap();
    assert_eq!(&*first.arguments, br#"{ "text": "milk", "stars": 2 }"#, "the exact bytes of the call");
}

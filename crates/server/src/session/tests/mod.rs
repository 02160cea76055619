//! A whole session between a client and an upstream that the test plays itself, over streams in memory.
//!
//! | file | holds |
//! |---|---|
//! | `journal` | a journal in memory that can be held up and can fail |
//! | `calls` | calls: before, during and after their dispatch |
//! | `lists` | `tools/list` |
//! | `contracts` | tools whose definition has changed |
//! | `faults` | what an upstream should not do |
//! | `ends` | back-pressure, and how a session ends |

mod calls;
mod contracts;
mod ends;
mod faults;
mod journal;
mod lists;

use std::sync::Arc;
use std::time::Duration;

use callgate_gateway::catalog::AdmissionSettings;
use callgate_schema::Profile;
use callgate_wire::Principal;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

use self::journal::MemoryJournal;
use super::{End, Peers, SessionSettings, run};
use crate::stop::Stop;

/// Longer than anything here takes; what exceeds it hangs.
const PATIENCE: Duration = Duration::from_secs(20);

/// One end of a peer's two streams.
struct Peer {
    reader: BufReader<DuplexStream>,
    writer: Option<DuplexStream>,
}

impl Peer {
    fn pair(buffer: usize) -> (Peer, DuplexStream, DuplexStream) {
        let (ours_in, theirs_out) = tokio::io::duplex(buffer);
        let (theirs_in, ours_out) = tokio::io::duplex(buffer);
        (Peer { reader: BufReader::new(ours_in), writer: Some(ours_out) }, theirs_in, theirs_out)
    }

    async fn send(&mut self, line: &str) {
        let writer = self.writer.as_mut().unwrap();
        writer.write_all(line.as_bytes()).await.unwrap();
        writer.write_all(b"\n").await.unwrap();
    }

    /// The next line, or `None` at the end.
    async fn next(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.reader.read_line(&mut line);
        let count = tokio::time::timeout(PATIENCE, read).await.expect("a line in time").unwrap();
        (count > 0).then(|| line.strip_suffix('\n').unwrap_or(&line).to_owned())
    }

    async fn line(&mut self) -> String {
        self.next().await.expect("a line, not the end")
    }

    async fn json(&mut self) -> Value {
        let line = self.line().await;
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    fn close(&mut self) {
        self.writer = None;
    }
}

/// A session under way.
struct Bench {
    client: Peer,
    upstream: Peer,
    journal: Arc<MemoryJournal>,
    stop: watch::Sender<Stop>,
    hang_up: oneshot::Sender<()>,
    session: JoinHandle<End>,
}

const ECHO: &str = r#"{"name":"echo","inputSchema":{"type":"object","properties":{"a":{"type":"number"}}}}"#;

impl Bench {
    fn start(change: impl FnOnce(&mut SessionSettings)) -> Bench {
        Bench::with_buffers(64 << 10, change)
    }

    fn with_buffers(buffer: usize, change: impl FnOnce(&mut SessionSettings)) -> Bench {
        let admission = AdmissionSettings::new(Profile::Standard);
        let mut settings = SessionSettings::new("fixture", Principal::local("ada"), admission);
        change(&mut settings);
        let (client, from_client, to_client) = Peer::pair(buffer);
        let (upstream, from_upstream, to_upstream) = Peer::pair(buffer);
        let (hang_up, hung_up) = oneshot::channel();
        let peers = Peers {
            from_client: Box::new(from_client),
            client_hang_up: crate::hangup::of(hung_up),
            to_client: Box::new(to_client),
            from_upstream: Box::new(from_upstream),
            to_upstream: Box::new(to_upstream),
        };
        let journal = Arc::new(MemoryJournal::default());
        let (stop, stops) = watch::channel(Stop::No);
        let session = tokio::spawn(run(settings, Arc::<MemoryJournal>::clone(&journal), peers, stops));
        Bench { client, upstream, journal, stop, hang_up, session }
    }

    /// A session whose upstream has listed these tools.
    async fn listed(tools: &str, change: impl FnOnce(&mut SessionSettings)) -> Bench {
        let mut bench = Bench::start(change);
        bench.client.send(r#"{"jsonrpc":"2.0","id":"list","method":"tools/list"}"#).await;
        bench.list(tools).await;
        bench.client.line().await;
        bench
    }

    /// Plays the upstream for the gate's own `tools/list`.
    async fn list(&mut self, tools: &str) {
        let request = self.upstream.json().await;
        assert_eq!(request["method"], "tools/list", "{request}");
        self.answer(&request["id"], &format!(r#"{{"tools":[{tools}]}}"#)).await;
    }

    async fn answer(&mut self, id: &Value, result: &str) {
        self.upstream.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)).await;
    }

    /// Sends a call and plays the upstream up to its arrival, byte for byte.
    async fn call(&mut self, id: &str) {
        let frame = call(id, "echo", "{}");
        self.client.send(&frame).await;
        assert_eq!(self.upstream.line().await, frame);
    }

    /// Shows that everything sent before is dealt with, and that nothing else has come: a `ping` goes through both.
    async fn ping(&mut self) {
        let ping = r#"{"jsonrpc":"2.0","id":"ping","method":"ping"}"#;
        self.client.send(ping).await;
        assert_eq!(self.upstream.line().await, ping);
        self.answer(&"ping".into(), "{}").await;
        assert_eq!(self.client.line().await, r#"{"jsonrpc":"2.0","id":"ping","result":{}}"#);
    }

    /// Ends the session as a client does, and plays an upstream that ends when its input does.
    async fn end(mut self) -> (End, Arc<MemoryJournal>, Vec<String>) {
        self.client.close();
        let mut rest = Vec::new();
        while let Some(line) = self.client.next().await {
            rest.push(line);
        }
        let end = tokio::time::timeout(PATIENCE, self.session).await.expect("an end in time").unwrap();
        (end, self.journal, rest)
    }
}

fn call(id: &str, tool: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
    )
}

/// The code of a refusal, or of a JSON-RPC error.
fn code(answer: &Value) -> &str {
    let refusal = &answer["result"]["_meta"]["dev.callgate/refusal"]["code"];
    refusal.as_str().or(answer["error"]["data"]["code"].as_str()).unwrap_or("none")
}

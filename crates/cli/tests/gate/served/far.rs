//! Tool servers over HTTP that are written down answer by answer, for what no gate does as a server: refusing, cutting
//! streams, ending lines in other ways.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::client::{Client, Transport};
use crate::BINARY;

/// How long anything here may take, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// A request as it came.
struct Asked {
    verb: String,
    last_event: Option<String>,
    body: Value,
    /// How often this method was asked for before.
    before: usize,
}

/// A server whose answers a function gives. A stream that is to stay open ends with a comment that is never finished.
struct Far {
    address: String,
    seen: Arc<(Mutex<Vec<String>>, Condvar)>,
}

const OPEN: &str = "\n:";

impl Far {
    fn start(answer: impl Fn(&Asked) -> String + Send + Sync + 'static) -> anyhow::Result<Far> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?.to_string();
        let seen = Arc::new((Mutex::new(Vec::new()), Condvar::new()));
        let (answer, noted) = (Arc::new(answer), Arc::clone(&seen));
        std::thread::spawn(move || {
            for connection in listener.incoming().map_while(Result::ok) {
                let (answer, noted) = (Arc::clone(&answer), Arc::clone(&noted));
                std::thread::spawn(move || serve(&connection, &*answer, &noted));
            }
        });
        Ok(Far { address, seen })
    }

    /// Waits until this method was asked for so often.
    fn wait_for(&self, method: &str, times: usize) -> anyhow::Result<()> {
        let (seen, more) = &*self.seen;
        let seen = seen.lock().expect("nobody panics with it");
        let count = |seen: &[String]| seen.iter().filter(|other| *other == method).count();
        let (seen, _) =
            more.wait_timeout_while(seen, PATIENCE, |seen| count(seen) < times).expect("as above");
        ensure!(count(&seen) >= times, "`{method}` was not asked for {times} times: {seen:?}");
        Ok(())
    }
}

fn serve(
    connection: &TcpStream,
    answer: &(impl Fn(&Asked) -> String + ?Sized),
    noted: &(Mutex<Vec<String>>, Condvar),
) -> Option<()> {
    let mut reader = BufReader::new(connection);
    let (mut head, mut length, mut last_event) = (String::new(), 0, None);
    reader.read_line(&mut head).ok()?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        match line.trim_end().split_once(": ") {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.parse().ok()?;
            }
            Some((name, value)) if name.eq_ignore_ascii_case("last-event-id") => {
                last_event = Some(value.to_owned());
            }
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let verb = head.split(' ').next()?.to_owned();
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let method = body["method"].as_str().unwrap_or(&verb).to_owned();
    let mut seen = noted.0.lock().ok()?;
    let before = seen.iter().filter(|other| **other == method).count();
    seen.push(method);
    drop(seen);
    noted.1.notify_all();
    let text = answer(&Asked { verb, last_event, body, before });
    let mut writer = connection;
    writer.write_all(text.as_bytes()).ok()?;
    if text.ends_with(OPEN) {
        // Until the other side closes it.
        let _ = reader.read(&mut [0]);
    }
    Some(())
}

fn whole(status: u16, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status} Told\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
         Connection: close\r\n{headers}\r\n{body}"
    )
}

fn result(asked: &Asked, result: &Value) -> String {
    whole(200, "", &json!({"jsonrpc": "2.0", "id": asked.body["id"], "result": result}).to_string())
}

fn error(asked: &Asked, status: u16, error: &Value) -> String {
    whole(status, "", &json!({"jsonrpc": "2.0", "id": asked.body["id"], "error": error}).to_string())
}

fn stream(events: &str) -> String {
    format!("HTTP/1.1 200 Told\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n{events}")
}

fn gate(far: &Far, folder: &std::path::Path) -> anyhow::Result<Client> {
    let config = folder.join("gate.toml");
    std::fs::write(
        &config,
        format!("[[upstreams]]\nname = \"far\"\nurl = \"http://{}/mcp\"\n", far.address),
    )?;
    let mut command = Command::new(BINARY);
    command.args(["serve", "--store"]).arg(folder.join("store.sqlite")).arg("--config").arg(config);
    Client::start(command, Transport::Http)
}

fn tool(name: &str, mark: &str) -> Value {
    let property = json!({"type": "string", "x-mcp-header": mark});
    json!({"name": name, "inputSchema": {"type": "object", "properties": {"a": property}}})
}

/// It refuses `server/discover` once, as only a newer server does; it lists a tool that marks what no header can be made of;
/// and it says in lines that end with CR that its tools have changed, on a stream that it ends.
pub(super) fn a_newer_server() -> anyhow::Result<()> {
    let far = Far::start(|asked| match asked.body["method"].as_str() {
        Some("server/discover") if asked.before == 0 => {
            let data = json!({"supported": ["2026-07-28"], "requested": "another"});
            error(asked, 400, &json!({"code": -32022, "message": "not now", "data": data}))
        }
        Some("server/discover") => {
            let capabilities = json!({"tools": {"listChanged": true}});
            result(asked, &json!({"supportedVersions": ["2026-07-28"], "capabilities": capabilities}))
        }
        Some("subscriptions/listen") => {
            let told = |what: &str| json!({"jsonrpc": "2.0", "method": format!("notifications/{what}")});
            let acknowledged = format!("event: message\rdata: {}\r\r", told("subscriptions/acknowledged"));
            let changed = format!("data: {}\r\r\n", told("tools/list_changed"));
            // The first stream ends, and what changes before the second one is there is not told.
            let rest = if asked.before == 0 { changed.as_str() } else { OPEN };
            stream(&format!("{acknowledged}{rest}"))
        }
        Some("tools/list") => {
            let name = ["old", "newer"].get(asked.before).unwrap_or(&"newest");
            result(asked, &json!({"tools": [tool(name, "Good"), tool("bad", "not good")]}))
        }
        _ => error(asked, 404, &json!({"code": -32601, "message": "no"})),
    })?;
    let folder = tempfile::tempdir()?;
    let mut gate = gate(&far, folder.path())?;
    far.wait_for("tools/list", 3)?;
    let wanted = json!({"result": {"tools": [tool("newest", "Good")]}});
    gate.step(1, &json!({"modern": {"method": "tools/list", "params": {}}, "expect": wanted}))?;
    let log = gate.end()?;
    ensure!(log.contains("/properties/a/x-mcp-header"), "it is not said why a tool is left out: {log}");
    let began = far.seen.0.lock().expect("nobody panics with it").iter().any(|method| method == "initialize");
    ensure!(!began, "it is asked to begin a session");
    Ok(())
}

/// It cuts the stream of a call before the answer, which comes on another one that begins after the last event.
pub(super) fn an_older_server() -> anyhow::Result<()> {
    let call = Mutex::new(Value::Null);
    let far = Far::start(move |asked| match (asked.body["method"].as_str(), &asked.last_event) {
        (Some("initialize"), _) => {
            let hello =
                json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {}});
            result(asked, &hello).replacen("\r\n", "\r\nMcp-Session-Id: s\r\n", 1)
        }
        (Some("tools/list"), _) => {
            result(asked, &json!({"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}))
        }
        (Some("tools/call"), _) => {
            *call.lock().expect("nobody panics with it") = asked.body["id"].clone();
            stream("id: 7\nretry: 1\ndata:\n\nid: 8\ndata: {\"cut")
        }
        (None, Some(last)) if asked.verb == "GET" && last == "7" => {
            let id = call.lock().expect("as above").clone();
            let content = json!([{"type": "text", "text": "late"}]);
            let answer = json!({"jsonrpc": "2.0", "id": id, "result": {"content": content}});
            stream(&format!("id: 8\ndata: {answer}\n\n"))
        }
        (Some("notifications/initialized"), _) => whole(202, "", ""),
        (Some(_), _) => error(asked, 404, &json!({"code": -32601, "message": "no"})),
        (None, _) => whole(405, "", ""),
    })?;
    let folder = tempfile::tempdir()?;
    let mut gate = gate(&far, folder.path())?;
    let mark = json!({"dev.callgate/call": {"state": "settled", "side_effect": "done"}});
    let wanted = json!({"result": {"content": [{"text": "late"}], "_meta": mark}});
    let request = json!({"method": "tools/call", "params": {"name": "t", "arguments": {}}});
    gate.step(1, &json!({"modern": request, "expect": wanted})).context("the call")?;
    gate.end()?;
    let (seen, _) = &*far.seen;
    let calls = seen.lock().expect("as above").iter().filter(|method| *method == "tools/call").count();
    ensure!(calls == 1, "it was called {calls} times");
    Ok(())
}

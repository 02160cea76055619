//! A tool server whose answers are changed: it understands every request, and then says something else than it should.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;
use serde_json::{Value, json};

use super::super::lot::Lot;
use super::mutate::{self, pick};

/// The first argument with which a program is such a server, see [`run_if_asked`].
pub(super) const ASKED: &str = "--as-garbler";

/// Of so many requests that begin a connection or list the tools, one is answered wrongly: else no call would ever come.
const FIRST_WRONG_OF: u64 = 6;
/// Of so many answers, one is the server's last.
const LAST_OF: u64 = 200;

/// What such a server is called for.
const TOOLS: &str = r#"[{"name":"odd","inputSchema":{"type":"object"}}]"#;

/// Statements that nobody asked for; `@ID@` is the id of the request that is open.
const ASIDES: &[&str] = &[
    r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":@ID@,"progress":1}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"nobody's","progress":1e999}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":@ID@}}"#,
    r#"{"jsonrpc":"2.0","id":@ID@,"method":"ping"}"#,
    r#"{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}"#,
    r#"{"jsonrpc":"2.0","id":"r","method":"roots/list"}"#,
    r#"{"jsonrpc":"2.0","id":"s","method":"sampling/createMessage","params":{}}"#,
    r#"{"jsonrpc":"2.0","id":"nobody's","result":{}}"#,
    r#"{"jsonrpc":"2.0","id":@ID@,"error":{"code":-32603,"message":"x"}}"#,
    r#"{"jsonrpc":"2.0","id":@ID@,"error":{"code":1e99,"message":[]}}"#,
    r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}"#,
    r#"{"jsonrpc":"2.0","id":@ID@,"result":{"resultType":"input_required","inputRequests":{},"requestState":"x"}}"#,
    r#"{"jsonrpc":"2.0","id":@ID@,"result":{"content":"x","isError":"no","structuredContent":[1]}}"#,
    "a line that is no JSON",
    "",
    "[]",
    "\u{0}",
];

/// Makes any program such a server over standard input and output when its first argument is [`ASKED`]: then this does
/// not return.
pub fn run_if_asked() {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().is_some_and(|first| first == ASKED) {
        let seed = arguments.next().and_then(|seed| seed.parse().ok()).unwrap_or(0);
        std::process::exit(i32::from(serve_lines(seed).is_err()));
    }
}

fn serve_lines(seed: u64) -> anyhow::Result<()> {
    let mut lot = Lot::new(seed ^ u64::from(std::process::id()));
    let mut output = std::io::stdout();
    for line in std::io::stdin().lock().lines() {
        let Ok(request) = serde_json::from_str::<Value>(&line?) else { continue };
        let Some(said) = said(&request, &mut lot) else { continue };
        output.write_all(&said.concat())?;
        output.flush()?;
        if lot.up_to(LAST_OF - 1) == 0 {
            break;
        }
    }
    Ok(())
}

/// Serves such answers over HTTP from a thread, as long as the program lives; gives the address.
pub(super) fn serve_http(seed: u64) -> anyhow::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?.to_string();
    let lot = Arc::new(Mutex::new(Lot::new(seed)));
    std::thread::spawn(move || {
        for connection in listener.incoming().map_while(Result::ok) {
            let lot = Arc::clone(&lot);
            // A connection that the gate has closed is no fault.
            std::thread::spawn(move || serve_connection(&connection, &lot));
        }
    });
    Ok(address)
}

fn serve_connection(connection: &TcpStream, lot: &Mutex<Lot>) -> anyhow::Result<()> {
    let mut reader = BufReader::new(connection);
    let mut length = 0;
    let mut first = String::new();
    reader.read_line(&mut first)?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        match line.trim_end().split_once(": ") {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => length = value.parse()?,
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let response = response(&request, &mut lot.lock().unwrap_or_else(PoisonError::into_inner));
    let mut writer = connection;
    writer.write_all(&response).context("the gate does not read")
}

/// What is said to a request, in lines; nothing to what is none.
fn said(request: &Value, lot: &mut Lot) -> Option<Vec<Vec<u8>>> {
    let id = request.get("id")?.to_string();
    let result = result(request)?;
    let answer = match result {
        Ok(result) => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
        Err(code) => format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"no"}}}}"#),
    };
    let is_first = request.get("method").and_then(Value::as_str) != Some("tools/call");
    if is_first && lot.up_to(FIRST_WRONG_OF - 1) > 0 {
        return Some(vec![answer.into_bytes(), b"\n".to_vec()]);
    }
    let mut lines = Vec::new();
    for _ in 0..lot.up_to(2) {
        lines.push(pick(ASIDES, lot).replace("@ID@", &id).into_bytes());
    }
    match lot.up_to(7) {
        0 | 1 => lines.push(answer.into_bytes()),
        2 => lines.extend([answer.clone().into_bytes(), answer.into_bytes()]),
        // Nothing at all: the gate waits as long as it waits for any server.
        3 if lot.up_to(9) == 0 => {}
        _ => lines.push(mutate::mutated(answer.into_bytes(), lot)),
    }
    Some(lines.into_iter().flat_map(|line| [line, b"\n".to_vec()]).collect())
}

/// The result of a server of the older era that means well, or the code of its error.
fn result(request: &Value) -> Option<Result<Value, i64>> {
    Some(Ok(match request.get("method")?.as_str()? {
        "initialize" => json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {"listChanged": true}},
            "serverInfo": {"name": "garbler", "version": "0"},
        }),
        "tools/list" => json!({"tools": serde_json::from_str::<Value>(TOOLS).ok()?}),
        "tools/call" => {
            let arguments = request.pointer("/params/arguments").map(Value::to_string).unwrap_or_default();
            json!({"content": [{"type": "text", "text": arguments}], "structuredContent": {"a": [1, 2.5, null]}})
        }
        "ping" => json!({}),
        _ => return Some(Err(-32601)),
    }))
}

/// The same over HTTP: as JSON or as events, with a head that may be wrong, too.
fn response(request: &Value, lot: &mut Lot) -> Vec<u8> {
    let Some(said) = said(request, lot) else {
        let status = if request.get("method").is_some() { "202 Accepted" } else { "405 Method Not Allowed" };
        return format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").into_bytes();
    };
    let is_call = request.get("method").and_then(Value::as_str) == Some("tools/call");
    if !is_call || lot.up_to(1) == 0 {
        let only = said.concat();
        let length = only.len();
        let wrong = if is_call && lot.up_to(4) == 0 { lot.up_to(40) } else { 0 };
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nMcp-Session-Id: s\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            u64::try_from(length).unwrap_or(0) + wrong
        );
        let whole = [head.into_bytes(), only].concat();
        return if is_call && lot.up_to(4) == 0 { mutate::mutated(whole, lot) } else { whole };
    }
    let mut events =
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n".to_vec();
    for line in said.iter().filter(|line| line.as_slice() != b"\n") {
        events.extend(
            pick(
                &["", "id: 7\n", "event: message\n", ": aside\n", "retry: 0\n", "data: \n", "data\n\n"],
                lot,
            )
            .bytes(),
        );
        events.extend(b"data: ");
        events.extend(line);
        events.extend(pick(&["\n\n", "\r\n\r\n", "\r\r", "\n", ""], lot).bytes());
    }
    if lot.up_to(2) == 0 { mutate::mutated(events, lot) } else { events }
}

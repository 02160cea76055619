//! The tool server of the measurement: as little work a call as a server over HTTP can do, in both eras, in a process of its
//! own. The path says how many tools it has: `/40/mcp` forty.

use std::io::Write as _;

use anyhow::Context as _;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// Schemas of the tools, in turns: the middle one is like the median tool of public servers.
const SCHEMAS: &[&str] = &[
    include_str!("../../cases/flat3/schema.json"),
    include_str!("../../cases/tree/schema.json"),
    include_str!("../../cases/todo/schema.json"),
];

/// Serves until the process is ended; prints the port.
pub(super) async fn serve() -> anyhow::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?.port());
    std::io::stdout().flush()?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        // A connection that its client has closed is no fault.
        tokio::spawn(async move { connection(stream).await });
    }
}

async fn connection(mut stream: TcpStream) -> anyhow::Result<()> {
    let mut bytes = Vec::new();
    loop {
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n").map(|at| at + 4) else {
            if stream.read_buf(&mut bytes).await? == 0 {
                return Ok(());
            }
            continue;
        };
        let head = String::from_utf8_lossy(bytes.get(..end).context("a head")?).to_ascii_lowercase();
        let length: usize = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length:"))
            .and_then(|length| length.trim().parse().ok())
            .unwrap_or(0);
        while bytes.len() < end + length {
            if stream.read_buf(&mut bytes).await? == 0 {
                return Ok(());
            }
        }
        let body = bytes.get(end..end + length).context("a body")?;
        let tools = head.split('/').nth(1).and_then(|part| part.parse().ok()).unwrap_or(0);
        let response = respond(&head, body, tools);
        stream.write_all(response.as_bytes()).await?;
        bytes.drain(..end + length);
    }
}

fn respond(head: &str, body: &[u8], tools: usize) -> String {
    if !head.starts_with("post") {
        return "HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n".to_owned();
    }
    let request: Value = serde_json::from_slice(body).unwrap_or_default();
    let (Some(method), Some(id)) = (request.get("method").and_then(Value::as_str), request.get("id")) else {
        return "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n".to_owned();
    };
    let capabilities = json!({"tools": {}});
    let info = json!({"name": "bench", "version": "0"});
    let result = match method {
        "tools/call" => json!({"content": [{"type": "text", "text": "done"}], "resultType": "complete"}).to_string(),
        "server/discover" => json!({
            "supportedVersions": ["2026-07-28"], "capabilities": capabilities, "serverInfo": info, "resultType": "complete",
            "ttlMs": 60_000, "cacheScope": "private",
        })
        .to_string(),
        "initialize" => {
            json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": info}).to_string()
        }
        "tools/list" => listed(tools),
        _ => {
            let error = json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no such method"}});
            return whole("404 Not Found", &error.to_string());
        }
    };
    whole("200 OK", &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#))
}

fn listed(count: usize) -> String {
    let echo = r#"{"name":"echo","description":"Does nothing.","inputSchema":{"type":"object","properties":{"text":{"type":"string"},"count":{"type":"integer","minimum":0}},"required":["text"],"additionalProperties":false}}"#.to_owned();
    let more = (1..count).zip(SCHEMAS.iter().cycle()).map(|(number, schema)| {
        let text =
            "What it does, in as many words as tools usually have for a model that has to choose among them.";
        format!(r#"{{"name":"tool_{number}","description":"{text}","inputSchema":{schema}}}"#)
    });
    let tools: Vec<String> = std::iter::once(echo).chain(more).collect();
    let rest = r#""resultType":"complete","ttlMs":60000,"cacheScope":"private""#;
    format!(r#"{{"tools":[{}],{rest}}}"#, tools.join(","))
}

fn whole(status: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

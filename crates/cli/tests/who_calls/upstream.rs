//! A tool server over HTTP that writes down all that reaches it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// Serves one tool, `echo`. Gives its address and what it has read so far. It ends with the test.
pub(crate) fn serve() -> (String, Arc<Mutex<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
    let read = Arc::new(Mutex::new(String::new()));
    let kept = Arc::clone(&read);
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let kept = Arc::clone(&kept);
            std::thread::spawn(move || answer(&stream, &kept));
        }
    });
    (url, read)
}

fn answer(mut stream: &TcpStream, kept: &Mutex<String>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while reader.read_line(&mut head).ok()? > 2 {}
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("content-length").then(|| value.parse().ok())?
    });
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    *kept.lock().ok()? += &(head + &String::from_utf8_lossy(&body) + "\n");
    let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
    let result = match asked["method"].as_str() {
        Some("server/discover") => json!({"resultType": "complete", "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "private"}),
        Some("tools/list") => json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "private",
            "tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}),
        Some("tools/call") => {
            json!({"resultType": "complete", "content": [{"type": "text", "text": "done"}]})
        }
        _ => Value::Null,
    };
    let (status, body) = if result.is_null() {
        ("404 Not Found", String::new())
    } else {
        ("200 OK", json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}).to_string())
    };
    let head = format!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\nConnection: close\r\n");
    stream.write_all(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes()).ok()
}

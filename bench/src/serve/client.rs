//! The load generator: clients of the newer era that write bytes and find the end of the answer, and do nothing else.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(30);
const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

/// One client on a connection of its own, which it keeps.
pub(super) struct Client {
    stream: TcpStream,
    path: String,
    tool: String,
    bytes: Vec<u8>,
    number: u64,
}

impl Client {
    pub(super) async fn connect(port: u16, path: &str, tool: &str) -> anyhow::Result<Client> {
        let stream = TcpStream::connect(("127.0.0.1", port)).await?;
        stream.set_nodelay(true)?;
        Ok(Client { stream, path: path.to_owned(), tool: tool.to_owned(), bytes: Vec::new(), number: 0 })
    }

    /// One call; its answer has to be a result that is no failure.
    pub(super) async fn call(&mut self) -> anyhow::Result<Duration> {
        self.number += 1;
        let (number, tool) = (self.number, &self.tool);
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":{{"name":"{tool}","arguments":{{"text":"a line of the length that arguments have","count":{number}}},{META}}}}}"#
        );
        let request = self.request("tools/call", &format!("Mcp-Name: {tool}\r\n"), &body);
        let begun = Instant::now();
        self.stream.write_all(request.as_bytes()).await?;
        tokio::time::timeout(PATIENCE, self.read()).await.context("no answer in time")??;
        let taken = begun.elapsed();
        let good = memchr_in(&self.bytes, b"\"result\"") && !memchr_in(&self.bytes, b"\"isError\":true");
        ensure!(good, "another answer: {}", String::from_utf8_lossy(&self.bytes));
        Ok(taken)
    }

    /// How many tools are listed.
    pub(super) async fn tools(&mut self) -> anyhow::Result<usize> {
        let body = format!(r#"{{"jsonrpc":"2.0","id":"list","method":"tools/list","params":{{{META}}}}}"#);
        let request = self.request("tools/list", "", &body);
        self.stream.write_all(request.as_bytes()).await?;
        tokio::time::timeout(PATIENCE, self.read()).await.context("no list in time")??;
        Ok(self.bytes.windows(14).filter(|window| window == b"\"inputSchema\":").count())
    }

    /// Opens a stream of changes and waits for its first event.
    pub(super) async fn listen(&mut self) -> anyhow::Result<()> {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":"listen","method":"subscriptions/listen","params":{{"notifications":{{"toolsListChanged":true}},{META}}}}}"#
        );
        let request = self.request("subscriptions/listen", "", &body);
        self.stream.write_all(request.as_bytes()).await?;
        self.bytes.clear();
        while !memchr_in(&self.bytes, b"acknowledged") {
            let read = tokio::time::timeout(PATIENCE, self.stream.read_buf(&mut self.bytes)).await;
            ensure!(
                read.context("no event in time")?? > 0,
                "closed: {}",
                String::from_utf8_lossy(&self.bytes)
            );
        }
        Ok(())
    }

    /// Whether the connection is open still; what came meanwhile is passed over.
    pub(super) fn is_open(&self) -> bool {
        let mut part = [0; 4_096];
        loop {
            match self.stream.try_read(&mut part) {
                Ok(0) => return false,
                Ok(_) => {}
                Err(error) => return error.kind() == std::io::ErrorKind::WouldBlock,
            }
        }
    }

    fn request(&self, method: &str, more: &str, body: &str) -> String {
        format!(
            "POST {} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
             Mcp-Method: {method}\r\n{more}Content-Length: {}\r\n\r\n{body}",
            self.path,
            body.len()
        )
    }

    /// Reads one answer: by its length, or in chunks up to the last.
    async fn read(&mut self) -> anyhow::Result<()> {
        self.bytes.clear();
        loop {
            let read = self.stream.read_buf(&mut self.bytes).await?;
            ensure!(read > 0, "the connection is closed: {}", String::from_utf8_lossy(&self.bytes));
            if self.is_whole() {
                return Ok(());
            }
        }
    }

    fn is_whole(&self) -> bool {
        let Some(end) = self.bytes.windows(4).position(|window| window == b"\r\n\r\n") else { return false };
        let head = String::from_utf8_lossy(self.bytes.get(..end).unwrap_or_default()).to_ascii_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
        match length.and_then(|length| length.trim().parse::<usize>().ok()) {
            Some(length) => self.bytes.len() >= end + 4 + length,
            None => self.bytes.ends_with(b"0\r\n\r\n"),
        }
    }
}

fn memchr_in(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

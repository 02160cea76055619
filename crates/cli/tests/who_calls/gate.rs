//! A gate that runs, and a raw client of it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use callgate_testing::peer::{PATIENCE, Peer, until};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The notes server of the program itself, behind the gate.
pub(crate) fn notes() -> String {
    let own = json!(env!("CARGO_BIN_EXE_callgate"));
    format!("[[upstreams]]\nname = \"notes\"\ncommand = {own}\nargs = [\"notes-server\"]\n")
}

/// A folder with a configuration and a store.
pub(crate) struct Ground {
    folder: TempDir,
}

impl Ground {
    pub(crate) fn new(config: &str) -> Ground {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("gate.toml"), config).expect("a configuration");
        Ground { folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The program with these words, on this store, in an environment without settings of its own. It logs all it can.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_callgate"));
        command.env_remove("CALLGATE_OPERATOR_TOKEN").env_remove("CALLGATE_CONFIG");
        command.env("CALLGATE_LOG", "trace").env("CALLGATE_STORE", self.path("store.sqlite"));
        command.args(words);
        command
    }

    pub(crate) fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().expect("it runs")
    }

    /// A new API token.
    pub(crate) fn token(&self, name: &str) -> String {
        let output = self.run(&["tokens", "add", name]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("a text").trim_end().to_owned()
    }

    /// A gate at a port of its own.
    pub(crate) fn serve(&self, words: &[&str]) -> Gate {
        let config = self.path("gate.toml");
        let mut command = self.command(&["serve", "--config"]);
        command.arg(config);
        let listen = ["--listen", "127.0.0.1:0"];
        command.args(if words.is_empty() { &listen[..] } else { words });
        let peer = Peer::spawn(&mut command).expect("it starts");
        let address = |log: &str| {
            let (_, rest) = log.split_once("listening at http://")?;
            Some(rest.split_once("/mcp")?.0.to_owned())
        };
        until("it listens", PATIENCE, || address(&peer.stderr()).is_some())
            .unwrap_or_else(|error| panic!("{error}: {}", peer.stderr()));
        let port = address(&peer.stderr()).and_then(|address| Some(address.rsplit_once(':')?.1.to_owned()));
        let gate = Gate { peer, address: format!("127.0.0.1:{}", port.expect("a port")) };
        until("its tools are known", PATIENCE, || {
            gate.send("GET", "/readyz", &[], "").body.starts_with("1 of 1")
        })
        .unwrap_or_else(|error| panic!("{error}: {}", gate.peer.stderr()));
        gate
    }

    /// The same, together with its ground.
    pub(crate) fn serve_here(self) -> (Ground, Gate) {
        let gate = self.serve(&[]);
        (self, gate)
    }

    /// What the gate has recorded of calls.
    pub(crate) fn intents(&self) -> String {
        let output = self.run(&["intents", "list", "--format", "json"]);
        assert!(output.status.success());
        String::from_utf8(output.stdout).expect("a text")
    }
}

pub(crate) struct Gate {
    peer: Peer,
    pub(crate) address: String,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl Response {
    /// The challenge of a refusal.
    pub(crate) fn challenge(&self) -> &str {
        self.headers.get("www-authenticate").map_or("", String::as_str)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }
}

impl Gate {
    pub(crate) fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Response {
        let mut stream = TcpStream::connect(&self.address).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a deadline");
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            write!(head, "Host: {}\r\n", self.address).expect("a text");
        }
        for (name, value) in headers {
            write!(head, "{name}: {value}\r\n").expect("a text");
        }
        write!(head, "Content-Length: {}\r\n\r\n{body}", body.len()).expect("a text");
        stream.write_all(head.as_bytes()).expect("it is sent");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("an answer");
        let answer = String::from_utf8(answer).expect("a text");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).expect("a status");
        let headers = lines.filter_map(|line| line.split_once(": "));
        let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
        Response { status, headers, body: body.to_owned() }
    }

    /// A request of the newer era.
    pub(crate) fn ask(&self, authorization: &[&str], method: &str, params: &Value) -> Response {
        let mut params = params.clone();
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let name = params["name"].as_str().unwrap_or_default().to_owned();
        let mut headers = vec![
            ("Content-Type", "application/json"),
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", method),
        ];
        if !name.is_empty() {
            headers.push(("Mcp-Name", &name));
        }
        headers.extend(authorization.iter().map(|value| ("Authorization", *value)));
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        self.send("POST", "/mcp", &headers, &body.to_string())
    }

    /// The list of tools, for whoever shows this.
    pub(crate) fn list(&self, authorization: &[&str]) -> Response {
        self.ask(authorization, "tools/list", &json!({}))
    }

    /// A call, by whoever has this bearer token.
    pub(crate) fn call(&self, token: &str, tool: &str, arguments: &Value) -> Response {
        let bearer = format!("Bearer {token}");
        self.ask(&[&bearer], "tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// Ends the gate, and gives its log.
    pub(crate) fn end(mut self) -> String {
        self.peer.close();
        self.peer.terminate().expect("it is asked to stop");
        let status = self.peer.wait(PATIENCE).expect("it stops");
        assert!(status.success(), "{}", self.peer.stderr());
        self.peer.stderr()
    }
}

/// Every file of the store's folder that holds a text.
pub(crate) fn files_with(folder: &Path, text: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files_with(&path, text));
        } else if std::fs::read(&path)
            .is_ok_and(|bytes| bytes.windows(text.len()).any(|window| window == text.as_bytes()))
        {
            found.push(path);
        }
    }
    found
}

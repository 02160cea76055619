//! A raw client of the gate, over HTTP or standard input and output.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use callgate_testing::peer::{PATIENCE, Peer, until};
use serde_json::{Value, json};

use super::compare::holds;

/// How a client reaches the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transport {
    Http,
    Stdio,
}

impl Transport {
    pub(super) fn name(self) -> &'static str {
        match self {
            Transport::Http => "HTTP",
            Transport::Stdio => "standard input and output",
        }
    }
}

pub(super) struct Client {
    gate: Peer,
    transport: Transport,
    /// Where the gate listens.
    address: String,
    /// The session of the older era, once it has begun; over standard input and output its name is empty.
    session: Option<String>,
    /// What the client says that it can do.
    capabilities: Value,
    /// The state that it was given last.
    state: String,
    /// Where the operator's token is.
    operator: PathBuf,
    /// The id of what an operator was shown last.
    id: String,
}

/// What comes back over HTTP.
struct Response {
    status: u16,
    headers: BTreeMap<String, String>,
    body: String,
}

impl Client {
    pub(super) fn start(command: Command, transport: Transport) -> anyhow::Result<Client> {
        Client::able(command, transport, json!({}))
    }

    /// A client that says that it can do this.
    pub(super) fn able(
        mut command: Command,
        transport: Transport,
        capabilities: Value,
    ) -> anyhow::Result<Client> {
        match transport {
            Transport::Http => command.args(["--listen", "127.0.0.1:0"]),
            Transport::Stdio if command.get_args().next().is_some_and(|verb| verb == "serve") => {
                command.arg("--stdio")
            }
            Transport::Stdio => &mut command,
        };
        let gate = Peer::spawn(&mut command)?;
        let mut client = Client {
            gate,
            transport,
            address: String::new(),
            session: None,
            capabilities,
            state: String::new(),
            operator: PathBuf::new(),
            id: String::new(),
        };
        if transport == Transport::Http {
            client.address = client.find_address()?;
        }
        Ok(client)
    }

    /// Where the gate listens.
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Waits until the gate has read its configuration and opened its store.
    pub(super) fn serves(&self) -> anyhow::Result<()> {
        until("a gate that serves", PATIENCE, || self.gate.stderr().contains("the gate serves"))
    }

    /// Where the operator's token is, for the steps of an operator.
    pub(super) fn know_operator(&mut self, file: PathBuf) {
        self.operator = file;
    }

    /// Tells the gate to read its configuration again, and waits until its log says this once more.
    pub(super) fn hang_up(&self, logs: &str) -> anyhow::Result<()> {
        let before = self.gate.stderr().matches(logs).count();
        let pid = self.gate.pid().to_string();
        ensure!(Command::new("kill").args(["-HUP", &pid]).status()?.success(), "no signal");
        until(&format!("`{logs}` in the log"), PATIENCE, || self.gate.stderr().matches(logs).count() > before)
            .with_context(|| self.gate.stderr())
    }

    /// A request of an operator.
    fn operate(&mut self, step: &Value, request: &Value) -> anyhow::Result<()> {
        let path = request["path"].as_str().context("a path")?.replace("@ID@", &self.id);
        self.serves()?;
        let mut headers = BTreeMap::new();
        match request.get("token") {
            None => {
                let token = std::fs::read_to_string(&self.operator)?;
                headers.insert("Authorization".to_owned(), format!("Bearer {}", token.trim()));
            }
            Some(token) => {
                headers.extend(token.as_str().map(|token| ("Authorization".to_owned(), token.to_owned())));
            }
        }
        for (name, value) in step["headers"].as_object().into_iter().flatten() {
            headers.extend(value.as_str().map(|value| (name.clone(), value.to_owned())));
        }
        let body = match request.get("body") {
            Some(Value::String(text)) => text.clone(),
            Some(body) => body.to_string().replace("@ID@", &self.id),
            None => String::new(),
        };
        let method = request["method"].as_str().unwrap_or("GET");
        let response = self.exchange(method, &path, &headers, &body)?;
        if let Some(found) = response.frames()?.last() {
            let one = found.get(0).unwrap_or(found);
            if let Some(id) = one["id"].as_str().or(one["held_digest"].as_str()) {
                id.clone_into(&mut self.id);
            }
        }
        judge(step, &response)
    }

    fn find_address(&mut self) -> anyhow::Result<String> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let log = self.gate.stderr();
            if let Some(rest) = log.split("listening at http://").nth(1)
                && let Some((address, _)) = rest.split_once("/mcp")
            {
                return Ok(address.to_owned());
            }
            ensure!(Instant::now() < deadline, "the gate does not listen: {log}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub(super) fn step(&mut self, number: u64, step: &Value) -> anyhow::Result<()> {
        if let Some(wait) = step["wait_ms"].as_u64() {
            std::thread::sleep(Duration::from_millis(wait));
            return Ok(());
        }
        if let Some(path) = step["get"].as_str() {
            let response = self.exchange("GET", path, &BTreeMap::new(), "")?;
            return judge(step, &response);
        }
        if let Some(wanted) = step["hears"].as_array() {
            return self.hear(wanted);
        }
        if let Some(request) = step.get("operator") {
            return self.operate(step, request);
        }
        if let Some(body) = step["raw"].as_str() {
            return self.raw(step, body);
        }
        if let Some(request) = step["modern"].as_object() {
            let mut frame = json!({"jsonrpc": "2.0", "id": number});
            frame.as_object_mut().context("an object")?.extend(request.clone());
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": self.capabilities,
            });
            let own = frame["params"]["_meta"].as_object().cloned().unwrap_or_default();
            frame["params"]["_meta"] = meta;
            frame["params"]["_meta"].as_object_mut().context("an object")?.extend(own);
            return self.ask(step, &frame, true);
        }
        if let Some(request) = step["legacy"].as_object() {
            if self.session.is_none() && request.get("method") != Some(&json!("initialize")) {
                self.begin("2025-06-18")?;
            }
            let mut frame = json!({"jsonrpc": "2.0", "id": number});
            frame.as_object_mut().context("an object")?.extend(request.clone());
            return self.ask(step, &frame, false);
        }
        bail!("no such step")
    }

    /// Begins a session of the older era.
    fn begin(&mut self, revision: &str) -> anyhow::Result<()> {
        let frame = json!({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": {
            "protocolVersion": revision, "capabilities": self.capabilities, "clientInfo": {"name": "raw", "version": "0"}}});
        self.ask(&json!({"expect": {"result": {"protocolVersion": revision}}}), &frame, false)?;
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        match self.transport {
            Transport::Stdio => self.gate.send(initialized.to_string()),
            Transport::Http => self.ask(&json!({"status": 202}), &initialized, false),
        }
    }

    fn ask(&mut self, step: &Value, frame: &Value, modern: bool) -> anyhow::Result<()> {
        let text = frame.to_string().replace("@STATE@", &self.state);
        if self.transport == Transport::Stdio {
            self.gate.send(&text)?;
            if frame["method"] == "initialize" {
                self.session = Some(String::new());
            }
            if frame.get("id").is_none() {
                return Ok(());
            }
            for (answer, asked) in answers(step) {
                let question = self.question()?;
                self.gate.send(answer_to(&question, &asked, &answer)?)?;
            }
            if step["unanswered"] == true {
                return Ok(());
            }
            let answer = self.gate.answer(&frame["id"].to_string(), PATIENCE)?;
            let found = serde_json::from_slice(&answer)?;
            self.keep_state(&found);
            return holds(&step["expect"], &found, "")
                .map_err(|fault| anyhow::anyhow!("{fault}: {found}"))
                .or_else(|error| if step["expect"].is_null() { Ok(()) } else { Err(error) });
        }
        let mut headers = BTreeMap::from([
            ("Content-Type".to_owned(), "application/json".to_owned()),
            ("Accept".to_owned(), "application/json, text/event-stream".to_owned()),
        ]);
        if modern {
            headers.insert("MCP-Protocol-Version".to_owned(), "2026-07-28".to_owned());
            headers.insert("Mcp-Method".to_owned(), frame["method"].as_str().unwrap_or_default().to_owned());
            let name = frame["params"]["name"].as_str().or(frame["params"]["uri"].as_str());
            headers.extend(name.map(|name| ("Mcp-Name".to_owned(), name.to_owned())));
        } else if let Some(session) = &self.session {
            headers.insert("Mcp-Session-Id".to_owned(), session.clone());
        }
        for (name, value) in step["headers"].as_object().into_iter().flatten() {
            match value.as_str() {
                Some(value) => headers.insert(name.clone(), value.to_owned()),
                None => headers.remove(name),
            };
        }
        let response = self.converse(&headers, &text, answers(step))?;
        if let Some(found) = response.frames()?.last() {
            self.keep_state(found);
        }
        if let Some(session) = response.headers.get("mcp-session-id") {
            self.session = Some(session.clone());
        }
        judge(step, &response)
    }

    /// Reads messages until it has all of these, in whatever order, and no other one but that lists have changed.
    fn hear(&mut self, wanted: &[Value]) -> anyhow::Result<()> {
        let mut wanted = wanted.to_vec();
        while !wanted.is_empty() {
            let line = self.gate.line(PATIENCE)?.context("no message")?;
            let found: Value = serde_json::from_slice(&line)?;
            // Servers come and go at the beginning of a row.
            if found["method"].as_str().is_some_and(|method| method.ends_with("/list_changed")) {
                continue;
            }
            let place = wanted.iter().position(|wanted| holds(wanted, &found, "").is_ok());
            wanted.remove(place.with_context(|| format!("heard {found}, which is none of {wanted:?}"))?);
        }
        Ok(())
    }

    /// The next request of the gate's own.
    fn question(&mut self) -> anyhow::Result<Value> {
        loop {
            let line = self.gate.line(PATIENCE)?.context("no question")?;
            let frame: Value = serde_json::from_slice(&line)?;
            if frame.get("id").is_some() {
                return Ok(frame);
            }
        }
    }

    fn keep_state(&mut self, found: &Value) {
        if let Some(state) = found["result"]["requestState"].as_str() {
            state.clone_into(&mut self.state);
        }
    }

    fn raw(&mut self, step: &Value, body: &str) -> anyhow::Result<()> {
        if self.transport == Transport::Stdio {
            self.gate.send(body)?;
            let line = self.gate.line(PATIENCE)?.context("no answer")?;
            let found = serde_json::from_slice(&line)?;
            return holds(&step["expect"], &found, "").map_err(|fault| anyhow::anyhow!("{fault}: {found}"));
        }
        let mut headers = BTreeMap::from([("Content-Type".to_owned(), "application/json".to_owned())]);
        for (name, value) in step["headers"].as_object().into_iter().flatten() {
            headers.extend(value.as_str().map(|value| (name.clone(), value.to_owned())));
        }
        let response = self.exchange("POST", "/mcp", &headers, body)?;
        judge(step, &response)
    }

    /// A request on whose stream the gate asks so many questions before it answers.
    fn converse(
        &self,
        headers: &BTreeMap<String, String>,
        body: &str,
        answers: Vec<(Value, Value)>,
    ) -> anyhow::Result<Response> {
        let mut stream = self.send("POST", "/mcp", headers, body)?;
        let (mut text, mut part, mut asked) = (Vec::new(), [0; 4_096], 0);
        let mut answers = answers.into_iter();
        let deadline = Instant::now() + PATIENCE;
        loop {
            ensure!(Instant::now() < deadline, "no end: {}", String::from_utf8_lossy(&text));
            let count = stream.read(&mut part).context("no whole answer")?;
            if count == 0 {
                break;
            }
            text.extend_from_slice(part.get(..count).context("a part")?);
            let read = String::from_utf8_lossy(&text);
            let questions = read.lines().filter_map(|line| line.strip_prefix("data: "));
            let questions = questions.filter_map(|line| serde_json::from_str::<Value>(line).ok());
            let questions = questions.filter(|frame| frame["method"].is_string() && frame["id"].is_string());
            for question in questions.skip(asked) {
                asked += 1;
                let (answer, wanted) = answers.next().context("a question that was not expected")?;
                let answer = answer_to(&question, &wanted, &answer)?;
                let taken = self.exchange("POST", "/mcp", headers, &answer)?;
                ensure!(taken.status == 202, "the answer gets {}: {}", taken.status, taken.body);
            }
        }
        ensure!(answers.next().is_none(), "a question was not asked: {}", String::from_utf8_lossy(&text));
        Response::read(&String::from_utf8(text)?)
    }

    fn exchange(
        &self,
        method: &str,
        path: &str,
        headers: &BTreeMap<String, String>,
        body: &str,
    ) -> anyhow::Result<Response> {
        let mut stream = self.send(method, path, headers, body)?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).context("no whole answer")?;
        Response::read(&String::from_utf8(answer)?)
    }

    fn send(
        &self,
        method: &str,
        path: &str,
        headers: &BTreeMap<String, String>,
        body: &str,
    ) -> anyhow::Result<TcpStream> {
        let mut stream = TcpStream::connect(&self.address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let host = headers.get("Host").cloned().unwrap_or_else(|| self.address.clone());
        let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n");
        for (name, value) in headers.iter().filter(|(name, _)| *name != "Host") {
            write!(head, "{name}: {value}\r\n")?;
        }
        write!(head, "Content-Length: {}\r\n\r\n", body.len())?;
        stream.write_all(head.as_bytes())?;
        stream.write_all(body.as_bytes())?;
        Ok(stream)
    }

    /// Ends the gate, and gives its log.
    pub(super) fn end(mut self) -> anyhow::Result<String> {
        self.gate.close();
        if self.transport == Transport::Http {
            self.gate.terminate()?;
        }
        let status = self.gate.wait(PATIENCE)?;
        ensure!(status.success(), "it ended with {status}: {}", self.gate.stderr());
        Ok(self.gate.stderr())
    }
}

impl Response {
    fn read(text: &str) -> anyhow::Result<Response> {
        let (head, body) = text.split_once("\r\n\r\n").context("no head")?;
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1)).context("no status")?.parse()?;
        let headers: BTreeMap<String, String> = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        let chunked = headers.get("transfer-encoding").is_some_and(|coding| coding == "chunked");
        let body = if chunked { dechunked(body)? } else { body.to_owned() };
        Ok(Response { status, headers, body })
    }

    /// The frames in it: one of JSON, or those of a stream.
    fn frames(&self) -> anyhow::Result<Vec<Value>> {
        let kind = self.headers.get("content-type").map(String::as_str).unwrap_or_default();
        if kind.starts_with("text/event-stream") {
            let data = self.body.lines().filter_map(|line| line.strip_prefix("data: "));
            return Ok(data.map(serde_json::from_str).collect::<Result<_, _>>()?);
        }
        if kind.starts_with("application/json") {
            return Ok(vec![serde_json::from_str(&self.body)?]);
        }
        Ok(Vec::new())
    }
}

/// What the client answers to the questions of a step, and what it wants of each: pairs of `answers` and `asked`.
fn answers(step: &Value) -> Vec<(Value, Value)> {
    let answers = step["answers"].as_array().into_iter().flatten().cloned();
    answers
        .enumerate()
        .map(|(index, answer)| (answer, step["asked"].get(index).cloned().unwrap_or_else(|| json!({}))))
        .collect()
}

fn answer_to(question: &Value, wanted: &Value, answer: &Value) -> anyhow::Result<String> {
    holds(wanted, question, "").map_err(|fault| anyhow::anyhow!("{fault}: {question}"))?;
    let name = if answer.get("code").is_some() { "error" } else { "result" };
    Ok(json!({"jsonrpc": "2.0", "id": question["id"], name: answer}).to_string())
}

fn dechunked(mut rest: &str) -> anyhow::Result<String> {
    let mut body = String::new();
    loop {
        let (size, after) = rest.split_once("\r\n").context("no size of a chunk")?;
        let size = usize::from_str_radix(size, 16)?;
        if size == 0 {
            return Ok(body);
        }
        body.push_str(after.get(..size).context("a chunk that is cut")?);
        rest = after.get(size + 2..).context("a chunk without an end")?;
    }
}

fn judge(step: &Value, response: &Response) -> anyhow::Result<()> {
    let Response { status, body, .. } = response;
    let wanted = step["status"].as_u64().unwrap_or(200);
    ensure!(u64::from(*status) == wanted, "the status is {status}, expected {wanted}: {body}");
    for (name, wanted) in step["answer_headers"].as_object().into_iter().flatten() {
        let found = response.headers.get(&name.to_ascii_lowercase());
        ensure!(found.map(String::as_str) == wanted.as_str(), "`{name}` is {found:?}, expected {wanted}");
    }
    if let Some(wanted) = step["body"].as_str() {
        ensure!(body.contains(wanted), "{body:?} does not hold {wanted:?}");
    }
    let frames = response.frames()?;
    if let Some(wanted) = step["told"].as_array() {
        let told = frames.split_last().map_or(&[][..], |(_, told)| told);
        holds(&json!(wanted), &json!(told), "").map_err(|fault| anyhow::anyhow!("{fault}: {body}"))?;
    }
    if !step["expect"].is_null() {
        let found = frames.last().context("no frame")?;
        holds(&step["expect"], found, "").map_err(|fault| anyhow::anyhow!("{fault}: {body}"))?;
    }
    Ok(())
}

//! A visit to a server of Streamable HTTP: each request is a POST, its answer JSON or a stream of events.

use std::io::{BufReader, Read as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use callgate_mcp::frame::{UpstreamFrame, UpstreamReader};
use callgate_mcp::{RequestId, list, visit};
use ureq::http::Response;
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body};

use super::events::{Events, NextEvent};
use super::{Collector, INITIALIZE, TOOLS_LIST, Visit, VisitError, VisitSettings, own_id, welcome};

/// How long ending the session may take; the list is there already.
const FAREWELL: Duration = Duration::from_secs(2);

const SESSION: &str = "mcp-session-id";
const TOOLS_CALL: &str = "tools/call";
const INITIALIZED: &str = "notifications/initialized";

/// Lists the tools of the server at this URL. `headers` go with every request, such as one that authorizes it. No
/// redirect is followed: the headers are meant for this server.
///
/// Blocks for [`VisitSettings::timeout`] at most.
///
/// # Errors
/// [`VisitError`].
#[expect(clippy::disallowed_methods, reason = "this crate is where clocks are read")]
pub fn visit_url(
    url: &str,
    headers: &[(String, String)],
    settings: &VisitSettings,
) -> Result<Visit, VisitError> {
    let begin = Instant::now();
    let mut talk =
        Talk { agent: agent(settings), url, headers, session: None, revision: None, begin, settings };
    let visit = talk.visit();
    talk.leave();
    visit
}

/// Calls a tool of the server at this URL once, and gives the frame of its answer, as received. `arguments` makes the
/// arguments' JSON text of the definitions of all tools; what it gives up is given back. A key makes a gate run the call once,
/// however often it is made.
///
/// Blocks for [`VisitSettings::timeout`] at most. A call that was sent may have run whatever is said of it.
///
/// # Errors
/// [`VisitError`].
#[expect(clippy::disallowed_methods, reason = "this crate is where clocks are read")]
pub fn call_url<E>(
    url: &str,
    headers: &[(String, String)],
    settings: &VisitSettings,
    (name, key): (&str, Option<&str>),
    arguments: impl FnOnce(&[Box<[u8]>]) -> Result<Vec<u8>, E>,
) -> Result<Result<Vec<u8>, E>, VisitError> {
    let begin = Instant::now();
    let mut talk =
        Talk { agent: agent(settings), url, headers, session: None, revision: None, begin, settings };
    let answer = talk.visit().and_then(|visit| {
        let arguments = match arguments(&visit.tools) {
            Ok(arguments) => arguments,
            Err(error) => return Ok(Err(error)),
        };
        // After the ids of all pages of the list.
        let (text, id) = own_id(usize::MAX);
        talk.ask(&visit::call(&text, name, &arguments, key), &id, TOOLS_CALL).map(Ok)
    });
    talk.leave();
    answer
}

fn agent(settings: &VisitSettings) -> Agent {
    let tls = TlsConfig::builder()
        .root_certs(RootCerts::PlatformVerifier)
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build();
    Agent::config_builder()
        .tls_config(tls)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .user_agent(format!("callgate/{}", settings.version))
        .build()
        .new_agent()
}

struct Talk<'a> {
    agent: Agent,
    url: &'a str,
    headers: &'a [(String, String)],
    session: Option<String>,
    revision: Option<&'static str>,
    begin: Instant,
    settings: &'a VisitSettings,
}

impl Talk<'_> {
    fn visit(&mut self) -> Result<Visit, VisitError> {
        let limits = &self.settings.limits;
        let (text, id) = own_id(0);
        let frame = self.ask(&visit::initialize(&text, self.settings.version), &id, INITIALIZE)?;
        let welcome = welcome(&frame, limits)?;
        self.revision = Some(welcome.revision);
        self.post(visit::INITIALIZED, INITIALIZED)?;
        let mut collector = Collector::new(limits);
        let mut cursor = None;
        loop {
            let (text, id) = own_id(1 + collector.pages);
            let page = self.ask(&list::request(&text, cursor.as_deref()), &id, TOOLS_LIST)?;
            cursor = collector.take(&page)?;
            if cursor.is_none() {
                return Ok(Visit {
                    revision: welcome.revision,
                    server: welcome.server,
                    tools: collector.tools,
                });
            }
        }
    }

    /// Sends a request and reads its answer.
    fn ask(&mut self, request: &[u8], own: &RequestId, method: &'static str) -> Result<Vec<u8>, VisitError> {
        let response = self.post(request, method)?;
        let frame_bytes_max = self.settings.limits.frame_bytes_max;
        let kind =
            response.headers().get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let is_stream = kind == "text/event-stream";
        if !is_stream && kind != "application/json" {
            return Err(VisitError::Malformed { method, expected: "JSON or a stream of events" });
        }
        let mut body = response.into_body().into_reader();
        if is_stream {
            return self.answer_of_stream(BufReader::new(body), own, method);
        }
        let mut frame = Vec::new();
        let read = body.by_ref().take(frame_bytes_max as u64 + 1).read_to_end(&mut frame);
        read.map_err(|error| self.broken(error))?;
        if frame.len() > frame_bytes_max {
            return Err(VisitError::Malformed { method, expected: "a frame within the maximum" });
        }
        Ok(frame)
    }

    /// The answer among the events of a stream. What the server asks or tells there concerns nobody here.
    fn answer_of_stream(
        &self,
        stream: impl std::io::BufRead,
        own: &RequestId,
        method: &'static str,
    ) -> Result<Vec<u8>, VisitError> {
        let limits = &self.settings.limits;
        let mut events = Events::new(stream, limits.frame_bytes_max.saturating_mul(2));
        let mut reader = UpstreamReader::new(limits);
        loop {
            let data = match events.next().map_err(|error| self.broken(error))? {
                NextEvent::Data(data) => data,
                NextEvent::End => return Err(VisitError::Gone),
                NextEvent::Full => {
                    return Err(VisitError::Malformed { method, expected: "a stream within the maximum" });
                }
            };
            match reader.read(&data) {
                UpstreamFrame::Answer(answer) if answer.id == *own => return Ok(data),
                UpstreamFrame::Unreadable { scan, .. } if scan.id.as_ref() == Some(own) => return Ok(data),
                _ => {}
            }
        }
    }

    fn post(&mut self, frame: &[u8], method: &'static str) -> Result<Response<Body>, VisitError> {
        let left = self.left()?;
        let mut request = self.agent.post(self.url).config().timeout_global(Some(left)).build();
        request = request
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        for (name, value) in self.headers {
            request = request.header(name, value);
        }
        if let Some(session) = &self.session {
            request = request.header(SESSION, session);
        }
        if let Some(revision) = self.revision {
            request = request.header("mcp-protocol-version", revision);
        }
        let response = request.send(frame).map_err(|error| self.failed(error))?;
        let status = response.status();
        if !status.is_success() {
            return Err(VisitError::Status { method, status: status.as_u16(), hint: hint(status.as_u16()) });
        }
        if self.session.is_none() {
            let session = response.headers().get(SESSION).and_then(|session| session.to_str().ok());
            self.session = session.map(str::to_owned);
        }
        Ok(response)
    }

    /// Ends the session, if the server made one. That it cannot be ended is no fault of the list.
    fn leave(&self) {
        let Some(session) = &self.session else { return };
        let mut request = self.agent.delete(self.url).config().timeout_global(Some(FAREWELL)).build();
        for (name, value) in self.headers {
            request = request.header(name, value);
        }
        request = request.header(SESSION, session);
        if let Some(revision) = self.revision {
            request = request.header("mcp-protocol-version", revision);
        }
        if let Err(error) = request.call() {
            tracing::debug!(%error, "the session was not ended");
        }
    }

    fn left(&self) -> Result<Duration, VisitError> {
        let left = self.settings.timeout.saturating_sub(self.begin.elapsed());
        if left.is_zero() { Err(VisitError::Timeout(self.settings.timeout)) } else { Ok(left) }
    }

    fn failed(&self, error: ureq::Error) -> VisitError {
        match error {
            ureq::Error::Timeout(_) => VisitError::Timeout(self.settings.timeout),
            ureq::Error::Io(error) => self.broken(error),
            other => VisitError::Http(other.to_string()),
        }
    }

    fn broken(&self, error: std::io::Error) -> VisitError {
        match error.kind() {
            std::io::ErrorKind::TimedOut => VisitError::Timeout(self.settings.timeout),
            // The client wraps its own error where it reads a body.
            _ if self.settings.timeout <= self.begin.elapsed() => VisitError::Timeout(self.settings.timeout),
            _ => VisitError::Io(error),
        }
    }
}

/// What can be done about a status.
fn hint(status: u16) -> &'static str {
    match status {
        300..=399 => "; give the address that it redirects to",
        401 | 403 => "; give what authorizes you with `--header`",
        404 | 405 => "; is it the address of the MCP endpoint?",
        _ => "",
    }
}

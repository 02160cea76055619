//! A tool server over Streamable HTTP: each request is a POST of its own, and its answer is JSON or a stream of events.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use callgate_mcp::FrameLimits;
use callgate_mcp::frame::{UpstreamFrame, UpstreamReader, one_line};
use callgate_mcp::relay::{Era, Subject};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Response, StatusCode};
use tokio::task::AbortHandle;

use super::event_stream::EventStream;
use super::link::{Link, Outgoing, Reply};
use super::watch::StreamEnd;
use crate::lane::{FrameSource as _, Incoming, Line};

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

const EVENTS: &str = "text/event-stream";

/// How long a server may take to accept a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// The pause before a stream that was cut is asked for again, where the server says none, and within what bounds it may.
const RETRY: Duration = Duration::from_secs(1);
const RETRY_MIN: Duration = Duration::from_millis(100);
const RETRY_MAX: Duration = Duration::from_secs(30);
/// How long ending a session may take.
const FAREWELL: Duration = Duration::from_secs(2);

/// A tool server's address and what goes with every request to it.
pub(crate) struct HttpLink {
    client: Client,
    url: String,
    headers: HeaderMap,
    limits: FrameLimits,
    era: OnceLock<Era>,
    session: Mutex<Option<HeaderValue>>,
    running: Mutex<HashMap<u64, AbortHandle>>,
}

/// A tool server over HTTP that cannot be spoken to.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HttpLinkError {
    /// A header that the configuration has for it is none.
    #[error("the header `{0}` of the configuration cannot be sent")]
    Header(String),
    /// The client does not start.
    #[error("the HTTP client does not start")]
    Client(#[source] reqwest::Error),
}

impl HttpLink {
    /// A link to this address. No redirect is followed: the headers are meant for this server.
    ///
    /// # Errors
    /// [`HttpLinkError`].
    pub(crate) fn new(
        url: &str,
        headers: &[(String, String)],
        limits: FrameLimits,
    ) -> Result<HttpLink, HttpLinkError> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let bad = || HttpLinkError::Header(name.clone());
            let key = HeaderName::try_from(name.as_str()).map_err(|_| bad())?;
            let mut value = HeaderValue::try_from(value.as_str()).map_err(|_| bad())?;
            value.set_sensitive(true);
            map.append(key, value);
        }
        // Another one may be there already; either serves.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT)
            .retry(reqwest::retry::never())
            .user_agent(concat!("callgate/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(HttpLinkError::Client)?;
        Ok(HttpLink {
            client,
            url: url.to_owned(),
            headers: map,
            limits,
            era: OnceLock::new(),
            session: Mutex::default(),
            running: Mutex::default(),
        })
    }

    /// From now on requests say that they are of this era.
    pub(super) fn speak(&self, era: Era) {
        let _ = self.era.set(era);
    }

    /// Sends a request; what comes of it goes to `link`.
    pub(super) fn request(&self, link: &Arc<Link>, id: u64, outgoing: &Outgoing) {
        let request = self.post(outgoing);
        let (link, limits) = (Arc::clone(link), self.limits.clone());
        let task = tokio::spawn(async move {
            let reply = match request.send().await {
                Ok(response) => follow(&link, id, response, &limits).await,
                // A connection that was never made has carried nothing, nor has a request that is none.
                Err(error) if error.is_connect() || error.is_builder() => Some(Reply::NotSent(plain(&error))),
                Err(error) => Some(Reply::Gone(plain(&error))),
            };
            if let Some(reply) = reply {
                link.settle(id, reply);
            }
        });
        self.lock_running().insert(id, task.abort_handle());
    }

    /// Sends what needs no answer.
    pub(super) fn notify(&self, outgoing: &Outgoing) {
        let request = self.post(outgoing);
        tokio::spawn(async move {
            if let Err(error) = request.send().await {
                tracing::debug!(error = plain(&error), "a notification did not reach the server");
            }
        });
    }

    /// Takes up a stream that was cut before the answer, after the last event that came; `None` if that cannot be done.
    /// The request is not sent again.
    ///
    /// SPEC: 2025-11-25, basic/transports, "Resumability and Redelivery". The newer era has no such thing.
    pub(super) async fn resume(&self, events: &mut EventStream) -> Option<Response> {
        if self.era.get().is_none_or(|era| *era == Era::Modern) {
            return None;
        }
        let last = HeaderValue::from_bytes(events.last_id()?).ok()?;
        events.cut();
        tokio::time::sleep(events.retry().unwrap_or(RETRY).clamp(RETRY_MIN, RETRY_MAX)).await;
        let response = self.get_stream().header(LAST_EVENT, last).send().await.ok()?;
        let is_stream = response.status().is_success() && kind(&response) == EVENTS;
        tracing::info!(status = response.status().as_u16(), "a stream that was cut is asked for again");
        is_stream.then_some(response)
    }

    fn get_stream(&self) -> reqwest::RequestBuilder {
        let mut request = self.client.get(&self.url).headers(self.headers.clone()).header("accept", EVENTS);
        if let Some(session) = self.lock_session().clone() {
            request = request.header(SESSION, session);
        }
        self.versioned(request, false)
    }

    /// Follows the stream of a session that belongs to no request, until it ends.
    pub(super) async fn listen(&self, link: &Link, again: bool) -> StreamEnd {
        match self.get_stream().send().await {
            Ok(response) if response.status().is_success() && kind(&response) == EVENTS => {
                if again {
                    link.note_tools_changed();
                }
                let mut events = EventStream::new(bytes_max(&self.limits));
                let mut reader = UpstreamReader::new(&self.limits);
                let end = take_events(link, None, response, &mut events, &mut reader).await;
                tracing::debug!(?end, "the stream of the session is over");
                StreamEnd::Over
            }
            Ok(response) if !response.status().is_server_error() => StreamEnd::Refused,
            Ok(_) => StreamEnd::Over,
            Err(error) => {
                tracing::debug!(error = plain(&error), "there is no stream of the session");
                StreamEnd::Over
            }
        }
    }

    /// Closes the stream of a request, if it is still open: in the newer era that withdraws it.
    pub(super) fn close(&self, id: u64) {
        if let Some(task) = self.lock_running().remove(&id) {
            task.abort();
        }
    }

    /// Ends the session, if there is one. That it cannot be ended is no fault.
    pub(super) async fn leave(&self) {
        let session = self.lock_session().take();
        let Some(session) = session else { return };
        let request = self.client.delete(&self.url).headers(self.headers.clone()).header(SESSION, session);
        let request = self.versioned(request, false).timeout(FAREWELL);
        if let Err(error) = request.send().await {
            tracing::debug!(error = plain(&error), "the session was not ended");
        }
    }

    fn post(&self, outgoing: &Outgoing) -> reqwest::RequestBuilder {
        let mut request = self
            .client
            .post(&self.url)
            .headers(self.headers.clone())
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        if let Some(session) = self.lock_session().clone() {
            request = request.header(SESSION, session);
        }
        // Before the server has said how it speaks, it is asked in the newer way, but for `initialize`, which names its
        // revision itself.
        let asks_newer = match self.era.get() {
            Some(era) => *era == Era::Modern,
            None => outgoing.method != "initialize",
        };
        request = self.versioned(request, asks_newer);
        if asks_newer {
            request = request.header(METHOD, outgoing.method.as_str());
            if let Some(name) = &outgoing.name {
                request = request.header(NAME, Subject::header_value(name));
            }
            for (name, value) in &outgoing.headers {
                request = request.header(name.as_str(), value.as_str());
            }
        }
        request.body(outgoing.frame.clone())
    }

    fn versioned(&self, request: reqwest::RequestBuilder, asks_newer: bool) -> reqwest::RequestBuilder {
        match self.era.get() {
            Some(era) => request.header(VERSION, era.revision()),
            None if asks_newer => request.header(VERSION, Era::Modern.revision()),
            None => request,
        }
    }

    /// Whether a session has begun.
    pub(super) fn has_session(&self) -> bool {
        self.lock_session().is_some()
    }

    /// Keeps the session that the server has begun.
    pub(super) fn keep_session(&self, headers: &HeaderMap) {
        if let Some(session) = headers.get(SESSION) {
            let mut session = session.clone();
            session.set_sensitive(true);
            *self.lock_session() = Some(session);
        }
    }

    fn lock_session(&self) -> std::sync::MutexGuard<'_, Option<HeaderValue>> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_running(&self) -> std::sync::MutexGuard<'_, HashMap<u64, AbortHandle>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads an answer; `Some` where no frame of the server has settled the request.
async fn follow(link: &Link, id: u64, response: Response, limits: &FrameLimits) -> Option<Reply> {
    let status = response.status();
    link.keep_session(response.headers());
    match kind(&response).as_str() {
        EVENTS if status.is_success() => follow_events(link, id, response, limits).await,
        // SPEC: 2025-11-25, basic/transports, "Session Management": the session is over, and a new one has to begin. The
        // request is not sent again: nobody knows whether it was looked at.
        _ if status == StatusCode::NOT_FOUND && link.has_session() => {
            link.end("the server has ended the session");
            None
        }
        // An error of the protocol comes with a status of its own in the newer era.
        "application/json" => follow_json(link, id, response, limits, status).await,
        _ => Some(refused(status)),
    }
}

async fn follow_json(
    link: &Link,
    id: u64,
    mut response: Response,
    limits: &FrameLimits,
    status: StatusCode,
) -> Option<Reply> {
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if body.len() + chunk.len() > limits.frame_bytes_max => {
                return Some(Reply::Unreadable("the answer is over the maximum of a frame".to_owned(), None));
            }
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            Ok(None) => break,
            Err(error) => return Some(Reply::Gone(plain(&error))),
        }
    }
    let frame = UpstreamReader::new(limits).read(&body);
    if UpstreamReader::is_whole(&frame) {
        one_line(&mut body);
    }
    match &frame {
        UpstreamFrame::Answer(answer) if answer.id.raw().parse() == Ok(id) => {
            link.take(Incoming::Frame(frame, Line::own(body)), Some(id));
            None
        }
        _ if !status.is_success() => Some(refused(status)),
        UpstreamFrame::Unreadable { .. } => {
            link.take(Incoming::Frame(frame, Line::own(body)), Some(id));
            None
        }
        _ => Some(Reply::Unreadable("the answer is to another request".to_owned(), None)),
    }
}

async fn follow_events(link: &Link, id: u64, response: Response, limits: &FrameLimits) -> Option<Reply> {
    let mut events = EventStream::new(bytes_max(limits));
    let mut reader = UpstreamReader::new(limits);
    let mut response = response;
    // How often is not counted: whoever waits for the answer does not wait for ever, and then this ends, too.
    loop {
        let end = take_events(link, Some(id), response, &mut events, &mut reader).await?;
        if !matches!(end, Reply::Gone(_)) {
            return Some(end);
        }
        response = match link.resume(&mut events).await {
            Some(response) => response,
            None => return Some(end),
        };
    }
}

/// Takes the events of a stream until the answer to its request has come; `Some` says why it has not.
async fn take_events(
    link: &Link,
    of: Option<u64>,
    mut response: Response,
    events: &mut EventStream,
    reader: &mut UpstreamReader,
) -> Option<Reply> {
    loop {
        let chunk = match response.chunk().await {
            Ok(Some(chunk)) => chunk,
            Ok(None) => return Some(Reply::Gone("the stream ended before the answer".to_owned())),
            Err(error) => return Some(Reply::Gone(plain(&error))),
        };
        let Ok(complete) = events.feed(&chunk) else {
            return Some(Reply::Unreadable("an event is over the maximum of a frame".to_owned(), None));
        };
        for mut data in complete {
            let frame = reader.read(&data);
            if UpstreamReader::is_whole(&frame) {
                one_line(&mut data);
            }
            let answers = matches!(&frame, UpstreamFrame::Answer(answer) if of.is_some() && answer.id.raw().parse().ok() == of);
            link.take(Incoming::Frame(frame, Line::own(data)), of);
            if answers {
                return None;
            }
        }
    }
}

/// The media type of an answer.
fn kind(response: &Response) -> String {
    let kind = response.headers().get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// The most bytes of an event: a frame may be spelled with escapes of the stream, and an event has names besides its data.
fn bytes_max(limits: &FrameLimits) -> usize {
    limits.frame_bytes_max.saturating_add(1 << 16)
}

fn refused(status: StatusCode) -> Reply {
    let hint = match status.as_u16() {
        300..=399 => "; the configuration has to name the address that it redirects to",
        401 | 403 => "; the configuration has to name what authorizes the gate",
        404 | 405 => "; the configuration may name another address than that of the MCP endpoint",
        _ => "",
    };
    Reply::Unreadable(format!("the server answered with the status {}{hint}", status.as_u16()), None)
}

/// An error of the client without the address, which may hold a secret.
pub(super) fn plain(error: &reqwest::Error) -> String {
    let mut text = if error.is_timeout() {
        "it took too long".to_owned()
    } else if error.is_connect() {
        "no connection can be made".to_owned()
    } else {
        "the connection broke".to_owned()
    };
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        if error.source().is_none() {
            text.push_str(": ");
            text.push_str(&error.to_string());
        }
        cause = error.source();
    }
    text
}

//! One connection to a tool server. Requests go out under ids of the connection's own, and what comes back finds whoever
//! waits for it, so that many clients can share it.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use callgate_mcp::frame::{Answer, Scan, UpstreamFrame};
use callgate_mcp::relay::{Era, Hello, progress_of, subscription_of, updated_resource};
use callgate_mcp::{FrameLimits, answer, rpc};
use callgate_wire::Principal;
use tokio::sync::{Notify, mpsc, oneshot, watch};

use super::event_stream::EventStream;
use super::http_link::HttpLink;
use super::watch::StreamEnd;
use crate::lane::{Incoming, Line, Outbox};

/// What a server tells of one request before it answers; more is dropped until its client has taken some.
const TOLD_WAITING_MAX: usize = 256;

/// A connection to a tool server.
pub(crate) struct Link {
    transport: Transport,
    serial: AtomicU64,
    waiting: Mutex<HashMap<u64, Waiter>>,
    hello: std::sync::OnceLock<Hello>,
    /// What the server tells that belongs to no request.
    news: mpsc::Sender<News>,
    tools_changed: Notify,
    gone: watch::Sender<Option<String>>,
    callers: Mutex<Callers>,
    limits: FrameLimits,
}

/// How frames reach the server.
enum Transport {
    /// Lines of a process.
    Lines(Outbox),
    /// Each request is one of HTTP.
    Http(Box<HttpLink>),
}

/// A notification of a server that belongs to no request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct News {
    pub(crate) method: String,
    /// The resource that it is about, if it is about one.
    pub(crate) uri: Option<String>,
}

/// On whose behalf requests have gone over a connection so far.
#[derive(Debug, Default, PartialEq, Eq)]
enum Callers {
    #[default]
    Nobody,
    One(Principal),
    Several,
}

impl Callers {
    fn note(&mut self, principal: &Principal) {
        match self {
            Callers::Nobody => *self = Callers::One(principal.clone()),
            Callers::One(known) if known == principal => {}
            Callers::One(_) | Callers::Several => *self = Callers::Several,
        }
    }
}

/// Whoever waits for an answer.
struct Waiter {
    reply: oneshot::Sender<Reply>,
    told: mpsc::Sender<Box<[u8]>>,
    /// Whether it is a call, which a server may ask something about.
    is_call: bool,
    asked: Option<mpsc::Sender<Asked>>,
}

/// A frame on its way to the server, and what its transport says of it besides.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outgoing {
    /// The frame.
    pub(crate) frame: Vec<u8>,
    /// Its method.
    pub(crate) method: String,
    /// The tool, prompt or resource that it names.
    pub(crate) name: Option<String>,
    /// Headers that repeat arguments: names and encoded values.
    pub(crate) headers: Vec<(String, String)>,
    /// On whose behalf it goes; nobody's where the gate itself asks.
    pub(crate) by: Option<Principal>,
}

/// A request of the server's own, which belongs to a request of a client.
#[derive(Debug)]
pub(crate) struct Asked {
    /// Its frame.
    pub(crate) frame: Box<[u8]>,
    /// The id under which it waits for its answer, as JSON text.
    pub(crate) id: Box<str>,
}

/// What comes of a request.
#[derive(Debug)]
pub(crate) enum Reply {
    /// The answer, and the whole of its frame.
    Answer(Box<Answer>, Line),
    /// An answer that cannot be read; says why, and has the frame where there is one.
    Unreadable(String, Option<Line>),
    /// An answer over the maximum.
    Oversize(Scan),
    /// The server is gone; says why.
    Gone(String),
    /// A proof that the server never got the request.
    NotSent(String),
}

/// A request that is out. Dropping it forgets the request; the server is not told.
pub(crate) struct Ticket {
    link: std::sync::Arc<Link>,
    pub(crate) id: u64,
    reply: oneshot::Receiver<Reply>,
    told: mpsc::Receiver<Box<[u8]>>,
}

/// What comes next of a request.
#[derive(Debug)]
pub(crate) enum Next {
    /// Progress and the like.
    Told(Box<[u8]>),
    /// What comes of it in the end.
    Reply(Reply),
}

impl Ticket {
    /// Waits for what comes of it. Safe to be dropped and asked again.
    pub(crate) async fn reply(&mut self) -> Reply {
        (&mut self.reply).await.unwrap_or_else(|_| Reply::Gone(self.link.reason()))
    }

    /// Waits for what comes next. Safe to be dropped and asked again.
    pub(crate) async fn next(&mut self) -> Next {
        tokio::select! {
            biased;
            Some(told) = self.told.recv() => Next::Told(told),
            reply = &mut self.reply => {
                Next::Reply(reply.unwrap_or_else(|_| Reply::Gone(self.link.reason())))
            }
        }
    }

    /// Tells the server that nobody waits any more.
    pub(crate) fn cancel(&self, reason: &str) {
        self.link.cancel(self.id, reason);
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.link.forget(self.id);
    }
}

impl Link {
    /// A connection over the lines of a process.
    pub(crate) fn over_lines(outbox: Outbox, limits: FrameLimits) -> (Link, mpsc::Receiver<News>) {
        Link::new(Transport::Lines(outbox), limits)
    }

    /// A connection over HTTP.
    pub(crate) fn over_http(http: HttpLink, limits: FrameLimits) -> (Link, mpsc::Receiver<News>) {
        Link::new(Transport::Http(Box::new(http)), limits)
    }

    fn new(transport: Transport, limits: FrameLimits) -> (Link, mpsc::Receiver<News>) {
        let (news, told) = mpsc::channel(TOLD_WAITING_MAX);
        let link = Link {
            transport,
            serial: AtomicU64::new(0),
            waiting: Mutex::default(),
            hello: std::sync::OnceLock::new(),
            news,
            tools_changed: Notify::new(),
            gone: watch::Sender::new(None),
            callers: Mutex::default(),
            limits,
        };
        (link, told)
    }

    /// What the server said of itself; it is asked before anything else is.
    pub(crate) fn hello(&self) -> Option<&Hello> {
        self.hello.get()
    }

    pub(crate) fn greeted(&self, hello: Hello) {
        if let Transport::Http(http) = &self.transport {
            http.speak(hello.era);
        }
        // The first greeting counts.
        let _ = self.hello.set(hello);
    }

    /// An id for the next request, which no other request of this connection has.
    pub(crate) fn fresh_id(&self) -> u64 {
        self.serial.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Sends a request whose id is this one.
    pub(crate) fn request(
        self: &std::sync::Arc<Link>,
        id: u64,
        outgoing: Outgoing,
        asked: Option<mpsc::Sender<Asked>>,
    ) -> Ticket {
        if let Some(principal) = &outgoing.by {
            self.callers().note(principal);
        }
        let (reply, replied) = oneshot::channel();
        let (tell, told) = mpsc::channel(TOLD_WAITING_MAX);
        let waiter = Waiter { reply, told: tell, is_call: asked.is_some(), asked };
        self.lock().insert(id, waiter);
        if let Some(reason) = self.gone.borrow().clone() {
            self.settle(id, Reply::NotSent(reason));
        } else {
            match &self.transport {
                Transport::Lines(outbox) => outbox.push(Line::own(outgoing.frame)),
                Transport::Http(http) => http.request(self, id, &outgoing),
            }
        }
        Ticket { link: std::sync::Arc::clone(self), id, reply: replied, told }
    }

    /// Sends what needs no answer.
    pub(crate) fn notify(&self, frame: Vec<u8>, method: &str) {
        match &self.transport {
            Transport::Lines(outbox) => outbox.push(Line::own(frame)),
            Transport::Http(http) => {
                http.notify(&Outgoing { frame, method: method.to_owned(), ..Outgoing::default() });
            }
        }
    }

    /// Ends what the connection has begun at the server.
    pub(crate) async fn leave(&self) {
        if let Transport::Http(http) = &self.transport {
            http.leave().await;
        }
    }

    /// Whether requests go over HTTP.
    pub(crate) fn is_http(&self) -> bool {
        matches!(self.transport, Transport::Http(_))
    }

    /// Whether the server has begun a session.
    pub(super) fn has_session(&self) -> bool {
        matches!(&self.transport, Transport::Http(http) if http.has_session())
    }

    /// Keeps the session that the server has begun by the headers of its answer.
    pub(super) fn keep_session(&self, headers: &reqwest::header::HeaderMap) {
        if let Transport::Http(http) = &self.transport {
            http.keep_session(headers);
        }
    }

    /// Follows the stream of a session over HTTP that belongs to no request, until it ends. If there was one before, the
    /// tools are listed again, since what has changed in between was not heard.
    pub(super) async fn listen(&self, again: bool) -> StreamEnd {
        match &self.transport {
            Transport::Http(http) => http.listen(self, again).await,
            // What a process has to say comes on its one stream.
            Transport::Lines(_) => StreamEnd::Refused,
        }
    }

    /// Takes up the stream of a request that was cut, if that can be done.
    pub(super) async fn resume(&self, events: &mut EventStream) -> Option<reqwest::Response> {
        match &self.transport {
            Transport::Http(http) => http.resume(events).await,
            Transport::Lines(_) => None,
        }
    }

    /// Has the tools listed again.
    pub(super) fn note_tools_changed(&self) {
        self.tools_changed.notify_one();
    }

    /// Waits until the server has said that its tools are others.
    pub(crate) async fn tools_changed(&self) {
        self.tools_changed.notified().await;
    }

    /// Waits until the server is gone, and says why.
    pub(crate) async fn ended(&self) -> String {
        let mut gone = self.gone.subscribe();
        let reason = gone.wait_for(Option::is_some).await.map(|reason| reason.clone().unwrap_or_default());
        reason.unwrap_or_default()
    }

    /// Notes that the server is gone: whoever waits is told.
    pub(crate) fn end(&self, reason: &str) {
        self.gone.send_if_modified(|gone| {
            let first = gone.is_none();
            if first {
                *gone = Some(reason.to_owned());
            }
            first
        });
        let waiting: Vec<u64> = self.lock().keys().copied().collect();
        for id in waiting {
            self.settle(id, Reply::Gone(reason.to_owned()));
        }
    }

    fn reason(&self) -> String {
        self.gone.borrow().clone().unwrap_or_else(|| "the connection was closed".to_owned())
    }

    fn cancel(&self, id: u64, reason: &str) {
        match &self.transport {
            Transport::Lines(outbox) => {
                if let Some(id) = callgate_mcp::RequestId::parse(id.to_string().as_bytes(), 32) {
                    outbox.push(Line::own(answer::cancelled(&id, reason)));
                }
            }
            Transport::Http(http) if self.hello().is_some_and(|hello| hello.era == Era::Modern) => {
                http.close(id);
                // Nothing more comes of it.
                self.settle(id, Reply::Gone("it was withdrawn".to_owned()));
            }
            // The stream stays open: an answer that comes all the same clears the doubt.
            Transport::Http(_) => {
                if let Some(id) = callgate_mcp::RequestId::parse(id.to_string().as_bytes(), 32) {
                    self.notify(answer::cancelled(&id, reason), "notifications/cancelled");
                }
            }
        }
    }

    fn forget(&self, id: u64) {
        self.lock().remove(&id);
        if let Transport::Http(http) = &self.transport {
            http.close(id);
        }
    }

    /// Gives whoever waits for this id what came of the request; `false` if nobody does.
    pub(crate) fn settle(&self, id: u64, reply: Reply) -> bool {
        let waiter = self.lock().remove(&id);
        waiter.is_some_and(|waiter| waiter.reply.send(reply).is_ok())
    }

    /// Takes what the server sent on the stream of request `of`, or on one that is everybody's.
    pub(crate) fn take(&self, incoming: Incoming<UpstreamFrame>, of: Option<u64>) {
        match incoming {
            Incoming::Frame(frame, line) => self.take_frame(frame, line, of),
            Incoming::Oversize(scan) => {
                let id = scan.id.as_ref().and_then(|id| id.raw().parse().ok()).or(of);
                if let Some(id) = id.filter(|_| scan.method.is_none()) {
                    self.settle(id, Reply::Oversize(scan));
                } else {
                    tracing::warn!("a frame of the server is over the maximum and is dropped");
                }
            }
            Incoming::End(error) => {
                let reason = error.map_or_else(|| "its stream ended".to_owned(), |error| error.to_string());
                self.end(&reason);
            }
        }
    }

    fn take_frame(&self, frame: UpstreamFrame, line: Line, of: Option<u64>) {
        match frame {
            UpstreamFrame::Blank => {}
            UpstreamFrame::Answer(answer) => {
                let id = answer.id.raw().parse().ok();
                if !id.is_some_and(|id| self.settle(id, Reply::Answer(Box::new(answer), line))) {
                    tracing::debug!("an answer of the server to no request that is open is dropped");
                }
            }
            UpstreamFrame::Notification { method } => self.take_news(method, line, of),
            UpstreamFrame::Request { id, method } => self.take_question(id.raw(), &method, line, of),
            UpstreamFrame::Unreadable { fault, scan } => {
                let id = scan.id.as_ref().and_then(|id| id.raw().parse().ok()).or(of);
                if let Some(id) = id.filter(|_| scan.method.is_none()) {
                    self.settle(id, Reply::Unreadable(fault, Some(line)));
                } else {
                    tracing::warn!(fault, "a frame of the server cannot be read and is dropped");
                }
            }
        }
    }

    fn take_news(&self, method: String, line: Line, of: Option<u64>) {
        let of = match method.as_str() {
            "notifications/tools/list_changed" => {
                self.tools_changed.notify_one();
                return;
            }
            // Each list is everybody's, whatever stream its change is told on.
            "notifications/prompts/list_changed" | "notifications/resources/list_changed" => None,
            "notifications/resources/updated" => {
                let uri = updated_resource(line.bytes(), &self.limits);
                drop(self.news.try_send(News { method, uri }));
                return;
            }
            // On one stream for everything it says to which request it belongs.
            "notifications/subscriptions/acknowledged" => {
                of.or_else(|| subscription_of(line.bytes(), &self.limits)?.parse().ok())
            }
            // The token of a request's progress is its id.
            "notifications/progress" => {
                progress_of(line.bytes(), &self.limits).and_then(|token| token.parse().ok())
            }
            _ => of,
        };
        let waiting = self.lock();
        let waiter = match of {
            Some(id) => waiting.get(&id),
            // On the one stream of a process nothing says what a message belongs to, and a late one may be about a call
            // before. It goes to the call that is out only if it can be nobody else's.
            None if method == "notifications/message" && *self.callers() != Callers::Several => {
                only_call(&waiting)
            }
            None => None,
        };
        match waiter {
            // Who does not take what is told loses some of it, and nobody else waits for them.
            Some(waiter) => drop(waiter.told.try_send(line.into_bytes())),
            None if matches!(method.as_str(), "notifications/progress" | "notifications/message") => {}
            None => drop(self.news.try_send(News { method, uri: None })),
        }
    }

    /// A server of the older era asks. Only a question that belongs to one call can reach that call's client.
    fn take_question(&self, id: &str, method: &str, line: Line, of: Option<u64>) {
        if method == "ping" {
            self.reply(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}").into_bytes());
            return;
        }
        let waiting = self.lock();
        let asked = match of {
            Some(of) => waiting.get(&of),
            None => only_call(&waiting),
        };
        let asked = asked.and_then(|waiter| waiter.asked.clone());
        drop(waiting);
        let question = Asked { frame: line.into_bytes(), id: id.into() };
        if asked.is_none_or(|asked| asked.try_send(question).is_err()) {
            tracing::info!(method, "the server asks what no client of it can be asked");
            self.refuse(id);
        }
    }

    /// Answers a question of the server that goes to nobody.
    pub(crate) fn refuse(&self, id: &str) {
        if let Some(id) = callgate_mcp::RequestId::parse(id.as_bytes(), self.limits.id_bytes_max) {
            self.reply(answer::plain_error(&id, rpc::METHOD_NOT_FOUND, "no client can be asked this"));
        }
    }

    /// Sends an answer to a question of the server.
    pub(crate) fn reply(&self, frame: Vec<u8>) {
        match &self.transport {
            Transport::Lines(outbox) => outbox.push(Line::own(frame)),
            Transport::Http(http) => http.notify(&Outgoing { frame, ..Outgoing::default() }),
        }
    }

    fn callers(&self) -> std::sync::MutexGuard<'_, Callers> {
        self.callers.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<u64, Waiter>> {
        self.waiting.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// The one call that is out, if it is one: what its server says meanwhile is taken to belong to that.
fn only_call(waiting: &HashMap<u64, Waiter>) -> Option<&Waiter> {
    let mut calls = waiting.values().filter(|waiter| waiter.is_call);
    match (calls.next(), calls.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    }
}

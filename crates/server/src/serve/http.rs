//! Clients over Streamable HTTP: one address, at which each message is a POST of its own. A request of the newer era says
//! everything itself; one of the older era belongs to a session.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response as HttpResponse};
use axum::routing::{any, get};
use callgate_mcp::frame::{ClientFrame, ClientReader, one_line};
use callgate_mcp::relay::{Era, ModernClient, ModernFault};
use callgate_mcp::{RequestId, answer, revision, rpc};
use callgate_schema::json::{Node, Tape};
use callgate_wire::Code;
use tokio::sync::{mpsc, watch};

use super::access::Access;
use super::admin;
use super::auth::{Caller, WELL_KNOWN};
use super::client::{Client, Talk};
use super::front::{self, Response};
use super::gate::Gate;
use super::headers::{self, Mismatch};
use super::session::{Session, Sessions};
use super::streams::{Events, Withdraw, stream};

/// How long a client may take to send a body.
const BODY: Duration = Duration::from_secs(30);
/// SPEC: OpenMetrics 1.0, "Protocol Negotiation".
const METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// Messages of one request that wait for its client.
const TOLD_WAITING_MAX: usize = 64;

/// An answer over so many bytes is taken for a result without a look: its status is only a hint beside what it says.
const ERROR_BYTES_MAX: usize = 4_096;

pub(super) const SESSION: &str = "mcp-session-id";

/// What the address needs to answer.
pub(super) struct Front {
    pub(super) gate: Arc<Gate>,
    pub(super) access: watch::Receiver<Arc<Access>>,
    pub(super) sessions: Sessions,
    /// The store beside which the operator's token is.
    pub(super) beside: PathBuf,
    /// Becomes true when no more is taken.
    pub(super) closing: watch::Receiver<bool>,
}

/// The routes.
pub(super) fn routes(front: Arc<Front>) -> Router {
    Router::new()
        .route("/mcp", any(endpoint))
        .route(WELL_KNOWN, get(metadata))
        .route(&format!("{WELL_KNOWN}/mcp"), get(metadata))
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .nest("/admin/v1", admin::routes(&front))
        .with_state(front)
}

async fn ready(State(front): State<Arc<Front>>) -> HttpResponse {
    let current = front.gate.current();
    let total = current.upstreams.len();
    let known = current.upstreams.iter().filter(|upstream| upstream.view().catalog.is_some()).count();
    let closing = *front.closing.borrow();
    let status = if closing { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::OK };
    (status, format!("{known} of {total} tool servers can be called\n")).into_response()
}

/// What is counted. It names tools and budgets, so whoever asks has to show what callers have to.
async fn metrics(State(front): State<Arc<Front>>, mut headers: HeaderMap) -> HttpResponse {
    if let Err(refused) = front.admit(&headers) {
        return *refused;
    }
    if let Err(refused) = front.access().auth.caller(&mut headers).await {
        return *refused;
    }
    let gate = Arc::clone(&front.gate);
    let text = tokio::task::spawn_blocking(move || gate.metrics_text()).await;
    match text {
        Ok(Ok(text)) => ([(header::CONTENT_TYPE, METRICS)], text).into_response(),
        Ok(Err(error)) => {
            tracing::error!(%error, "the store does not say what stands");
            status(StatusCode::SERVICE_UNAVAILABLE, "the store cannot be read")
        }
        Err(_) => status(StatusCode::INTERNAL_SERVER_ERROR, "a defect of the gate"),
    }
}

/// Where clients learn who gives out tokens. Whoever asks has none yet.
async fn metadata(State(front): State<Arc<Front>>, headers: HeaderMap) -> HttpResponse {
    if let Err(refused) = front.admit(&headers) {
        return *refused;
    }
    match front.access().auth.metadata(&headers) {
        Some(document) => json(StatusCode::OK, document),
        None => status(StatusCode::NOT_FOUND, "no issuer of tokens is known here"),
    }
}

async fn endpoint(State(front): State<Arc<Front>>, mut request: Request) -> HttpResponse {
    if let Err(refused) = front.admit(request.headers()) {
        return *refused;
    }
    let caller = match front.access().auth.caller(request.headers_mut()).await {
        Ok(caller) => caller,
        Err(refused) => return *refused,
    };
    match *request.method() {
        Method::POST => post(&front, request, &caller).await,
        Method::GET => front.session_stream(request.headers(), &caller),
        Method::DELETE => front.end_session(request.headers(), &caller),
        _ => status(StatusCode::METHOD_NOT_ALLOWED, "expected POST"),
    }
}

async fn post(front: &Arc<Front>, request: Request, caller: &Caller) -> HttpResponse {
    if *front.closing.borrow() {
        return status(StatusCode::SERVICE_UNAVAILABLE, "the gate stops");
    }
    let (parts, body) = request.into_parts();
    if let Err((code, reason)) = headers::is_json(&parts.headers) {
        return status(code, reason);
    }
    let limits = &front.gate.config.gate.frames;
    let bytes = match tokio::time::timeout(BODY, to_bytes(body, limits.frame_bytes_max)).await {
        Ok(Ok(bytes)) => bytes.to_vec(),
        Ok(Err(_)) => {
            let message = format!(
                "expected at most {} bytes that arrive whole, found more or fewer",
                limits.frame_bytes_max
            );
            let frame = answer::error(None, rpc::INVALID_REQUEST, Code::FrameTooLarge, &message, &[]);
            return json(StatusCode::PAYLOAD_TOO_LARGE, frame);
        }
        Err(_) => return status(StatusCode::REQUEST_TIMEOUT, "the body took too long"),
    };
    let mut bytes = bytes;
    let frame = ClientReader::of_both_eras(limits.clone()).read(&bytes);
    if !matches!(frame, ClientFrame::Faulty(_)) {
        // A body may have line breaks; the server that it goes to may take each line for a message.
        one_line(&mut bytes);
    }
    front.take(&parts.headers, caller, frame, bytes.into()).await
}

/// What a frame is, before it is known whether it is served.
struct Arrival {
    id: Option<RequestId>,
    method: String,
    client: Client,
    session: Option<Arc<Session>>,
}

impl Front {
    /// Who is looked at and how they show who they are, now.
    fn access(&self) -> Arc<Access> {
        Arc::clone(&self.access.borrow())
    }

    /// Whether a request is looked at.
    pub(super) fn admit(&self, headers: &HeaderMap) -> Result<(), Box<HttpResponse>> {
        self.access().edge.admit(headers).map_err(|(code, reason)| {
            tracing::warn!(status = code.as_u16(), reason, "a request over HTTP is refused");
            Box::new(status(code, reason))
        })
    }

    async fn take(
        self: &Arc<Front>,
        headers: &HeaderMap,
        caller: &Caller,
        frame: ClientFrame,
        bytes: Box<[u8]>,
    ) -> HttpResponse {
        let (id, method) = match &frame {
            ClientFrame::Blank => {
                return status(StatusCode::BAD_REQUEST, "expected a message, found nothing");
            }
            ClientFrame::Call(call) => (Some(call.id.clone()), "tools/call".to_owned()),
            ClientFrame::List { id, .. } => (Some(id.clone()), "tools/list".to_owned()),
            ClientFrame::Request { id, method } => (Some(id.clone()), method.clone()),
            ClientFrame::Notification { method } => (None, method.clone()),
            ClientFrame::Cancelled { .. } => (None, "notifications/cancelled".to_owned()),
            ClientFrame::Response { .. } | ClientFrame::Faulty(_) => (None, String::new()),
        };
        if let ClientFrame::Response { id } = &frame {
            return self.answered(headers, caller, id, &bytes);
        }
        let arrival = match self.arrive(headers, caller, id, method, &bytes) {
            Ok(arrival) => arrival,
            Err(response) => return *response,
        };
        if arrival.method == "initialize"
            && arrival.client.era != Era::Modern
            && let Some(id) = &arrival.id
        {
            return self.initialize(id, &bytes, &arrival.client);
        }
        if let Some(session) = &arrival.session {
            match &frame {
                ClientFrame::Cancelled { request } => {
                    session.withdraw(request);
                    return StatusCode::ACCEPTED.into_response();
                }
                ClientFrame::Notification { .. } => {
                    return StatusCode::ACCEPTED.into_response();
                }
                _ => {}
            }
        }
        if let (Some(id), Err(why)) = (&arrival.id, front::fits(arrival.client.era, &arrival.method)) {
            return render(arrival.client.era, Response::error(id, rpc::METHOD_NOT_FOUND, why));
        }
        match (arrival.method.as_str(), &arrival.id) {
            ("subscriptions/listen", Some(id)) => self.listen(id.clone(), &arrival.client, &bytes).await,
            ("server/discover", Some(id)) => {
                let welcome = self.gate.introduction(Era::Modern);
                json(StatusCode::OK, answer::result(id, &welcome.welcome().discovered_over_http()))
            }
            _ => self.answer(arrival, frame, bytes, headers).await,
        }
    }

    /// Takes the answer of a session's client to a question. The newer era has no such messages.
    fn answered(&self, headers: &HeaderMap, caller: &Caller, id: &RequestId, bytes: &[u8]) -> HttpResponse {
        match self.sessions.of(headers, &caller.principal) {
            Ok(session) => {
                session.questions.answered(id, bytes);
                StatusCode::ACCEPTED.into_response()
            }
            Err((code, reason)) => status(code, reason),
        }
    }

    /// Finds out how they speak who ask.
    fn arrive(
        &self,
        headers: &HeaderMap,
        caller: &Caller,
        id: Option<RequestId>,
        method: String,
        bytes: &[u8],
    ) -> Result<Arrival, Box<HttpResponse>> {
        let limits = &self.gate.config.gate.frames;
        let says_modern = headers::text(headers, "mcp-protocol-version").as_deref() == Some(revision::MODERN);
        let nobody = ModernClient::of_session("{}", None);
        let oldest = revision::find("2025-03-26").map_or(Era::Modern, Era::Legacy);
        if method.is_empty() {
            // It is no request, or one that cannot be read: there is nothing to agree with, and its fault is what is told.
            let era = if says_modern { Era::Modern } else { oldest };
            return Ok(Arrival { id, method, client: caller.client(None, era, nobody), session: None });
        }
        let mut tape = Tape::new();
        let params = tape.read(bytes, &limits.frame_text()).ok().and_then(|root| root.member("params"));
        let about = ModernClient::read(params).map_err(|fault| {
            // That the revision is not spoken here is told only if header and body agree on which it is.
            Box::new(match headers::versions_agree(headers, &fault) {
                Ok(()) => modern_fault(id.as_ref(), fault),
                Err(disagree) => mismatch(id.as_ref(), &disagree),
            })
        })?;
        if let Some(about) = about {
            headers::agree(headers, &method, params)
                .map_err(|fault| Box::new(mismatch(id.as_ref(), &fault)))?;
            let client = caller.client(None, Era::Modern, about);
            return Ok(Arrival { id, method, client, session: None });
        }
        if says_modern && id.is_some() {
            let fault = ModernFault::Malformed("the revision in `_meta`, as the header has it,");
            return Err(Box::new(modern_fault(id.as_ref(), fault)));
        }
        if method == "initialize" {
            return Ok(Arrival { id, method, client: caller.client(None, oldest, nobody), session: None });
        }
        let session = self
            .sessions
            .of(headers, &caller.principal)
            .map_err(|(code, reason)| Box::new(status(code, reason)))?;
        if let Some(version) = headers::text(headers, "mcp-protocol-version")
            && revision::find(&version).is_none()
        {
            let message = format!("expected the revision of the session, found `{version}`");
            return Err(Box::new(status(StatusCode::BAD_REQUEST, &message)));
        }
        let client = caller.client(Some(session.run.clone()), session.era, session.about.clone());
        Ok(Arrival { id, method, client, session: Some(session) })
    }

    /// Answers a request, with a stream as soon as something is told before the answer.
    async fn answer(
        self: &Arc<Front>,
        arrival: Arrival,
        frame: ClientFrame,
        bytes: Box<[u8]>,
        headers: &HeaderMap,
    ) -> HttpResponse {
        let Arrival { id, client, session, .. } = arrival;
        let (tell, mut told) = mpsc::channel(TOLD_WAITING_MAX);
        let (withdraw, withdrawn) = watch::channel(false);
        let withdraw = Arc::new(withdraw);
        let mut guard = Withdraw(Some(Arc::clone(&withdraw)));
        if let (Some(session), Some(id)) = (&session, &id) {
            session.open(id.clone(), withdraw);
        }
        let era = client.era;
        let questions = session.as_ref().map(|session| Arc::clone(&session.questions)).unwrap_or_default();
        let followed = session.as_ref().map(|session| Arc::clone(&session.followed)).unwrap_or_default();
        let talk = Talk { tell, withdrawn, headers: Some(headers.clone()), questions, followed, turn: None };
        let gate = Arc::clone(&self.gate);
        let mut answer = tokio::spawn(async move {
            let response = gate.respond(&client, frame, bytes, talk).await;
            if let (Some(session), Some(id)) = (session, id) {
                session.close(&id);
            }
            response
        });
        tokio::select! {
            biased;
            Some(first) = told.recv() => {
                let events = Events { first: Some(first), told, answer: Some(answer), guard };
                stream(futures_util::stream::unfold(events, Events::next))
            }
            response = &mut answer => {
                guard.disarm();
                render(era, response.unwrap_or(Response::Nothing))
            }
        }
    }

    /// Begins a session of the older era.
    fn initialize(&self, id: &RequestId, bytes: &[u8], client: &Client) -> HttpResponse {
        let session = match self.sessions.begin(bytes, &self.gate.config.gate.frames, &client.principal) {
            Ok(session) => session,
            Err(reason) => return render(client.era, Response::error(id, rpc::INVALID_PARAMS, &reason)),
        };
        let result = self.gate.introduction(session.era).welcome().initialized(session.era.revision());
        let mut response = json(StatusCode::OK, answer::result(id, &result));
        if let Ok(value) = session.id.parse() {
            response.headers_mut().insert(SESSION, value);
        }
        response
    }

    fn end_session(&self, headers: &HeaderMap, caller: &Caller) -> HttpResponse {
        match self.sessions.end(headers, &caller.principal) {
            Ok(()) => StatusCode::NO_CONTENT.into_response(),
            Err((StatusCode::BAD_REQUEST, _)) => status(StatusCode::METHOD_NOT_ALLOWED, "expected POST"),
            Err((code, reason)) => status(code, reason),
        }
    }
}

/// An answer as the transport has it.
pub(super) fn render(era: Era, response: Response) -> HttpResponse {
    match response {
        Response::Nothing => StatusCode::ACCEPTED.into_response(),
        Response::Frame(frame) => json(status_of_frame(era, &frame), frame),
        Response::Error(code, frame) => json(status_of(era, code), frame),
    }
}

fn json(status: StatusCode, frame: Vec<u8>) -> HttpResponse {
    (status, [(header::CONTENT_TYPE, "application/json")], frame).into_response()
}

pub(super) fn status(code: StatusCode, reason: &str) -> HttpResponse {
    (code, format!("{reason}\n")).into_response()
}

/// SPEC: 2026-07-28, basic/transports/streamable-http: an unknown method is 404, a request that cannot be served as it is
/// written 400. The older revisions have every answer with 200.
fn status_of(era: Era, code: i64) -> StatusCode {
    match (era, code) {
        (Era::Modern, rpc::METHOD_NOT_FOUND) => StatusCode::NOT_FOUND,
        (_, rpc::PARSE_ERROR | rpc::INVALID_REQUEST) => StatusCode::BAD_REQUEST,
        (Era::Modern, rpc::HEADER_MISMATCH | rpc::MISSING_CAPABILITY | rpc::UNSUPPORTED_VERSION) => {
            StatusCode::BAD_REQUEST
        }
        _ => StatusCode::OK,
    }
}

/// The status of an answer that is a server's: it may be an error of the protocol, too.
fn status_of_frame(era: Era, frame: &[u8]) -> StatusCode {
    let may_be_error = || memchr::memmem::find(frame, b"\"error\"").is_some();
    if era != Era::Modern || frame.len() > ERROR_BYTES_MAX || !may_be_error() {
        return StatusCode::OK;
    }
    let mut tape = Tape::new();
    let root = tape.read(frame, &callgate_mcp::FrameLimits::default().frame_text());
    let code = root.ok().and_then(|root| root.pointer("/error/code")?.raw_str().parse().ok());
    code.map_or(StatusCode::OK, |code| status_of(era, code))
}

fn mismatch(id: Option<&RequestId>, fault: &Mismatch) -> HttpResponse {
    tracing::warn!(header = fault.header, "a header and the body disagree");
    let frame = answer::error(id, rpc::HEADER_MISMATCH, Code::HeaderMismatch, &fault.message, &[]);
    json(StatusCode::BAD_REQUEST, frame)
}

fn modern_fault(id: Option<&RequestId>, fault: ModernFault) -> HttpResponse {
    let frame = match fault {
        ModernFault::Malformed(expected) => {
            let message = format!("expected {expected}, found something else");
            answer::error(id, rpc::INVALID_PARAMS, Code::FrameInvalid, &message, &[])
        }
        ModernFault::Version(requested) => answer::unsupported_version_over_http(id, &requested),
    };
    json(StatusCode::BAD_REQUEST, frame)
}

/// The text of a member of `params`.
pub(super) fn param<'a>(params: Option<Node<'a>>, name: &str) -> Option<std::borrow::Cow<'a, str>> {
    params.and_then(|params| params.member(name)).and_then(Node::as_str)
}

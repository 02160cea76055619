//! One client over standard input and output, of either era.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use callgate_mcp::frame::{ClientFrame, ClientReader};
use callgate_mcp::relay::{Era, ModernClient, ModernFault};
use callgate_mcp::{RequestId, answer, revision, rpc};
use callgate_schema::json::Tape;
use callgate_wire::{Code, Principal};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use super::client::{Client, Talk, Turns};
use super::followed::Followed;
use super::front::{self, Response};
use super::gate::Gate;
use super::listen::Filter;
use super::question::OpenQuestions;
use super::session::read_initialize;
use crate::lane::{Incoming, Line, Outbox, read_frames};
use crate::stop::Stop;

/// Messages of one request that wait to be written.
const TOLD_WAITING_MAX: usize = 64;
/// Bytes that were read from the client and are not answered yet.
const HELD_BYTES_MAX: u32 = 64 << 20;

/// The client's two streams, and on whose behalf it calls.
pub struct StdioClient {
    /// What it writes.
    pub from: Box<dyn AsyncRead + Send + Unpin>,
    /// What it reads.
    pub to: Box<dyn AsyncWrite + Send + Unpin>,
    /// On whose behalf it calls.
    pub principal: Principal,
}

/// What the requests of the client share.
struct Shared {
    gate: Arc<Gate>,
    principal: Principal,
    /// The session, once it has begun.
    session: Mutex<Option<(Era, ModernClient)>>,
    open: Mutex<HashMap<RequestId, watch::Sender<bool>>>,
    questions: Arc<OpenQuestions>,
    followed: Arc<Followed>,
    out: Outbox,
}

/// Serves a client until it closes its stream or `stop` says so, and everything is answered or given up.
pub async fn serve_stdio(gate: Arc<Gate>, client: StdioClient, mut stop: watch::Receiver<Stop>) {
    let limits = gate.config.gate.frames.clone();
    let reader = ClientReader::of_both_eras(limits.clone());
    let oversize = ClientReader::of_both_eras(limits.clone());
    let mut incoming = read_frames(client.from, reader, &limits, HELD_BYTES_MAX);
    let (out, mut writer) = Outbox::start(client.to);
    let shared = Arc::new(Shared {
        gate: Arc::clone(&gate),
        principal: client.principal,
        session: Mutex::default(),
        open: Mutex::default(),
        questions: Arc::default(),
        followed: Arc::default(),
        out,
    });
    let mut tasks = JoinSet::new();
    let mut turns = Turns::default();
    let teller = tokio::spawn(tell_changes(Arc::clone(&shared)));
    loop {
        let room = shared.out.has_room();
        tokio::select! {
            next = incoming.recv(), if room => match next {
                Some(Incoming::Frame(frame, line)) => shared.take(frame, line, &mut turns, &mut tasks),
                Some(Incoming::Oversize(scan)) => {
                    let frame = oversize.oversize(&scan);
                    shared.take(frame, Line::own(Vec::new()), &mut turns, &mut tasks);
                }
                Some(Incoming::End(_)) | None => break,
            },
            () = shared.out.room(), if !room => {}
            Some(_) = tasks.join_next() => {}
            _ = stop.wait_for(|stop| *stop != Stop::No) => break,
            _ = &mut writer => break,
        }
    }
    tracing::info!("no more is taken from the client");
    let drained = async { while tasks.join_next().await.is_some() {} };
    let now = stop.wait_for(|stop| *stop == Stop::Now);
    tokio::select! {
        () = drained => {}
        () = tokio::time::sleep(gate.config.gate.drain) => {}
        _ = now => {}
    }
    gate.give_up();
    while tasks.join_next().await.is_some() {}
    teller.abort();
    let _ = teller.await;
    drop(shared);
    let _ = tokio::time::timeout(std::time::Duration::from_secs(2), writer).await;
}

/// Tells a session of the older era of changes.
async fn tell_changes(shared: Arc<Shared>) {
    let mut listener = shared.gate.changes.listen();
    let filter = Filter::of_session(Arc::clone(&shared.followed));
    while let Some(change) = listener.next().await {
        if shared.session().is_some()
            && let Some(frame) = filter.notification(&change)
        {
            shared.out.push(Line::own(frame));
        }
    }
}

impl Shared {
    fn session(&self) -> Option<(Era, ModernClient)> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn take(self: &Arc<Shared>, frame: ClientFrame, line: Line, turns: &mut Turns, tasks: &mut JoinSet<()>) {
        let (id, method) = match &frame {
            ClientFrame::Cancelled { request } => {
                let open = self.open.lock().unwrap_or_else(PoisonError::into_inner).get(request).cloned();
                if let Some(withdraw) = open {
                    let _ = withdraw.send(true);
                }
                return;
            }
            ClientFrame::Response { id } => return self.questions.answered(id, line.bytes()),
            ClientFrame::Blank | ClientFrame::Notification { .. } => return,
            ClientFrame::Call(call) => (Some(call.id.clone()), "tools/call".to_owned()),
            ClientFrame::List { id, .. } => (Some(id.clone()), "tools/list".to_owned()),
            ClientFrame::Request { id, method } => (Some(id.clone()), method.clone()),
            ClientFrame::Faulty(_) => (None, String::new()),
        };
        let client = match self.client(id.as_ref(), &method, line.bytes()) {
            Ok(client) => client,
            Err(frame) => {
                self.out.push(Line::own(frame));
                return;
            }
        };
        let (withdraw, withdrawn) = watch::channel(false);
        if let Some(id) = &id {
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            if open.contains_key(id) {
                drop(open);
                let message = "expected an id of its own for each request; this one was not sent";
                self.write(Response::coded(id, Code::RequestIdInUse, message));
                return;
            }
            open.insert(id.clone(), withdraw);
        }
        let (tell, told) = mpsc::channel(TOLD_WAITING_MAX);
        let turn = matches!(frame, ClientFrame::Call(_)).then(|| turns.next());
        let (questions, followed) = (Arc::clone(&self.questions), Arc::clone(&self.followed));
        let talk = Talk { tell, withdrawn, headers: None, questions, followed, turn };
        let shared = Arc::clone(self);
        tasks.spawn(async move { shared.answer(client, frame, line, method, talk, told, id).await });
    }

    /// Who asks, as far as this request says; `Err` is the answer that it cannot be served.
    fn client(&self, id: Option<&RequestId>, method: &str, bytes: &[u8]) -> Result<Client, Vec<u8>> {
        let limits = &self.gate.config.gate.frames;
        let mut tape = Tape::new();
        let params = tape.read(bytes, &limits.frame_text()).ok().and_then(|root| root.member("params"));
        let oldest = revision::ALL.last().map_or(Era::Modern, |revision| Era::Legacy(revision));
        let (era, about) = match ModernClient::read(params) {
            Ok(Some(about)) => (Era::Modern, about),
            Ok(None) if method == "server/discover" => {
                return Err(match id {
                    Some(id) => answer::plain_error(
                        id,
                        rpc::INVALID_PARAMS,
                        "expected the revision in `_meta`, found none",
                    ),
                    None => Vec::new(),
                });
            }
            Ok(None) => self.session().unwrap_or((oldest, ModernClient::of_session("{}", None))),
            Err(ModernFault::Version(requested)) => return Err(answer::unsupported_version(id, &requested)),
            Err(ModernFault::Malformed(expected)) => {
                let message = format!("expected {expected}, found something else");
                return Err(answer::error(id, rpc::INVALID_PARAMS, Code::FrameInvalid, &message, &[]));
            }
        };
        // A process on standard input and output is a run of its own.
        let run = Some(self.gate.journal.incarnation().to_string());
        let principal = self.principal.clone();
        let claims = Arc::new(self.gate.current().config.claims(&principal));
        Ok(Client { principal, claims, run, era, about })
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "the parts of one request, which nothing else has together"
    )]
    async fn answer(
        self: Arc<Shared>,
        client: Client,
        frame: ClientFrame,
        line: Line,
        method: String,
        talk: Talk,
        mut told: mpsc::Receiver<Vec<u8>>,
        id: Option<RequestId>,
    ) {
        let response = match (&id, front::fits(client.era, &method)) {
            (Some(id), Err(why)) => Response::error(id, rpc::METHOD_NOT_FOUND, why),
            (Some(id), Ok(())) if method == "initialize" => self.initialize(id, line.bytes()),
            (Some(id), Ok(())) if method == "subscriptions/listen" => {
                self.listen(id, &client, line.bytes(), talk).await
            }
            _ => {
                let respond = self.gate.respond(&client, frame, line.into_bytes(), talk);
                tokio::pin!(respond);
                loop {
                    tokio::select! {
                        biased;
                        Some(told) = told.recv() => self.out.push(Line::own(told)),
                        response = &mut respond => break response,
                    }
                }
            }
        };
        if let Some(id) = &id {
            self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        }
        self.write(response);
    }

    fn write(&self, response: Response) {
        match response {
            Response::Frame(frame) | Response::Error(_, frame) => self.out.push(Line::own(frame)),
            Response::Nothing => {}
        }
    }

    fn initialize(&self, id: &RequestId, bytes: &[u8]) -> Response {
        let (era, about) = match read_initialize(bytes, &self.gate.config.gate.frames) {
            Ok(begun) => begun,
            Err(expected) => return Response::error(id, rpc::INVALID_PARAMS, &expected),
        };
        *self.session.lock().unwrap_or_else(PoisonError::into_inner) = Some((era, about));
        let welcome = self.gate.introduction(era);
        Response::Frame(answer::result(id, &welcome.welcome().initialized(era.revision())))
    }

    /// `subscriptions/listen`: changes are told until the client withdraws the request or the gate stops.
    async fn listen(&self, id: &RequestId, client: &Client, bytes: &[u8], mut talk: Talk) -> Response {
        let limits = &self.gate.config.gate.frames;
        let (filter, uris) = match Filter::read(bytes, limits) {
            Ok(read) => read,
            Err(expected) => {
                let message = format!("expected {expected}, found something else");
                return Response::error(id, rpc::INVALID_PARAMS, &message);
            }
        };
        let mut listener = self.gate.changes.listen();
        filter.follow(&self.gate, client, &uris).await;
        self.out.push(Line::own(filter.acknowledge(id)));
        loop {
            tokio::select! {
                change = listener.next() => match change {
                    Some(change) => {
                        if let Some(frame) = filter.event(&change, limits, id) {
                            self.out.push(Line::own(frame));
                        }
                    }
                    None => break,
                },
                () = talk.is_withdrawn() => return Response::Nothing,
                () = self.gate.given_up() => break,
            }
        }
        Response::Frame(super::listen::closed(id))
    }
}

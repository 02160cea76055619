//! Streams of events: what is told of one request before its answer, and changes.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response as HttpResponse};
use callgate_mcp::relay::Era;
use callgate_mcp::{RequestId, rpc};
use futures_util::StreamExt as _;
use tokio::sync::{mpsc, watch};

use super::auth::Caller;
use super::change::{Change, Listener};
use super::client::Client;
use super::front::Response;
use super::http::{Front, render, status};
use super::listen::{self, Filter};

/// How often a stream that is quiet says that it is alive.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

impl Front {
    /// `subscriptions/listen`: a stream of changes until the client closes it.
    pub(super) async fn listen(&self, id: RequestId, client: &Client, bytes: &[u8]) -> HttpResponse {
        let limits = self.gate.config.gate.frames.clone();
        let (filter, uris) = match Filter::read(bytes, &limits) {
            Ok(read) => read,
            Err(expected) => {
                let message = format!("expected {expected}, found something else");
                return render(Era::Modern, Response::error(&id, rpc::INVALID_PARAMS, &message));
            }
        };
        let listener = self.gate.changes.listen();
        filter.follow(&self.gate, client, &uris).await;
        let first = filter.acknowledge(&id);
        let state = (listener, self.closing.clone(), Some(first));
        stream(futures_util::stream::unfold(Some(state), move |state| {
            let (filter, limits, id) = (filter.clone(), limits.clone(), id.clone());
            async move {
                let (mut listener, mut closing, first) = state?;
                if let Some(first) = first {
                    return Some((event(&first), Some((listener, closing, None))));
                }
                let told = |change: &Change| filter.event(change, &limits, &id);
                match quiet(&mut listener, &mut closing, told).await {
                    Heard::Told(frame) => Some((event(&frame), Some((listener, closing, None)))),
                    Heard::Nothing => Some((comment(), Some((listener, closing, None)))),
                    Heard::End => Some((event(&listen::closed(&id)), None)),
                }
            }
        }))
    }

    /// The stream of a session of the older era, on which it hears of changes.
    pub(super) fn session_stream(&self, headers: &HeaderMap, caller: &Caller) -> HttpResponse {
        let session = match self.sessions.of(headers, &caller.principal) {
            Ok(session) => session,
            Err((StatusCode::BAD_REQUEST, _)) => {
                return status(StatusCode::METHOD_NOT_ALLOWED, "expected POST");
            }
            Err((code, reason)) => return status(code, reason),
        };
        let filter = Filter::of_session(Arc::clone(&session.followed));
        let state = (self.gate.changes.listen(), self.closing.clone(), session.ended(), filter);
        stream(futures_util::stream::unfold(
            state,
            move |(mut listener, mut closing, mut ended, filter)| async move {
                let told = |change: &Change| filter.notification(change);
                let heard = tokio::select! {
                    heard = quiet(&mut listener, &mut closing, told) => heard,
                    () = became_true(&mut ended) => Heard::End,
                };
                match heard {
                    Heard::Told(frame) => Some((event(&frame), (listener, closing, ended, filter))),
                    Heard::Nothing => Some((comment(), (listener, closing, ended, filter))),
                    Heard::End => None,
                }
            },
        ))
    }
}

/// What comes next on a stream of changes.
enum Heard {
    Told(Vec<u8>),
    /// It was quiet for a while.
    Nothing,
    /// There will be nothing more.
    End,
}

/// Waits for a change that is wanted, a while, or until the gate closes.
async fn quiet(
    listener: &mut Listener,
    closing: &mut watch::Receiver<bool>,
    told: impl Fn(&Change) -> Option<Vec<u8>>,
) -> Heard {
    let wanted = async {
        loop {
            match listener.next().await {
                Some(change) => {
                    if let Some(frame) = told(&change) {
                        return Heard::Told(frame);
                    }
                }
                None => return Heard::End,
            }
        }
    };
    tokio::select! {
        heard = wanted => heard,
        () = tokio::time::sleep(KEEP_ALIVE) => Heard::Nothing,
        () = became_true(closing) => Heard::End,
    }
}

async fn became_true(flag: &mut watch::Receiver<bool>) {
    // Who would set it is gone: then it stays as it is.
    let _ = flag.wait_for(|flag| *flag).await;
}

/// Withdraws a request when it is dropped: its client has closed the connection, which is how one does that here.
pub(super) struct Withdraw(pub(super) Option<Arc<watch::Sender<bool>>>);

impl Withdraw {
    /// The request is answered: there is nothing to withdraw.
    pub(super) fn disarm(&mut self) {
        self.0 = None;
    }
}

impl Drop for Withdraw {
    fn drop(&mut self) {
        if let Some(withdraw) = &self.0 {
            let _ = withdraw.send(true);
        }
    }
}

/// What is told of one request, and its answer at the end.
pub(super) struct Events {
    pub(super) first: Option<Vec<u8>>,
    pub(super) told: mpsc::Receiver<Vec<u8>>,
    pub(super) answer: Option<tokio::task::JoinHandle<Response>>,
    pub(super) guard: Withdraw,
}

impl Events {
    pub(super) async fn next(mut self) -> Option<(Bytes, Events)> {
        if let Some(first) = self.first.take() {
            return Some((event(&first), self));
        }
        let answer = self.answer.as_mut()?;
        let out = tokio::select! {
            biased;
            Some(told) = self.told.recv() => event(&told),
            response = answer => {
                self.answer = None;
                self.guard.disarm();
                match response {
                    Ok(Response::Frame(frame) | Response::Error(_, frame)) => event(&frame),
                    Ok(Response::Nothing) | Err(_) => return None,
                }
            }
            () = tokio::time::sleep(KEEP_ALIVE) => comment(),
        };
        Some((out, self))
    }
}

fn event(frame: &[u8]) -> Bytes {
    // A frame may be spread over lines; each is a line of data.
    let mut out = b"event: message\n".to_vec();
    for line in frame.split(|byte| *byte == b'\n') {
        out.extend_from_slice(b"data: ");
        out.extend_from_slice(line.strip_suffix(b"\r").unwrap_or(line));
        out.push(b'\n');
    }
    out.push(b'\n');
    out.into()
}

fn comment() -> Bytes {
    Bytes::from_static(b":\n\n")
}

pub(super) fn stream<S>(events: S) -> HttpResponse
where
    S: futures_util::Stream<Item = Bytes> + Send + 'static,
{
    let headers = [
        (header::CONTENT_TYPE.as_str(), "text/event-stream"),
        (header::CACHE_CONTROL.as_str(), "no-cache"),
        ("x-accel-buffering", "no"),
    ];
    (headers, Body::from_stream(events.map(Ok::<Bytes, Infallible>))).into_response()
}

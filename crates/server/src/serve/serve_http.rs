//! The listener of the address over HTTP: connections are bounded in number and in how long they take to say what they want.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use super::access::Access;
use super::gate::Gate;
use super::http::{Front, routes};
use super::session::Sessions;
use crate::stop::Stop;

/// Connections at once.
const CONNECTIONS_MAX: usize = 4_096;
/// How long a client may take to send the head of a request.
const HEAD: Duration = Duration::from_secs(10);
/// Bytes of a request's head.
const HEAD_BYTES_MAX: usize = 64 << 10;
/// Headers of a request.
const HEADERS_MAX: usize = 100;
/// How long the last answers may take to be written at the end.
const FLUSH: Duration = Duration::from_secs(2);

/// Where clients over HTTP are listened for, and how they show who they are.
pub struct HttpClients {
    /// The listener.
    pub listener: TcpListener,
    /// Which requests are looked at, and how clients show who they are. A new one counts from the next request on.
    pub access: watch::Receiver<Arc<Access>>,
    /// The store beside which the operator's token is.
    pub beside: PathBuf,
}

/// Serves clients over HTTP until `stop` says so, and everything is answered or given up.
pub async fn serve_http(gate: Arc<Gate>, clients: HttpClients, mut stop: watch::Receiver<Stop>) {
    let (close, closing) = watch::channel(false);
    let front = Arc::new(Front {
        gate: Arc::clone(&gate),
        access: clients.access,
        beside: clients.beside,
        sessions: Sessions::default(),
        closing: closing.clone(),
    });
    let routes = routes(front);
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let mut connections = JoinSet::new();
    loop {
        let permit = tokio::select! {
            permit = Arc::clone(&room).acquire_owned() => permit,
            _ = stop.wait_for(|stop| *stop != Stop::No) => break,
        };
        let accepted = tokio::select! {
            accepted = clients.listener.accept() => accepted,
            Some(_) = connections.join_next() => continue,
            _ = stop.wait_for(|stop| *stop != Stop::No) => break,
        };
        let (stream, peer): (_, SocketAddr) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Too many files are open, say: it passes, and a loop without a pause would not help.
                tracing::warn!(%error, "a connection is not accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        tracing::debug!(%peer, "connected");
        let (service, closing) = (TowerToHyperService::new(routes.clone()), closing.clone());
        connections.spawn(async move {
            serve_connection(stream, service, closing).await;
            drop(permit);
        });
    }
    tracing::info!("no more is taken from clients");
    let _ = close.send(true);
    tokio::select! {
        () = gate.no_calls() => {}
        () = tokio::time::sleep(gate.config.gate.drain) => {}
        _ = stop.wait_for(|stop| *stop == Stop::Now) => {}
    }
    gate.give_up();
    let flushed = async {
        while connections.join_next().await.is_some() {}
        // Calls whose clients have left are recorded, too.
        gate.no_calls().await;
    };
    if tokio::time::timeout(FLUSH, flushed).await.is_err() {
        tracing::warn!("connections that do not end are closed");
    }
}

async fn serve_connection(
    stream: TcpStream,
    service: TowerToHyperService<Router>,
    mut closing: watch::Receiver<bool>,
) {
    let _ = stream.set_nodelay(true);
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(HEAD_BYTES_MAX)
        .max_headers(HEADERS_MAX)
        .serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    tokio::select! {
        ended = connection.as_mut() => return log(ended),
        _ = closing.wait_for(|closing| *closing) => {}
    }
    connection.as_mut().graceful_shutdown();
    log(connection.await);
}

fn log(ended: Result<(), hyper::Error>) {
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection broke");
    }
}

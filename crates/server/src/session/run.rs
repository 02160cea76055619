//! The loop that takes one event at a time.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use callgate_gateway::Journal;
use callgate_mcp::frame::{ClientFrame, ClientReader, UpstreamFrame, UpstreamReader};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::departures::Departures;
use super::late::Late;
use super::state::{Done, Handshake, Session, SessionSettings, UpstreamState};
use crate::hangup::HangUp;
use crate::lane::{Incoming, Line, Outbox, read_frames};
use crate::stop::Stop;

/// How long a peer may take to read what was written to it before the end.
const FLUSH: Duration = Duration::from_secs(2);

/// The streams of the two peers.
pub struct Peers {
    /// What the client writes.
    pub from_client: Box<dyn AsyncRead + Send + Unpin>,
    /// Completes when the client has closed what it writes, also while that is not read.
    pub client_hang_up: HangUp,
    /// What the client reads.
    pub to_client: Box<dyn AsyncWrite + Send + Unpin>,
    /// What the upstream writes.
    pub from_upstream: Box<dyn AsyncRead + Send + Unpin>,
    /// What the upstream reads.
    pub to_upstream: Box<dyn AsyncWrite + Send + Unpin>,
}

/// How a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End {
    /// The upstream ended before it was asked to.
    pub upstream_died: bool,
}

/// How far the end has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Frames of the client are taken.
    Running,
    /// The client has closed its stream. Frames of it are taken as long as it reads their answers, until then at most.
    HungUp(Instant),
    /// No more are; what is out has time until then.
    Draining(Instant),
    /// Everything was given up; only the records are waited for.
    Stopping,
}

/// Runs a session until the client's stream ends or `stop` says so, and everything is answered and recorded.
///
/// When this returns, the upstream's input is closed.
pub async fn run(
    settings: SessionSettings,
    journal: Arc<dyn Journal>,
    peers: Peers,
    mut stop: watch::Receiver<Stop>,
) -> End {
    let frames = settings.frames.clone();
    let held = settings.held_bytes_max;
    let mut from_client = read_frames(peers.from_client, ClientReader::new(frames.clone()), &frames, held);
    let mut from_upstream = read_frames(peers.from_upstream, UpstreamReader::new(&frames), &frames, held);
    let (to_client, mut client_writer) = Outbox::start(peers.to_client);
    let (to_upstream, mut upstream_writer) = Outbox::start(peers.to_upstream);
    let (done, mut finished) = mpsc::unbounded_channel();
    let oversize = ClientReader::new(frames);
    let mut session = Session::new(settings, journal, to_client, to_upstream, done);
    let mut phase = Phase::Running;
    let mut hang_up = peers.client_hang_up;
    let (mut client_writes, mut upstream_writes) = (true, true);

    while phase.takes_frames() || !session.is_done() {
        let room = session.to_client.has_room();
        let take_client = phase.takes_frames() && room && session.to_upstream.has_room();
        let take_upstream = room && session.upstream != UpstreamState::Gone;
        let due = session.next_due(match phase {
            Phase::HungUp(until) | Phase::Draining(until) => Some(until),
            Phase::Running | Phase::Stopping => None,
        });
        tokio::select! {
            Some(done) = finished.recv() => session.on_done(done),
            Some(incoming) = from_client.recv(), if take_client => {
                if !session.on_client(incoming, &oversize) {
                    phase = phase.drain(session.settings.drain);
                }
            }
            () = &mut hang_up, if phase == Phase::Running => {
                tracing::debug!("the client has closed its stream");
                phase = Phase::HungUp(Instant::now() + session.settings.drain);
            }
            Some(incoming) = from_upstream.recv(), if take_upstream => session.on_upstream(incoming),
            () = session.to_client.room(), if !room && client_writes => {}
            () = session.to_upstream.room(), if !session.to_upstream.has_room() && upstream_writes => {}
            ended = &mut client_writer, if client_writes => {
                client_writes = false;
                tracing::info!(reason = %reason(ended), "the client reads no more");
                session.to_client = Outbox::nowhere();
                phase = phase.drain(session.settings.drain);
            }
            ended = &mut upstream_writer, if upstream_writes => {
                upstream_writes = false;
                session.on_upstream_deaf(&reason(ended));
            }
            Ok(()) = stop.changed() => {
                let wanted = *stop.borrow_and_update();
                phase = match wanted {
                    Stop::No => phase,
                    Stop::Drain => phase.drain(session.settings.drain),
                    Stop::Now => phase.drain(Duration::ZERO),
                };
            }
            () = sleep_until(due) => {
                if phase.is_over(Instant::now()) {
                    phase = Phase::Stopping;
                    session.give_everything_up();
                }
                session.on_time(Instant::now());
            }
        }
    }
    let upstream_died = session.upstream == UpstreamState::Gone;
    drop(session);
    close(upstream_writer, upstream_writes, "upstream").await;
    close(client_writer, client_writes, "client").await;
    End { upstream_died }
}

impl Phase {
    fn takes_frames(self) -> bool {
        match self {
            Phase::Running | Phase::HungUp(_) => true,
            Phase::Draining(_) | Phase::Stopping => false,
        }
    }

    fn is_over(self, now: Instant) -> bool {
        match self {
            Phase::HungUp(until) | Phase::Draining(until) => until <= now,
            Phase::Running | Phase::Stopping => false,
        }
    }

    fn drain(self, time: Duration) -> Phase {
        let until = Instant::now() + time;
        match self {
            Phase::HungUp(before) | Phase::Draining(before) => Phase::Draining(before.min(until)),
            Phase::Running => Phase::Draining(until),
            Phase::Stopping => Phase::Stopping,
        }
    }
}

impl Session {
    fn new(
        settings: SessionSettings,
        journal: Arc<dyn Journal>,
        to_client: Outbox,
        to_upstream: Outbox,
        done: mpsc::UnboundedSender<Done>,
    ) -> Session {
        let own_prefix = journal.incarnation().as_str().to_owned();
        Session {
            settings: Arc::new(settings),
            journal,
            to_client,
            to_upstream,
            upstream: UpstreamState::Up,
            handshake: Handshake::Open,
            open: HashMap::new(),
            late: Late::default(),
            deadlines: VecDeque::new(),
            serial: 0,
            calls: 0,
            calls_bytes: 0,
            catalog: None,
            catalog_revision: 0,
            listing: None,
            lists: 0,
            own_prefix,
            stray_lines: 0,
            forged_results: 0,
            done,
            tasks: 0,
            departures: Departures::default(),
        }
    }

    /// Whether every request is answered and every outcome recorded.
    fn is_done(&self) -> bool {
        self.open.is_empty() && self.tasks == 0
    }

    /// Takes what a client sent; `false` at the end of its stream.
    fn on_client(&mut self, incoming: Incoming<ClientFrame>, reader: &ClientReader) -> bool {
        match incoming {
            Incoming::Frame(frame, line) => self.on_client_frame(frame, line),
            Incoming::Oversize(scan) => {
                let nothing = Line::own(Vec::new());
                self.on_client_frame(reader.oversize(&scan), nothing);
            }
            Incoming::End(error) => {
                let reason = error.map_or_else(|| "its stream ended".to_owned(), |error| error.to_string());
                tracing::info!(reason, "the client is gone");
                return false;
            }
        }
        true
    }

    /// Takes what an upstream sent.
    fn on_upstream(&mut self, incoming: Incoming<UpstreamFrame>) {
        match incoming {
            Incoming::Frame(frame, line) => self.on_upstream_frame(frame, line),
            Incoming::Oversize(scan) => self.on_upstream_oversize(&scan),
            Incoming::End(error) => {
                let reason = error.map_or_else(|| "its stream ended".to_owned(), |error| error.to_string());
                self.on_upstream_gone(&reason);
            }
        }
    }

    /// Takes work that came back.
    fn on_done(&mut self, done: Done) {
        self.tasks -= 1;
        match done {
            Done::Opened { id, frame, outcome, released } => {
                if let Some(released) = released {
                    self.on_released(&released);
                }
                self.on_opened(&id, frame, outcome);
            }
            Done::Settled { id, answer } => self.on_settled(&id, answer),
            Done::Listed(listed) => self.on_listed(*listed),
            Done::Recorded { answer } => {
                if let Some(answer) = answer {
                    self.to_client.push(answer);
                }
            }
            Done::Failed(work) => self.on_failed(&work),
        }
    }
}

async fn sleep_until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}

fn reason(ended: Result<io::Result<()>, tokio::task::JoinError>) -> String {
    match ended {
        Ok(Ok(())) => "its stream is closed".to_owned(),
        Ok(Err(error)) => error.to_string(),
        Err(error) => error.to_string(),
    }
}

/// Waits for a writing task whose outbox is gone, and not for ever: its peer may read no more.
async fn close(mut writer: JoinHandle<io::Result<()>>, running: bool, peer: &str) {
    if running && tokio::time::timeout(FLUSH, &mut writer).await.is_err() {
        tracing::warn!(peer, "what was written is not read, and is thrown away");
        writer.abort();
    }
}

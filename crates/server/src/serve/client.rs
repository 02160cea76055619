//! Who asks, and how they speak.

use std::sync::Arc;

use axum::http::HeaderMap;
use callgate_gateway::policy::Claims;
use callgate_mcp::FrameLimits;
use callgate_mcp::relay::{Era, Introduction, LogLevel, ModernClient, admits, with_progress};
use callgate_wire::Principal;
use tokio::sync::{mpsc, watch};

use super::followed::Followed;
use super::marks;
use super::question::OpenQuestions;

/// A client, as far as one request of it is concerned.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    /// On whose behalf it asks.
    pub(crate) principal: Principal,
    /// What is known of them, for the rules.
    pub(crate) claims: Arc<Claims>,
    /// The run that its calls belong to, where they name none themselves.
    pub(crate) run: Option<String>,
    /// How it speaks.
    pub(crate) era: Era,
    /// What it can do and what it is.
    pub(crate) about: ModernClient,
}

impl Client {
    /// What a server of this era is told of the client. One that has not said how it speaks is told nothing.
    pub(crate) fn introduction(&self, server: Option<Era>) -> Introduction<'_> {
        match (self.era, server) {
            (_, Some(Era::Legacy(_)) | None) => Introduction::Nothing,
            (Era::Modern, Some(Era::Modern)) => Introduction::Same,
            (Era::Legacy(_), Some(Era::Modern)) => Introduction::Client(&self.about),
        }
    }
}

/// What a request asks to be told until it is answered.
#[derive(Debug, Default)]
pub(crate) struct Wants {
    /// The token of its progress, as JSON text.
    pub(crate) progress: Option<String>,
    /// Messages from this level on. A client of the older era asks by its session, which the gate does not keep.
    pub(crate) log: Option<LogLevel>,
}

impl Wants {
    /// What this request of the client asks for.
    pub(crate) fn of(client: &Client, frame: &[u8], limits: &FrameLimits) -> Wants {
        let log = match client.era {
            Era::Modern => LogLevel::asked_by(frame, limits),
            Era::Legacy(_) => None,
        };
        Wants { progress: marks::progress(frame, limits), log }
    }
}

/// What passes between the gate and a client while one request of it is open.
pub(crate) struct Talk {
    /// Progress and the like, to the client. Closed where nobody listens.
    pub(crate) tell: mpsc::Sender<Vec<u8>>,
    /// Becomes true when the client has withdrawn the request, and waits for no answer.
    pub(crate) withdrawn: watch::Receiver<bool>,
    /// The headers of the request, where the transport has them.
    pub(crate) headers: Option<HeaderMap>,
    /// What the client of a session was asked and has not answered.
    pub(crate) questions: Arc<OpenQuestions>,
    /// The resources that a session's client follows.
    pub(crate) followed: Arc<Followed>,
    /// The order in which this client's calls leave, where it has one.
    pub(crate) turn: Option<Turn>,
}

impl Talk {
    /// Passes on what a server tells of the request, under the client's own token. A client that does not take it loses
    /// some of it, and nobody waits for them.
    pub(crate) fn pass_on(&self, told: Box<[u8]>, wants: &Wants, limits: &FrameLimits) {
        if !admits(wants.log, &told, limits) {
            return;
        }
        let frame = wants.progress.as_deref().and_then(|token| with_progress(&told, limits, token));
        let _ = self.tell.try_send(frame.unwrap_or_else(|| told.into_vec()));
    }

    /// Waits until the client has withdrawn the request.
    pub(crate) async fn is_withdrawn(&mut self) {
        if self.withdrawn.wait_for(|withdrawn| *withdrawn).await.is_err() {
            // Nobody can withdraw it any more.
            std::future::pending::<()>().await;
        }
    }
}

/// A call's place in the order in which the calls of one client came. A client that writes and then reads what it wrote,
/// without waiting in between, counts on it.
#[derive(Debug)]
pub(crate) struct Turn {
    before: Option<watch::Receiver<()>>,
    /// The next one waits until this is dropped.
    _done: watch::Sender<()>,
}

/// Gives out turns.
#[derive(Debug, Default)]
pub(crate) struct Turns(Option<watch::Receiver<()>>);

impl Turns {
    /// The next place.
    pub(crate) fn next(&mut self) -> Turn {
        let (done, waiting) = watch::channel(());
        Turn { before: self.0.replace(waiting), _done: done }
    }
}

impl Turn {
    /// Waits until every call before has left or never will; the turn passes on when this is dropped.
    pub(crate) async fn come(&mut self) {
        if let Some(mut before) = self.before.take() {
            while before.changed().await.is_ok() {}
        }
    }
}

//! Sessions of the older era over HTTP.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::http::{HeaderMap, StatusCode};
use callgate_mcp::relay::{Era, ModernClient};
use callgate_mcp::{FrameLimits, RequestId, revision};
use callgate_schema::json::{Kind, Node, Tape};
use callgate_wire::Principal;
use tokio::sync::watch;
use tokio::time::Instant;

use super::followed::Followed;
use super::headers::text;
use super::http::SESSION;
use super::question::OpenQuestions;
use crate::clock::fresh_incarnation;

/// Sessions at once. Beyond it the one that was quiet longest ends.
const SESSIONS_MAX: usize = 10_000;
/// A session that was quiet so long may be ended when another begins.
const QUIET: Duration = Duration::from_hours(12);

/// A session.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) era: Era,
    pub(crate) about: ModernClient,
    pub(crate) principal: Principal,
    /// Its name in the records of calls. The id itself is what a client shows, and is not recorded.
    pub(crate) run: String,
    /// What its client was asked and has not answered.
    pub(crate) questions: Arc<OpenQuestions>,
    /// The resources that its client follows.
    pub(crate) followed: Arc<Followed>,
    used: Mutex<Instant>,
    open: Mutex<HashMap<RequestId, Arc<watch::Sender<bool>>>>,
    ended: watch::Sender<bool>,
}

impl Session {
    /// Notes a request that can be withdrawn.
    pub(super) fn open(&self, id: RequestId, withdraw: Arc<watch::Sender<bool>>) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).insert(id, withdraw);
    }

    pub(super) fn close(&self, id: &RequestId) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
    }

    /// Withdraws a request.
    pub(super) fn withdraw(&self, id: &RequestId) {
        let found = self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        if let Some(withdraw) = found {
            let _ = withdraw.send(true);
        } else {
            tracing::debug!(%id, "a request is withdrawn that is not open");
        }
    }

    /// Becomes true at the session's end.
    pub(super) fn ended(&self) -> watch::Receiver<bool> {
        self.ended.subscribe()
    }

    fn end(&self) {
        let _ = self.ended.send(true);
    }
}

/// All sessions.
#[derive(Debug, Default)]
pub(crate) struct Sessions(Mutex<HashMap<String, Arc<Session>>>);

impl Sessions {
    /// Begins a session by an `initialize`. A revision that is not spoken here is answered with the newest that is.
    ///
    /// # Errors
    /// What was expected of the request.
    pub(super) fn begin(
        &self,
        frame: &[u8],
        limits: &FrameLimits,
        principal: &Principal,
    ) -> Result<Arc<Session>, String> {
        let (era, about) = read_initialize(frame, limits)?;
        let (id, run) = (fresh_incarnation().to_string(), fresh_incarnation().to_string());
        let session = Arc::new(Session {
            // A part of it is random, so that nobody guesses one from the time at which another began.
            id: format!("{id}{}", random_part().ok_or("no randomness for a session's id")?),
            era,
            about,
            principal: principal.clone(),
            run,
            questions: Arc::default(),
            followed: Arc::default(),
            used: Mutex::new(Instant::now()),
            open: Mutex::default(),
            ended: watch::Sender::new(false),
        });
        let mut sessions = self.lock();
        if sessions.len() >= SESSIONS_MAX {
            retire(&mut sessions);
        }
        sessions.insert(session.id.clone(), Arc::clone(&session));
        Ok(session)
    }

    /// The session that a request names, if it is one of this principal.
    pub(super) fn of(
        &self,
        headers: &HeaderMap,
        principal: &Principal,
    ) -> Result<Arc<Session>, (StatusCode, &'static str)> {
        let id = text(headers, SESSION).ok_or((
            StatusCode::BAD_REQUEST,
            "expected the header `Mcp-Session-Id`, or a request that says its revision in `_meta`",
        ))?;
        let found = self.lock().get(&id).filter(|session| session.principal == *principal).cloned();
        let session =
            found.ok_or((StatusCode::NOT_FOUND, "there is no such session; send `initialize` again"))?;
        *session.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        Ok(session)
    }

    /// Ends the session that a request names.
    pub(super) fn end(
        &self,
        headers: &HeaderMap,
        principal: &Principal,
    ) -> Result<(), (StatusCode, &'static str)> {
        let session = self.of(headers, principal)?;
        self.lock().remove(&session.id);
        session.end();
        Ok(())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Session>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends every session that was quiet for long, and if there is none, the one that was quiet longest.
fn retire(sessions: &mut HashMap<String, Arc<Session>>) {
    let used = |session: &Arc<Session>| *session.used.lock().unwrap_or_else(PoisonError::into_inner);
    let quiet: Vec<String> = sessions
        .iter()
        .filter(|(_, session)| used(session).elapsed() > QUIET)
        .map(|(id, _)| id.clone())
        .collect();
    let oldest = || sessions.iter().min_by_key(|(_, session)| used(session)).map(|(id, _)| id.clone());
    let gone = if quiet.is_empty() { oldest().into_iter().collect() } else { quiet };
    for id in gone {
        if let Some(session) = sessions.remove(&id) {
            session.end();
        }
    }
}

/// What a client says of itself at the beginning of a session.
pub(crate) fn read_initialize(frame: &[u8], limits: &FrameLimits) -> Result<(Era, ModernClient), String> {
    let mut tape = Tape::new();
    let root = tape.read(frame, &limits.frame_text()).map_err(|_| "expected a request that can be read")?;
    let params = root.member("params").filter(|params| params.kind() == Kind::Object);
    let wanted = params.and_then(|params| params.member("protocolVersion")).and_then(Node::as_str);
    let wanted = wanted.ok_or("expected `params.protocolVersion` as a string, found something else")?;
    // SPEC: 2025-11-25, basic/lifecycle, "Version Negotiation": another revision is offered where this one is not spoken.
    let spoken = revision::find(&wanted).or_else(|| revision::ALL.first().copied());
    let spoken = spoken.ok_or("no revision is spoken here")?;
    let object = |name: &str| {
        params
            .and_then(|params| params.member(name))
            .filter(|node| node.kind() == Kind::Object)
            .map(Node::raw_str)
    };
    let about = ModernClient::of_session(object("capabilities").unwrap_or("{}"), object("clientInfo"));
    Ok((Era::Legacy(spoken), about))
}

/// Hexadecimal digits from the system's own randomness.
pub(super) fn random_part() -> Option<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}")))
}

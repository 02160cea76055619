//! How the client of a call is asked what a server, or the gate itself, wants to know of it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use callgate_mcp::relay::{Answered, ELICIT, Question};
use callgate_mcp::{FrameLimits, RequestId};
use tokio::sync::{mpsc, oneshot};

use super::client::Client;

/// Questions of one call that wait until the one before is answered.
pub(super) const WAITING_MAX: usize = 16;
/// How long a person may take to answer.
pub(super) const PATIENCE: Duration = Duration::from_mins(10);
/// Bytes of an id of the gate's own.
const ID_BYTES_MAX: usize = 64;
/// What stands for the answer of somebody who says nothing.
pub(super) const SILENCE: &str = r#"{"action":"cancel"}"#;

/// The questions that a session's client has not answered yet.
#[derive(Debug, Default)]
pub(crate) struct OpenQuestions {
    serial: AtomicU64,
    waiting: Mutex<HashMap<RequestId, oneshot::Sender<Box<[u8]>>>>,
}

/// Forgets a question that nobody waits for any more.
struct Waiting<'q>(&'q OpenQuestions, RequestId);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.lock().remove(&self.1);
    }
}

impl OpenQuestions {
    /// Asks, and waits for the answer; `None` if there will be none. Safe to be dropped.
    pub(super) async fn ask(
        &self,
        tell: &mpsc::Sender<Vec<u8>>,
        question: &Question,
        limits: &FrameLimits,
    ) -> Option<Answered> {
        let text = format!("\"cg-{}\"", self.serial.fetch_add(1, Ordering::Relaxed) + 1);
        let id = RequestId::parse(text.as_bytes(), ID_BYTES_MAX)?;
        let (answer, answered) = oneshot::channel();
        self.lock().insert(id.clone(), answer);
        let _waiting = Waiting(self, id);
        tell.send(question.to_frame(&text)).await.ok()?;
        Answered::read(&answered.await.ok()?, limits)
    }

    /// Takes a client's answer to one of them.
    pub(crate) fn answered(&self, id: &RequestId, frame: &[u8]) {
        let waiting = self.lock().remove(id);
        if let Some(waiting) = waiting {
            let _ = waiting.send(frame.into());
        } else {
            tracing::debug!(%id, "the client answers what nobody asks");
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<RequestId, oneshot::Sender<Box<[u8]>>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a client has said that it can be asked this.
pub(super) fn can_ask(client: &Client, question: &Question) -> bool {
    question.capability().is_some_and(|capability| client.about.has(capability))
}

/// The answer to one of several questions at once, among which there is no place for errors; `None` if it stands for none.
pub(super) fn among_others(question: &Question, answered: Option<Answered>) -> Option<Box<str>> {
    match answered {
        Some(Answered::Result(result)) => Some(result),
        Some(Answered::Error(_)) | None if question.method == ELICIT => Some(SILENCE.into()),
        Some(Answered::Error(_)) | None => None,
    }
}

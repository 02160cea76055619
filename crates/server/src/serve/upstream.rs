//! One tool server, as long as the gate serves: it is connected to, asked for its tools, listened to, and when it is gone,
//! connected to again after a pause that grows. Each does this for itself, so a dead or slow one delays no other.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use callgate_gateway::catalog::{AdmissionSettings, Catalog};
use callgate_gateway::{Journal, Refusal};
use callgate_schema::json::Digest;
use callgate_wire::{Code, Stage};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::change::{Change, Changes};
use super::connect::{Connection, connect};
use super::followed::Wishes;
use super::link::{Link, News};
use super::listing::{self, Listed};
use super::watch::watch;
use crate::config;

/// The pause before a server is connected to again, at first.
const PAUSE_MIN: Duration = Duration::from_millis(250);
/// The longest such pause.
const PAUSE_MAX: Duration = Duration::from_secs(30);
/// A connection that held so long was a good one: the next pause is the first again.
const GOOD: Duration = Duration::from_secs(30);

/// How often it is looked whether calls are out still.
const CALLS_LOOK: Duration = Duration::from_millis(10);

/// A tool server behind the gate.
pub(crate) struct Upstream {
    pub(crate) config: config::Upstream,
    /// What stands before the names of its tools.
    pub(crate) prefix: String,
    pub(crate) settings: UpstreamSettings,
    pub(crate) journal: Arc<dyn Journal>,
    view: watch::Sender<View>,
    changes: Changes,
    calls: AtomicUsize,
    revisions: AtomicUsize,
    /// Single resources that clients want to hear of.
    pub(super) wishes: Wishes,
    /// Becomes true when it is not to be connected any more.
    ending: watch::Sender<bool>,
}

/// What every upstream is told at its start.
#[derive(Debug, Clone)]
pub(crate) struct UpstreamSettings {
    pub(crate) admission: AdmissionSettings,
    pub(crate) frames: callgate_mcp::FrameLimits,
    pub(crate) call_timeout: Duration,
    pub(crate) held_bytes_max: u32,
    pub(crate) calls_in_flight_max: usize,
}

/// What is known of a tool server now.
#[derive(Clone, Default)]
pub(crate) struct View {
    pub(crate) link: Option<Arc<Link>>,
    /// Its tools, if they are known and compared with their pins.
    pub(crate) catalog: Option<Arc<Catalog>>,
    /// Why there is no link or no catalog.
    pub(crate) fault: Option<Arc<str>>,
}

/// A call's place among those that are out to one server; given back when dropped.
pub(crate) struct CallSlot(Arc<Upstream>);

impl Drop for CallSlot {
    fn drop(&mut self) {
        self.0.calls.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Upstream {
    pub(crate) fn new(
        config: config::Upstream,
        prefix: String,
        settings: UpstreamSettings,
        journal: Arc<dyn Journal>,
        changes: Changes,
    ) -> Upstream {
        let view = watch::Sender::new(View::default());
        let (calls, revisions) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let (wishes, ending) = (Wishes::default(), watch::Sender::new(false));
        Upstream { config, prefix, settings, journal, view, changes, calls, revisions, wishes, ending }
    }

    /// What is known now.
    pub(crate) fn view(&self) -> View {
        self.view.borrow().clone()
    }

    /// Calls that are out.
    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    /// Waits until no call is out.
    pub(super) async fn no_calls(&self) {
        while self.calls() > 0 {
            tokio::time::sleep(CALLS_LOOK).await;
        }
    }

    /// A place for one more call.
    pub(crate) fn slot(self: &Arc<Upstream>) -> Result<CallSlot, Refusal> {
        let most = self.settings.calls_in_flight_max;
        let before = self.calls.fetch_add(1, Ordering::Relaxed);
        let slot = CallSlot(Arc::clone(self));
        if before >= most {
            let message = format!("expected at most {most} calls at once to this server, found one more");
            return Err(
                Refusal::new(Code::CallsInFlight, message).with_help("wait for answers and call again")
            );
        }
        Ok(slot)
    }

    /// Waits until the tools are known or cannot be, until then at most.
    pub(crate) async fn ready(&self, until: Instant) -> Result<(Arc<Link>, Arc<Catalog>), Refusal> {
        let mut view = self.view.subscribe();
        let known = |view: &View| view.fault.is_some() || (view.link.is_some() && view.catalog.is_some());
        let waited = tokio::time::timeout_at(until, view.wait_for(known)).await;
        let view = match waited {
            Ok(Ok(view)) => view.clone(),
            _ => return Err(self.unready(Code::UpstreamTimeout, "it has not listed its tools in time")),
        };
        match (view.link, view.catalog, view.fault) {
            (Some(link), Some(catalog), _) => Ok((link, catalog)),
            (None, _, fault) => {
                Err(self.unready(Code::UpstreamGone, fault.as_deref().unwrap_or("it is gone")))
            }
            (_, None, fault) => {
                Err(self.unready(Code::UpstreamListFailed, fault.as_deref().unwrap_or("it lists no tools")))
            }
        }
    }

    fn unready(&self, code: Code, why: &str) -> Refusal {
        Refusal::new(code, format!("the tool server `{}` cannot be called: {why}", self.config.name))
            .in_stage(Stage::Resolve)
            .with_help("other tools are not concerned; the operator of the gate has to look at this server")
    }

    /// Takes up that an operator has accepted a tool's change.
    pub(crate) fn release(&self, tool: &str, digest: Digest) {
        self.view.send_if_modified(|view| {
            let released = view.catalog.as_ref().and_then(|catalog| catalog.release(tool, digest));
            let Some(catalog) = released else { return false };
            tracing::info!(tool, %digest, "an operator has accepted its change; it can be called");
            view.catalog = Some(Arc::new(catalog));
            true
        });
    }

    /// The number of the next catalog.
    pub(super) fn next_revision(&self) -> u64 {
        self.revisions.fetch_add(1, Ordering::Relaxed) as u64 + 1
    }

    /// Has the server let go of. Calls that are out are in doubt then.
    pub(crate) fn end(&self) {
        self.ending.send_replace(true);
    }

    /// Keeps the server connected until it is to be let go of.
    pub(crate) async fn keep(self: Arc<Upstream>) {
        let mut stop = self.ending.subscribe();
        let mut pause = PAUSE_MIN;
        while !*stop.borrow() {
            let begin = Instant::now();
            let reason = self.live(&mut stop).await;
            if *stop.borrow() {
                break;
            }
            if begin.elapsed() >= GOOD {
                pause = PAUSE_MIN;
            }
            tracing::warn!(
                upstream = self.config.name,
                reason,
                again_in_ms = pause.as_millis(),
                "the tool server cannot be called"
            );
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                _ = stop.wait_for(|stop| *stop) => {}
            }
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    /// One connection, from its beginning to its end, of which the reason is given.
    async fn live(&self, stop: &mut watch::Receiver<bool>) -> String {
        let connected = tokio::select! {
            connected = connect(&self.config, &self.settings) => connected,
            _ = stop.wait_for(|stop| *stop) => return String::new(),
        };
        let Connection { link, mut news, child } = match connected {
            Ok(connection) => connection,
            Err(reason) => return self.lose(reason),
        };
        self.view.send_modify(|view| *view = View { link: Some(Arc::clone(&link)), ..View::default() });
        let reason = tokio::select! {
            reason = self.follow(&link, &mut news) => reason,
            never = watch(&link, &self.wishes) => match never {},
            _ = stop.wait_for(|stop| *stop) => "the gate stops".to_owned(),
        };
        let reason = self.lose(reason);
        link.end(&reason);
        link.leave().await;
        drop(link);
        if let Some(child) = child {
            child.stop().await;
        }
        reason
    }

    /// Lists the tools, and again whenever they change; gives the reason for which the server is gone.
    async fn follow(&self, link: &Arc<Link>, news: &mut mpsc::Receiver<News>) -> String {
        let mut stale = true;
        loop {
            if stale {
                tokio::select! {
                    listed = listing::list(self, link) => self.take(listed),
                    reason = link.ended() => return reason,
                }
                stale = false;
            }
            tokio::select! {
                reason = link.ended() => return reason,
                () = link.tools_changed() => {
                    tracing::info!(upstream = self.config.name, "its tools have changed");
                    // Calls wait for the new list: none is judged by a definition that may be gone.
                    self.view.send_modify(|view| view.catalog = None);
                    stale = true;
                }
                Some(news) = news.recv() => {
                    self.changes.tell(Change::told(&self.config.name, news));
                }
            }
        }
    }

    fn take(&self, listed: Result<Listed, String>) {
        match listed {
            Ok(Listed { catalog }) => {
                self.view.send_modify(|view| {
                    view.catalog = Some(Arc::new(catalog));
                    view.fault = None;
                });
            }
            Err(reason) => {
                tracing::error!(upstream = self.config.name, reason, "its tools cannot be used");
                self.view.send_modify(|view| {
                    view.catalog = None;
                    view.fault = Some(reason.into());
                });
            }
        }
        self.changes.tell(Change::Tools);
    }

    fn lose(&self, reason: String) -> String {
        let had = self.view.borrow().catalog.is_some();
        self.view.send_modify(|view| *view = View { fault: Some(reason.as_str().into()), ..View::default() });
        if had {
            self.changes.tell(Change::Tools);
        }
        reason
    }
}

//! What all clients share: the configuration, the journal, the tool servers, and which of them has the tool of a name.

use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use callgate_gateway::call::Dispatch;
use callgate_gateway::catalog::{AdmissionSettings, Catalog, Lookup};
use callgate_gateway::intent::Observation;
use callgate_gateway::policy::{Target, TargetKind};
use callgate_gateway::{Journal, Refusal};
use callgate_wire::{Code, Principal, Stage};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::change::Changes;
use super::client::Client;
use super::link::Link;
use super::metrics::Metrics;
use super::others::Owners;
use super::parked::{Bond, Parked, Waits};
use super::question;
use super::upstream::{Upstream, UpstreamSettings};
use crate::clock::now;
use crate::config::{self, Config};
use crate::session::record_with;

/// Calls at once of one principal, to all servers together.
const CALLS_OF_PRINCIPAL_MAX: usize = 256;
/// Bytes that were read from one server and are not taken yet.
const HELD_BYTES_MAX: u32 = 64 << 20;
/// Calls whose late answers are waited for.
const LATE_MAX: usize = 4_096;
/// How long a list waits for servers that are still being connected to.
const FIRST_LIST: Duration = Duration::from_secs(2);

/// A gate before all servers of a configuration.
pub struct Gate {
    pub(crate) config: Fixed,
    pub(crate) journal: Arc<dyn Journal>,
    current: RwLock<Arc<Current>>,
    pub(crate) changes: Changes,
    /// When a list waits no longer for servers that have never been connected.
    patience: Instant,
    pub(crate) owners: Owners,
    pub(super) stopping: watch::Sender<bool>,
    giving_up: watch::Sender<bool>,
    in_flight: Mutex<std::collections::HashMap<Principal, usize>>,
    keepers: Mutex<JoinSet<()>>,
    /// What waits for late answers.
    late: Mutex<JoinSet<()>>,
    /// Calls whose clients come again with answers.
    pub(crate) parked: Parked,
    pub(crate) metrics: Metrics,
}

/// What no new configuration changes while the gate serves.
pub(crate) struct Fixed {
    pub(crate) gate: config::Gate,
}

/// What is in force until there is a new configuration.
pub(crate) struct Current {
    pub(crate) config: Arc<Config>,
    /// In the order of the configuration.
    pub(crate) upstreams: Vec<Arc<Upstream>>,
}

/// The tool that a name means: its server, what the server calls it, and its tools.
pub(crate) struct Route {
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) link: Arc<Link>,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) tool: String,
}

/// A call's place among those of its principal; given back when dropped.
pub(crate) struct PrincipalSlot<'g>(&'g Gate, Principal);

impl Drop for PrincipalSlot<'_> {
    fn drop(&mut self) {
        let mut counts = self.0.in_flight.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.1) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.1);
            }
        }
    }
}

impl Gate {
    /// Starts a gate: every server of the configuration is connected to. To be called within a runtime.
    pub fn start(config: Arc<Config>, journal: Arc<dyn Journal>) -> Arc<Gate> {
        let nothing = Current { config: Arc::clone(&config), upstreams: Vec::new() };
        let gate = Arc::new(Gate {
            config: Fixed { gate: config.gate.clone() },
            journal,
            current: RwLock::new(Arc::new(nothing)),
            changes: Changes::new(),
            patience: Instant::now() + FIRST_LIST,
            owners: Owners::default(),
            stopping: watch::Sender::new(false),
            giving_up: watch::Sender::new(false),
            in_flight: Mutex::default(),
            keepers: Mutex::new(JoinSet::new()),
            late: Mutex::new(JoinSet::new()),
            parked: Parked::default(),
            metrics: Metrics::new(),
        });
        gate.put_in_force(config);
        gate
    }

    /// What is in force now. Whoever decides something by it takes it once.
    pub(crate) fn current(&self) -> Arc<Current> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Puts a configuration in force: servers that are in it as they were stay connected. Gives those that are not in it any
    /// more.
    pub(super) fn put_in_force(&self, config: Arc<Config>) -> Vec<Arc<Upstream>> {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        let before = &current.upstreams;
        let alone = config.upstreams.len() == 1;
        let mut fresh = Vec::new();
        let mut upstreams = Vec::new();
        for upstream in &config.upstreams {
            let prefix = prefix(upstream, alone);
            let same = before.iter().find(|known| known.config == *upstream && known.prefix == prefix);
            upstreams.push(same.cloned().unwrap_or_else(|| {
                let settings = settings(&config, upstream);
                let (journal, changes) = (Arc::clone(&self.journal), self.changes.clone());
                let upstream = Arc::new(Upstream::new(upstream.clone(), prefix, settings, journal, changes));
                fresh.push(Arc::clone(&upstream));
                upstream
            }));
        }
        let stays = |known: &&Arc<Upstream>| upstreams.iter().any(|upstream| Arc::ptr_eq(upstream, known));
        let gone = before.iter().filter(|known| !stays(known)).cloned().collect();
        *current = Arc::new(Current { config, upstreams });
        drop(current);
        for upstream in fresh {
            self.keep(upstream.keep());
        }
        gone
    }

    /// Has something run that the end of the gate waits for.
    pub(super) fn keep(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut keepers = self.keepers.lock().unwrap_or_else(PoisonError::into_inner);
        while keepers.try_join_next().is_some() {}
        keepers.spawn(work);
    }

    /// Waits for a late answer beside everything else, if not too much waits so: what is not waited for stays in doubt.
    pub(crate) fn wait_late(&self, answer: impl Future<Output = ()> + Send + 'static) {
        let mut late = self.late.lock().unwrap_or_else(PoisonError::into_inner);
        while late.try_join_next().is_some() {}
        if late.len() < LATE_MAX {
            late.spawn(answer);
        }
    }

    /// Has a call wait for its client, which comes again with the state that is given; if it does not, the call ends.
    pub(super) fn park(self: &Arc<Gate>, bond: Bond, waits: Waits) -> Result<String, Waits> {
        let state = self.parked.park(bond, waits)?;
        let (gate, waiting) = (Arc::downgrade(self), state.clone());
        self.wait_late(async move {
            tokio::time::sleep(question::PATIENCE).await;
            if let Some(gate) = gate.upgrade()
                && let Some(Waits::Call(call)) = gate.parked.expire(&waiting)
            {
                call.abandon(&gate, false).await;
            }
        });
        Ok(state)
    }

    /// Records what was observed of a call, on a thread that may block.
    pub(super) async fn record(&self, dispatch: &Dispatch, observation: Observation) {
        let (journal, id) = (Arc::clone(&self.journal), dispatch.intent().id.clone());
        let settlement = dispatch.observe(observation, now());
        let recorded =
            tokio::task::spawn_blocking(move || record_with(&*journal, &id, &settlement, None)).await;
        if recorded.is_err() {
            tracing::error!(intent = %dispatch.intent().id, "a defect of the gate left an outcome without a record");
        }
    }

    /// Ends every server and waits until they are gone.
    pub async fn stop(&self) {
        for waits in self.parked.drain() {
            if let Waits::Call(call) = waits {
                call.abandon(self, true).await;
            }
        }
        let mut late = std::mem::take(&mut *self.late.lock().unwrap_or_else(PoisonError::into_inner));
        late.shutdown().await;
        let _ = self.stopping.send(true);
        for upstream in &self.current().upstreams {
            upstream.end();
        }
        let mut keepers = std::mem::take(&mut *self.keepers.lock().unwrap_or_else(PoisonError::into_inner));
        while keepers.join_next().await.is_some() {}
    }

    /// Waits no longer for anything that is out: calls that have left are in doubt.
    pub(crate) fn give_up(&self) {
        let _ = self.giving_up.send(true);
    }

    /// Waits until nothing is waited for any more.
    pub(crate) async fn given_up(&self) {
        let mut giving_up = self.giving_up.subscribe();
        // The gate outlives everything that waits for it.
        let _ = giving_up.wait_for(|giving_up| *giving_up).await;
    }

    /// Calls that are out, to all servers.
    fn calls(&self) -> usize {
        self.current().upstreams.iter().map(|upstream| upstream.calls()).sum()
    }

    /// Waits until no call is out.
    pub(crate) async fn no_calls(&self) {
        while self.calls() > 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// A place for one more call of this principal.
    pub(crate) fn slot(&self, principal: &Principal) -> Result<PrincipalSlot<'_>, Refusal> {
        let mut counts = self.in_flight.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(principal.clone()).or_default();
        if *count >= CALLS_OF_PRINCIPAL_MAX {
            let message = format!("expected at most {CALLS_OF_PRINCIPAL_MAX} calls at once, found one more");
            return Err(
                Refusal::new(Code::CallsInFlight, message).with_help("wait for answers and call again")
            );
        }
        *count += 1;
        Ok(PrincipalSlot(self, principal.clone()))
    }

    /// The server that has the tool of this name, by the names under which clients know tools.
    ///
    /// # Errors
    /// `call-unknown-tool`, or why the server that would have it cannot be called.
    pub(crate) async fn route(&self, name: &str, until: Instant) -> Result<Route, Refusal> {
        // Of several servers that could have it, one that does is meant; the first in the order of the configuration.
        let mut candidates = Vec::new();
        let current = self.current();
        for upstream in &current.upstreams {
            let Some(tool) = name.strip_prefix(upstream.prefix.as_str()) else { continue };
            let view = upstream.view();
            if let (Some(link), Some(catalog)) = (view.link, view.catalog)
                && !matches!(catalog.tool(tool), Lookup::Unknown)
            {
                let upstream = Arc::clone(upstream);
                return Ok(Route { upstream, link, catalog, tool: tool.to_owned() });
            }
            candidates.push((upstream, tool));
        }
        // The longest prefix tells which server is meant by a name that none has now.
        candidates.sort_by_key(|(upstream, _)| std::cmp::Reverse(upstream.prefix.len()));
        let Some((upstream, tool)) = candidates.first() else { return Err(self.unknown(name)) };
        let (link, catalog) = upstream.ready(until).await?;
        Ok(Route { upstream: Arc::clone(upstream), link, catalog, tool: (*tool).to_owned() })
    }

    fn unknown(&self, name: &str) -> Refusal {
        let current = self.current();
        let known: Vec<&str> = current.upstreams.iter().map(|upstream| upstream.prefix.as_str()).collect();
        let message =
            format!("expected a tool whose name begins with one of `{}`, found `{name}`", known.join("`, `"));
        Refusal::new(Code::CallUnknownTool, message).in_stage(Stage::Resolve)
    }

    /// Waits until each server is connected or cannot be; only at first, and not for long. One that is slow or dead is left
    /// out of lists and announced when it comes.
    pub(super) async fn first_servers(&self) {
        for upstream in &self.current().upstreams {
            let _ = upstream.ready(self.patience).await;
        }
    }

    /// The tools that this client may know of: name, definition. Only at first it waits for servers, and not for long.
    pub(crate) async fn tools(&self, client: &Client) -> Vec<(String, Arc<Catalog>, usize)> {
        self.first_servers().await;
        let current = self.current();
        let mut tools: Vec<(String, Arc<Catalog>, usize)> = Vec::new();
        let mut names = std::collections::HashSet::new();
        for upstream in &current.upstreams {
            let Some(catalog) = upstream.view().catalog else { continue };
            for (index, tool) in catalog.admitted().iter().enumerate() {
                let target =
                    Target { kind: TargetKind::Tool, upstream: &upstream.config.name, name: &tool.name };
                if !current.config.rules.may_permit(&client.principal, &target) {
                    continue;
                }
                let name = format!("{}{}", upstream.prefix, tool.name);
                if !names.insert(name.clone()) {
                    tracing::warn!(
                        name,
                        upstream = upstream.config.name,
                        code = %Code::ToolNameRepeated,
                        "another server has a tool of this name, so this one is left out; a prefix tells them apart"
                    );
                    continue;
                }
                tools.push((name, Arc::clone(&catalog), index));
            }
        }
        tools
    }
}

/// What stands before the names of a server's tools: what the configuration says; else nothing for a server that is alone,
/// and its name for one among several.
fn prefix(upstream: &config::Upstream, alone: bool) -> String {
    match &upstream.prefix {
        Some(prefix) => prefix.clone(),
        None if alone => String::new(),
        None => format!("{}__", upstream.name.replace('.', "-")),
    }
}

fn settings(config: &Config, upstream: &config::Upstream) -> UpstreamSettings {
    let mut admission = AdmissionSettings::new(upstream.profile);
    admission.pin_ignore = upstream.pin_ignore.clone();
    UpstreamSettings {
        admission,
        frames: config.gate.frames.clone(),
        call_timeout: config.gate.call_timeout,
        held_bytes_max: HELD_BYTES_MAX,
        calls_in_flight_max: config.gate.calls_in_flight_max,
    }
}

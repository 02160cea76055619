//! A new configuration for a gate that serves: it is taken whole, or refused and nothing is changed.

use std::fmt;
use std::sync::Arc;

use super::change::Change;
use super::gate::Gate;
use super::upstream::Upstream;
use crate::config::{self, Config};

/// What a new configuration has changed of the servers, by their names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reloaded {
    /// Those that are connected to now, for the first time or anew.
    pub begun: Vec<String>,
    /// Those that are let go of as soon as their calls are answered.
    pub ended: Vec<String>,
}

/// Why a new configuration is not taken: these keys only count from the gate's next start on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NeedsRestart(Vec<&'static str>);

impl fmt::Display for NeedsRestart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "expected `{}` as at the start of the gate, found another value; start the gate anew to change it",
            self.0.join("`, `")
        )
    }
}

impl std::error::Error for NeedsRestart {}

impl Gate {
    /// Whether a configuration can be put in force while the gate serves.
    ///
    /// # Errors
    /// The keys that have to stay as they were.
    pub fn can_reload(&self, config: &Config) -> Result<(), NeedsRestart> {
        let mut changed = changed_settings(&self.config.gate, &config.gate);
        if self.current().config.serve.listen != config.serve.listen {
            changed.push("serve.listen");
        }
        if changed.is_empty() { Ok(()) } else { Err(NeedsRestart(changed)) }
    }

    /// Puts a configuration in force. Calls that are open end by the one under which they were let through; servers that
    /// stand in both stay connected. To be called within a runtime.
    ///
    /// # Errors
    /// As [`Gate::can_reload`].
    pub fn reload(self: &Arc<Gate>, config: Arc<Config>) -> Result<Reloaded, NeedsRestart> {
        self.can_reload(&config)?;
        let before = self.current();
        let gone = self.put_in_force(config);
        let fresh =
            |upstream: &&Arc<Upstream>| !before.upstreams.iter().any(|known| Arc::ptr_eq(known, upstream));
        let name = |upstream: &Arc<Upstream>| upstream.config.name.clone();
        let begun = self.current().upstreams.iter().filter(fresh).map(name).collect();
        let ended = gone.iter().map(name).collect();
        for upstream in gone {
            self.retire(upstream);
        }
        // Rules, too, decide about who sees which tools.
        self.changes.tell(Change::Tools);
        Ok(Reloaded { begun, ended })
    }

    /// Lets go of a server when its calls are answered, or have had the time that the end of a gate would give them.
    fn retire(&self, upstream: Arc<Upstream>) {
        let (drain, mut stopping) = (self.config.gate.drain, self.stopping.subscribe());
        self.keep(async move {
            tokio::select! {
                () = upstream.no_calls() => {}
                () = tokio::time::sleep(drain) => {}
                _ = stopping.wait_for(|stopping| *stopping) => {}
            }
            upstream.end();
        });
    }
}

/// The keys of `[gate]` that differ.
fn changed_settings(before: &config::Gate, after: &config::Gate) -> Vec<&'static str> {
    let config::Gate { store, profile, call_timeout, drain, calls_in_flight_max, frames } = after;
    let keys = [
        ("gate.store", before.store != *store),
        ("gate.profile", before.profile != *profile),
        ("gate.call_timeout_ms", before.call_timeout != *call_timeout),
        ("gate.drain_ms", before.drain != *drain),
        ("gate.calls_in_flight_max", before.calls_in_flight_max != *calls_in_flight_max),
        ("gate.frame_bytes_max", before.frames.frame_bytes_max != frames.frame_bytes_max),
        ("gate.result_bytes_max", before.frames.result_bytes_max != frames.result_bytes_max),
    ];
    keys.into_iter().filter(|(_, differs)| *differs).map(|(key, _)| key).collect()
}

//! What is counted of calls and servers, for `GET /metrics` in the text form of OpenMetrics. Nothing of arguments is in it, and
//! no name that a caller made up: calls of tools that no server has are counted without one.

use std::time::Duration;

use callgate_gateway::JournalError;
use callgate_gateway::journal::{ApprovalFilter, IntentFilter};
use callgate_wire::Code;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::{encode, encode_registry};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use super::gate::Gate;
use crate::clock::now;

/// Intents in doubt, and approvals that wait, up to which they are counted; beyond it the number is this one.
const COUNTED_MAX: u32 = 10_000;

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Ended {
    upstream: String,
    tool: String,
    outcome: String,
    code: String,
}

/// A part of a call's way.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Part {
    stage: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfUpstream {
    upstream: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfBudget {
    budget: String,
    scope: String,
}

/// What is counted while the gate serves.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    calls: Family<Ended, Counter>,
    seconds: Family<Part, Histogram>,
}

/// A part of a call's way that takes time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Until the call may leave: its checks, and the commit of its intent.
    Open,
    /// From there to the server's answer.
    Upstream,
    /// The check of the answer, and the commit of the outcome.
    Settle,
}

impl Metrics {
    pub(super) fn new() -> Metrics {
        let mut registry = Registry::with_prefix("callgate");
        let calls = Family::<Ended, Counter>::default();
        registry.register("calls", "Calls by how they ended", calls.clone());
        let seconds = Family::<Part, Histogram>::new_with_constructor(|| {
            // 100 µs to about 3 min.
            Histogram::new(exponential_buckets(0.000_1, 3.0, 14))
        });
        let help = "Time that the parts of a call take: open, upstream, settle";
        registry.register("call_stage_seconds", help, seconds.clone());
        Metrics { registry, calls, seconds }
    }

    /// Counts a call that ended. `tool` is the name that its server gave it, where there is such a tool.
    pub(super) fn ended(&self, upstream: &str, tool: &str, outcome: &str, code: Option<Code>) {
        let ended = Ended {
            upstream: upstream.to_owned(),
            tool: tool.to_owned(),
            outcome: outcome.to_owned(),
            code: code.map(Code::as_str).unwrap_or_default().to_owned(),
        };
        self.calls.get_or_create(&ended).inc();
    }

    /// Notes how long a part of a call took.
    pub(super) fn took(&self, stage: Stage, time: Duration) {
        let stage = match stage {
            Stage::Open => "open",
            Stage::Upstream => "upstream",
            Stage::Settle => "settle",
        };
        self.seconds.get_or_create(&Part { stage: stage.to_owned() }).observe(time.as_secs_f64());
    }
}

/// What stands now, read when it is asked for.
#[derive(Debug)]
struct Standing {
    registry: Registry,
}

impl Standing {
    fn new() -> Standing {
        Standing { registry: Registry::with_prefix("callgate") }
    }

    fn gauge(&mut self, name: &str, help: &str, value: u64) {
        let gauge: Gauge = Gauge::default();
        gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
        self.registry.register(name, help, gauge);
    }

    fn family<L>(&mut self, name: &str, help: &str, values: impl IntoIterator<Item = (L, u64)>)
    where
        L: Clone + std::hash::Hash + Eq + EncodeLabelSet + Send + Sync + std::fmt::Debug + 'static,
    {
        let family = Family::<L, Gauge>::default();
        for (labels, value) in values {
            family.get_or_create(&labels).set(i64::try_from(value).unwrap_or(i64::MAX));
        }
        self.registry.register(name, help, family);
    }
}

impl Gate {
    /// Everything that is counted, as text. Blocks: it looks into the store.
    ///
    /// # Errors
    /// The store's.
    pub(super) fn metrics_text(&self) -> Result<String, JournalError> {
        let mut standing = Standing::new();
        let of = |upstream: &super::upstream::Upstream| OfUpstream { upstream: upstream.config.name.clone() };
        let current = self.current();
        let views: Vec<_> = current.upstreams.iter().map(|upstream| (upstream, upstream.view())).collect();
        standing.family(
            "upstream_up",
            "Whether a tool server can be called",
            views.iter().map(|(upstream, view)| (of(upstream), u64::from(view.catalog.is_some()))),
        );
        standing.family(
            "upstream_tools",
            "Tools of a server that can be called",
            views.iter().map(|(upstream, view)| {
                let tools = view.catalog.as_ref().map_or(0, |catalog| catalog.admitted().len());
                (of(upstream), tools as u64)
            }),
        );
        standing.family(
            "upstream_tools_left_out",
            "Tools of a server that are not admitted",
            views.iter().map(|(upstream, view)| {
                let tools = view.catalog.as_ref().map_or(0, |catalog| catalog.quarantined().len());
                (of(upstream), tools as u64)
            }),
        );
        standing.family(
            "calls_in_flight",
            "Calls that are with a server now",
            current.upstreams.iter().map(|upstream| (of(upstream), upstream.calls() as u64)),
        );
        let doubts = IntentFilter { limit: COUNTED_MAX, in_doubt: true, before: None };
        let doubts = self.journal.list(&doubts)?.len();
        standing.gauge(
            "intents_in_doubt",
            "Calls of which nobody knows whether they took effect",
            doubts as u64,
        );
        let pending = ApprovalFilter { limit: COUNTED_MAX, pending_at: Some(now()) };
        let pending = self.journal.approvals(&pending)?.len();
        standing.gauge("approvals_pending", "Requests that a person permit a call", pending as u64);
        let counters = self.journal.counters()?;
        let of = |charge: &callgate_wire::Charge| OfBudget {
            budget: charge.budget.clone(),
            scope: charge.scope.clone(),
        };
        // Of several windows of one counter the last one is in force.
        let counters = || counters.iter().rev();
        standing.family(
            "budget_used",
            "What is taken of a budget, with what is reserved",
            counters()
                .map(|counter| (of(&counter.charge), counter.committed.saturating_add(counter.reserved))),
        );
        standing.family(
            "budget_limit",
            "What a budget holds",
            counters().map(|counter| (of(&counter.charge), counter.charge.limit)),
        );
        let mut text = String::new();
        // What is counted, then what stands, which has the end mark.
        let written = encode_registry(&mut text, &self.metrics.registry);
        if written.and_then(|()| encode(&mut text, &standing.registry)).is_err() {
            tracing::error!("a defect of the gate: its metrics cannot be written");
        }
        Ok(text)
    }
}

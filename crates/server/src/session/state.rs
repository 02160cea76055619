//! What a session knows, and the work it has given away.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use callgate_gateway::budget::BudgetSet;
use callgate_gateway::call::Dispatch;
use callgate_gateway::catalog::{AdmissionSettings, Catalog};
use callgate_gateway::policy::{Claims, RuleSet};
use callgate_gateway::{Journal, Refusal};
use callgate_mcp::{FrameLimits, RequestId, answer, error_map, outcome::Notice};
use callgate_wire::{Code, Principal};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::contract::Released;
use super::departures::Departures;
use super::late::Late;
use super::listing::{Listed, Listing};
use crate::lane::{Line, Outbox};

/// What a session is told at its start.
#[derive(Debug, Clone)]
pub struct SessionSettings {
    /// The upstream's name in records and digests.
    pub upstream: String,
    /// On whose behalf the client calls.
    pub principal: Principal,
    /// What is known of them, for the rules.
    pub claims: Claims,
    /// Who may call what.
    pub rules: Arc<RuleSet>,
    /// How much may be called.
    pub budgets: Arc<BudgetSet>,
    /// How long a request for an approval waits for an answer, and an approval for its call.
    pub approval_expiry: Duration,
    /// How tools are judged.
    pub admission: AdmissionSettings,
    /// The maxima of frames.
    pub frames: FrameLimits,
    /// How long the upstream may take to answer a request.
    pub call_timeout: Duration,
    /// How long a session that ends waits for what is still out.
    pub drain: Duration,
    /// Tool calls at once.
    pub calls_in_flight_max: usize,
    /// Bytes of the frames of these calls.
    pub calls_bytes_max: usize,
    /// Other requests at once.
    pub requests_in_flight_max: usize,
    /// Bytes that were read from one peer and are not written to the other one yet, calls not counted: four of the
    /// largest frames, so that one of them does not hold up the rest.
    pub held_bytes_max: u32,
}

impl SessionSettings {
    /// The defaults for this upstream and principal.
    pub fn new(upstream: impl Into<String>, principal: Principal, admission: AdmissionSettings) -> Self {
        SessionSettings {
            upstream: upstream.into(),
            claims: Claims::local(&principal),
            rules: Arc::new(RuleSet::none()),
            budgets: Arc::new(BudgetSet::none()),
            approval_expiry: Duration::from_mins(15),
            principal,
            admission,
            frames: FrameLimits::default(),
            call_timeout: Duration::from_mins(5),
            drain: Duration::from_secs(5),
            calls_in_flight_max: 256,
            calls_bytes_max: 64 << 20,
            requests_in_flight_max: 1_024,
            held_bytes_max: 64 << 20,
        }
    }
}

/// A request of the client that is not answered yet.
#[derive(Debug)]
pub(super) struct Open {
    /// The id in the client's spelling.
    pub(super) id: RequestId,
    /// Tells this request from a later one with the same id.
    pub(super) serial: u64,
    pub(super) kind: Kind,
}

#[derive(Debug)]
pub(super) enum Kind {
    /// Passed on as it is.
    Passed { method: String },
    /// `tools/list`, which the gate answers.
    List,
    /// `tools/call`.
    Call(OpenCall),
}

#[derive(Debug)]
pub(super) struct OpenCall {
    pub(super) tool: String,
    /// Its share of `calls_bytes_max`.
    pub(super) bytes: usize,
    pub(super) stage: CallStage,
}

/// How far a call has come.
#[derive(Debug)]
pub(super) enum CallStage {
    /// Until the tools are known.
    Waiting { frame: Box<[u8]>, arguments: Option<Range<usize>> },
    /// It is checked and its intent is made durable; nothing of it has left.
    Opening { withdrawn: Option<Withdrawal> },
    /// It has left.
    Sent(Arc<Dispatch>),
    /// Its outcome is made durable; the answer follows.
    Settling,
}

/// Why a call is not sent although it could be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Withdrawal {
    /// Its caller withdrew it and gets no answer.
    Caller,
    /// The gate stops.
    Gate,
    /// The upstream takes nothing more.
    Upstream,
}

/// Work that came back from a blocking thread.
#[derive(Debug)]
pub(super) enum Done {
    /// A call was checked, and its intent is durable or it is refused.
    Opened {
        id: RequestId,
        frame: Box<[u8]>,
        outcome: Result<Box<Dispatch>, Box<Refusal>>,
        /// The tool can be called from now on, since an operator has accepted its change.
        released: Option<Released>,
    },
    /// The outcome of an open call is recorded, as far as it can be; what its caller gets.
    Settled { id: RequestId, answer: Option<Line> },
    /// The outcome of a call that is no longer open is recorded; what its caller gets.
    Recorded { answer: Option<Line> },
    /// The tools are judged.
    Listed(Box<Listed>),
    /// A defect of ours ended the work.
    Failed(Work),
}

/// What a piece of work is for.
#[derive(Debug, Clone)]
pub(super) enum Work {
    /// A call, whose caller waits.
    Call(RequestId),
    /// The list of tools.
    Listing,
    /// A record that nobody waits for.
    Record,
}

impl Work {
    pub(super) fn of(caller: Option<RequestId>) -> Work {
        caller.map_or(Work::Record, Work::Call)
    }
}

/// How the upstream is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UpstreamState {
    /// It reads and writes.
    Up,
    /// It takes nothing more, and may still write.
    Deaf,
    /// It writes nothing more.
    Gone,
}

/// How the peers' `initialize` went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Handshake {
    /// It was not refused here, or there was none: not every client sends one.
    Open,
    /// Its answer was refused here, and no later one was passed on.
    Refused,
}

/// The state of a session.
pub(super) struct Session {
    pub(super) settings: Arc<SessionSettings>,
    pub(super) journal: Arc<dyn Journal>,
    pub(super) to_client: Outbox,
    pub(super) to_upstream: Outbox,
    pub(super) upstream: UpstreamState,
    pub(super) handshake: Handshake,
    pub(super) open: HashMap<RequestId, Open>,
    pub(super) late: Late,
    /// Every request has the same allowance of time, so the order of arrival is that of the deadlines.
    pub(super) deadlines: VecDeque<(Instant, RequestId, u64)>,
    pub(super) serial: u64,
    pub(super) departures: Departures,
    pub(super) calls: usize,
    pub(super) calls_bytes: usize,
    pub(super) catalog: Option<Arc<Catalog>>,
    pub(super) catalog_revision: u64,
    pub(super) listing: Option<Listing>,
    pub(super) lists: u64,
    /// Makes the ids of the gate's own requests unlike any of the client's.
    pub(super) own_prefix: String,
    /// Unreadable or unexpected lines of the upstream.
    pub(super) stray_lines: u64,
    /// Results in which the upstream spoke in the gate's name.
    pub(super) forged_results: u64,
    pub(super) done: mpsc::UnboundedSender<Done>,
    /// Work that is out.
    pub(super) tasks: usize,
}

impl Session {
    /// Gives work to a thread that may block. What it panics with is a defect of ours and ends only this piece of work.
    pub(super) fn spawn(&mut self, purpose: Work, work: impl FnOnce() -> Done + Send + 'static) {
        self.tasks += 1;
        let done = self.done.clone();
        tokio::task::spawn_blocking(move || {
            let outcome = catch_unwind(AssertUnwindSafe(work)).unwrap_or(Done::Failed(purpose));
            // The session outlives its work, since it counts it.
            let _ = done.send(outcome);
        });
    }

    /// Keeps a request until it is answered.
    pub(super) fn keep(&mut self, id: RequestId, kind: Kind) {
        self.serial += 1;
        if let Kind::Call(call) = &kind {
            self.calls += 1;
            self.calls_bytes += call.bytes;
        }
        let open = Open { id: id.clone(), serial: self.serial, kind };
        let before = self.open.insert(id, open);
        assert!(before.is_none(), "an id that is in use is refused before this");
    }

    /// Starts the allowance of time of a request that was sent.
    pub(super) fn start_clock(&mut self, id: &RequestId) {
        if let Some(open) = self.open.get(id) {
            let due = Instant::now() + self.settings.call_timeout;
            self.deadlines.push_back((due, open.id.clone(), open.serial));
        }
    }

    /// Forgets a request, which is answered now or was given up.
    pub(super) fn forget(&mut self, id: &RequestId) -> Option<Open> {
        let open = self.open.remove(id)?;
        self.departures.cancel(id);
        if let Kind::Call(call) = &open.kind {
            self.calls -= 1;
            self.calls_bytes -= call.bytes;
        }
        Some(open)
    }

    /// Answers a request other than a call with an error.
    pub(super) fn answer_error(&mut self, id: &RequestId, code: Code, message: &str) {
        let frame = answer::error(Some(id), error_map::error_code(code), code, message, &[]);
        self.to_client.push(Line::own(frame));
    }

    /// Answers a call that was refused.
    pub(super) fn answer_refusal(&mut self, id: &RequestId, tool: &str, refusal: &Refusal) {
        tracing::info!(tool, code = %refusal.code, stage = %refusal.stage, "refused");
        self.to_client.push(Line::own(answer::refusal(id, refusal)));
    }

    /// Answers a call whose result does not come.
    pub(super) fn notice_line(id: &RequestId, notice: &Notice) -> Line {
        Line::own(answer::result(id, &notice.to_result()))
    }

    /// Counts a line of the upstream that goes nowhere; logs the first ones and then ever fewer, so that a talkative
    /// upstream does not fill the log.
    pub(super) fn stray(&mut self, what: &str) {
        self.stray_lines += 1;
        if self.stray_lines <= 10 || self.stray_lines.is_power_of_two() {
            tracing::warn!(count = self.stray_lines, "a line of the upstream is dropped: {what}");
        }
    }
}

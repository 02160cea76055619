//! The way of a `tools/call`: counted, checked and made durable elsewhere, and only then sent.

use std::ops::Range;
use std::sync::Arc;

use callgate_gateway::call::{Call, Departure, Dispatch, Terms, repeated};
use callgate_gateway::catalog::Catalog;
use callgate_gateway::{Journal, Refusal};
use callgate_mcp::{RequestId, frame};
use callgate_wire::{Code, Stage, Timestamp};

use super::contract::{Released, resolve_now};
use super::departures::Ready;
use super::state::{
    CallStage, Done, Kind, OpenCall, Session, SessionSettings, UpstreamState, Withdrawal, Work,
};
use crate::clock::{fresh_intent_id, now};
use crate::lane::Line;

impl Session {
    /// Takes a call.
    pub(super) fn on_call(&mut self, call: frame::Call, line: Line) {
        let frame::Call { id, tool, arguments } = call;
        let frame = line.into_bytes();
        if let Some(refusal) = self.refuses(frame.len()) {
            self.answer_refusal(&id, &tool, &refusal);
            return;
        }
        let bytes = frame.len();
        let stage = CallStage::Waiting { frame, arguments };
        self.keep(id.clone(), Kind::Call(OpenCall { tool, bytes, stage }));
        match self.catalog.clone() {
            Some(catalog) => self.open_call(&id, &catalog),
            None => self.list_tools(),
        }
    }

    /// Why no call of this size is taken now.
    fn refuses(&self, bytes: usize) -> Option<Refusal> {
        if self.upstream != UpstreamState::Up {
            return Some(
                Refusal::new(Code::UpstreamGone, "the upstream has ended")
                    .in_stage(Stage::Resolve)
                    .with_help("the tool server has to be started again"),
            );
        }
        let SessionSettings { calls_in_flight_max, calls_bytes_max, .. } = *self.settings;
        let full = if self.calls >= calls_in_flight_max {
            format!("expected at most {calls_in_flight_max} calls at once, found one more")
        } else if self.calls_bytes + bytes > calls_bytes_max {
            format!("expected at most {calls_bytes_max} bytes of calls at once, found more")
        } else {
            return None;
        };
        Some(Refusal::new(Code::CallsInFlight, full).with_help("wait for answers and call again"))
    }

    /// Checks every call that waited for the tools.
    pub(super) fn open_waiting_calls(&mut self, catalog: &Arc<Catalog>) {
        for id in self.waiting_calls() {
            self.open_call(&id, catalog);
        }
    }

    /// The calls that wait for the tools, in the order in which they came.
    pub(super) fn waiting_calls(&self) -> Vec<RequestId> {
        let waits =
            |kind: &Kind| matches!(kind, Kind::Call(call) if matches!(call.stage, CallStage::Waiting { .. }));
        let mut waiting: Vec<_> = self.open.values().filter(|open| waits(&open.kind)).collect();
        waiting.sort_by_key(|open| open.serial);
        waiting.into_iter().map(|open| open.id.clone()).collect()
    }

    /// Gives a call to a thread that checks it and makes its intent durable. Many may be there at once: the journal
    /// makes several intents durable with one write.
    fn open_call(&mut self, id: &RequestId, catalog: &Arc<Catalog>) {
        let Some(call) = self.call_mut(id) else { return };
        let stage = std::mem::replace(&mut call.stage, CallStage::Opening { withdrawn: None });
        let CallStage::Waiting { frame, arguments } = stage else {
            call.stage = stage;
            return;
        };
        let tool = call.tool.clone();
        let (catalog, settings, journal) =
            (Arc::clone(catalog), Arc::clone(&self.settings), Arc::clone(&self.journal));
        let id = id.clone();
        self.departures.expect(id.clone());
        self.spawn(Work::Call(id.clone()), move || {
            let mut released = None;
            let outcome = open(&settings, &*journal, &catalog, &mut released, &tool, &frame, arguments);
            Done::Opened { id, frame, outcome: outcome.map(Box::new).map_err(Box::new), released }
        });
    }

    /// A call was checked, and its intent is durable or it is refused.
    pub(super) fn on_opened(
        &mut self,
        id: &RequestId,
        frame: Box<[u8]>,
        outcome: Result<Box<Dispatch>, Box<Refusal>>,
    ) {
        let Some(call) = self.call_mut(id) else { return };
        let tool = call.tool.clone();
        let withdrawn = match call.stage {
            CallStage::Opening { withdrawn } => withdrawn,
            CallStage::Waiting { .. } | CallStage::Sent(_) | CallStage::Settling => None,
        };
        match (outcome, withdrawn) {
            (Err(_), Some(Withdrawal::Caller)) => {
                self.forget(id);
            }
            (Err(refusal), _) => {
                if let Some(open) = self.forget(id) {
                    self.answer_refusal(&open.id, &tool, &refusal);
                }
            }
            (Ok(dispatch), Some(withdrawal)) => {
                self.departures.cancel(id);
                self.settle_unsent(id, dispatch, withdrawal);
            }
            (Ok(dispatch), None) => self.departures.ready(id, Ready { dispatch, frame }),
        }
        self.depart();
    }

    /// Sends the calls whose turn it is.
    pub(super) fn depart(&mut self) {
        while let Some((id, Ready { dispatch, frame })) = self.departures.next() {
            let Some(call) = self.call_mut(&id) else { continue };
            let CallStage::Opening { withdrawn } = call.stage else { continue };
            let tool = call.tool.clone();
            match withdrawn {
                Some(withdrawal) => self.settle_unsent(&id, dispatch, withdrawal),
                None if self.upstream != UpstreamState::Up => {
                    self.settle_unsent(&id, dispatch, Withdrawal::Upstream);
                }
                None => {
                    tracing::info!(tool, intent = %dispatch.intent().id, "sent");
                    self.send_call(&dispatch, frame);
                    call_stage(self, &id, CallStage::Sent(Arc::new(*dispatch)));
                    self.start_clock(&id);
                }
            }
        }
    }

    /// INVARIANT: the only place from which a call leaves. A [`Dispatch`] exists only for an intent that is durable.
    fn send_call(&self, _proof: &Dispatch, frame: Box<[u8]>) {
        self.to_upstream.push(Line::own(frame.into_vec()));
    }

    /// The open call with this id.
    pub(super) fn call_mut(&mut self, id: &RequestId) -> Option<&mut OpenCall> {
        match self.open.get_mut(id).map(|open| &mut open.kind) {
            Some(Kind::Call(call)) => Some(call),
            _ => None,
        }
    }
}

pub(super) fn call_stage(session: &mut Session, id: &RequestId, stage: CallStage) {
    if let Some(call) = session.call_mut(id) {
        call.stage = stage;
    }
}

/// The stages from the catalog to the durable intent; blocks on the journal.
fn open(
    settings: &SessionSettings,
    journal: &dyn Journal,
    catalog: &Catalog,
    released: &mut Option<Released>,
    tool: &str,
    frame: &[u8],
    arguments: Option<Range<usize>>,
) -> Result<Dispatch, Refusal> {
    let call = Call {
        principal: &settings.principal,
        // A process on standard input and output is a run of its own.
        run: Some(journal.incarnation().as_str()),
        tool,
        arguments: arguments.and_then(|span| frame.get(span)).unwrap_or(b"{}"),
    };
    let bound = resolve_now(catalog, journal, call, released)?.bind(&settings.admission.limits)?;
    let authorized = bound.authorize(&settings.rules, &settings.claims)?;
    let at = now();
    let expiry = i64::try_from(settings.approval_expiry.as_millis()).unwrap_or(i64::MAX);
    let terms = Terms {
        charges: authorized.charges(&settings.budgets, at)?,
        approval_expires_at: Timestamp(at.0.saturating_add(expiry)),
        ..Terms::new(fresh_intent_id(), journal.incarnation().clone(), at)
    };
    match authorized.open(terms).commit(journal) {
        Ok(Departure::Go(dispatch)) => Ok(*dispatch),
        Ok(Departure::Known(intent, _)) => Err(repeated(&intent)),
        Err((refusal, error)) => {
            if let Some(error) = error {
                tracing::error!(tool, error = %chain(&error), "the intent cannot be recorded, so the call is refused");
            }
            Err(*refusal)
        }
    }
}

/// An error with its causes, in one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

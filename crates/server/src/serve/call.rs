//! The way of one `tools/call`: its tool is found, it is checked and made durable on a thread that may block, it leaves, and
//! what comes back is recorded before its caller hears of it. The stages themselves are those of `callgate_gateway::call`.

use std::ops::Range;
use std::sync::Arc;

use axum::http::HeaderMap;
use callgate_gateway::Refusal;
use callgate_gateway::call::{Call, Departure, Dispatch, Terms, repeated};
use callgate_gateway::catalog::Lookup;
use callgate_gateway::intent::Observation;
use callgate_mcp::error_map::{CallReply, call_reply};
use callgate_mcp::relay::{Era, Inward, Outward, ResultKind, Subject, outward, own_answer};
use callgate_mcp::{RequestId, answer, frame, outcome::Notice};
use callgate_wire::{Code, Intent, Stage, Timestamp};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::client::{Client, Talk, Turn};
use super::front::Response;
use super::gate::{Gate, Route};
use super::headers;
use super::judge::{Judged, judge, result_of};
use super::link::{Next, Outgoing, Reply, Ticket};
use super::marks;
use super::question::Questions;
use crate::clock::{fresh_intent_id, now};
use crate::session::{Released, chain, late, record_with, resolve_now};

/// How long the answer to a call that was given up is still waited for, so that it can clear the doubt.
const LATE: std::time::Duration = std::time::Duration::from_mins(10);

/// A call on its way.
struct Way<'g> {
    gate: &'g Arc<Gate>,
    client: &'g Client,
    id: RequestId,
    name: String,
    frame: Box<[u8]>,
}

impl Gate {
    /// Answers a call, with nothing if its caller has withdrawn it.
    pub(super) async fn call(
        self: &Arc<Gate>,
        client: &Client,
        call: frame::Call,
        frame: Box<[u8]>,
        mut talk: Talk,
    ) -> Response {
        let frame::Call { id, tool: name, arguments } = call;
        let way = Way { gate: self, client, id, name, frame };
        let outcome = tokio::select! {
            biased;
            () = talk.is_withdrawn() => return Response::Nothing,
            found = way.find() => found,
        };
        let (route, _slots) = match outcome {
            Ok(found) => found,
            Err(refusal) => return way.refused(&refusal),
        };
        let headers = talk.headers.take();
        let terms = match way.terms(&route, arguments.clone(), headers.as_ref()) {
            Ok(terms) => terms,
            Err(refusal) => return way.refused(&refusal),
        };
        let has_key = terms.key.is_some();
        // From here on nothing is dropped: what was recorded has to end in a record.
        let opened = way.open(&route, arguments, terms).await;
        let dispatch = match opened {
            Ok(Opened::Go(dispatch)) => dispatch,
            Ok(Opened::Known(intent, result)) => return way.known(&intent, result),
            Err(refusal) => return way.refused(&refusal),
        };
        if let Some(turn) = &mut talk.turn {
            turn.come().await;
        }
        let turn = talk.turn.take();
        if *talk.withdrawn.borrow() {
            way.unsent(dispatch).await;
            return Response::Nothing;
        }
        Response::of(way.sent(route, dispatch, turn, talk, has_key).await)
    }
}

/// What a caller says of a call beside its arguments.
struct CallersTerms {
    key: Option<String>,
    run: Option<String>,
}

/// What became of a call at the journal.
enum Opened {
    Go(Box<Dispatch>),
    Known(Box<Intent>, Option<Box<[u8]>>),
}

impl<'g> Way<'g> {
    /// Finds the tool, and a place among the calls that are out.
    async fn find(
        &self,
    ) -> Result<(Route, (super::gate::PrincipalSlot<'g>, super::upstream::CallSlot)), Refusal> {
        let until = Instant::now() + self.gate.config.gate.call_timeout;
        let route = self.gate.route(&self.name, until).await?;
        let of_principal = self.gate.slot(&self.client.principal)?;
        let of_upstream = route.upstream.slot()?;
        Ok((route, (of_principal, of_upstream)))
    }

    /// Checks the call and makes its intent durable, on a thread that may block.
    async fn open(
        &self,
        route: &Route,
        arguments: Option<Range<usize>>,
        terms: CallersTerms,
    ) -> Result<Opened, Refusal> {
        let (gate, client, frame) = (Arc::clone(self.gate), self.client.clone(), self.frame.clone());
        let (upstream, catalog) = (Arc::clone(&route.upstream), Arc::clone(&route.catalog));
        let tool = route.tool.clone();
        let CallersTerms { key, run } = terms;
        let work = move || {
            let call = Call {
                principal: &client.principal,
                run: run.as_deref().or(client.run.as_deref()),
                tool: &tool,
                arguments: arguments.and_then(|span| frame.get(span)).unwrap_or(b"{}"),
            };
            let mut released = None;
            let resolved = resolve_now(&catalog, &*gate.journal, call, &mut released);
            if let Some(Released { tool, digest }) = released {
                upstream.release(&tool, digest);
            }
            let bound = resolved?.bind(&upstream.settings.admission.limits)?;
            let authorized = bound.authorize(&gate.config.rules, &client.claims)?;
            let at = now();
            let expiry = i64::try_from(gate.config.approvals.expiry.as_millis()).unwrap_or(i64::MAX);
            let terms = Terms {
                key,
                charges: authorized.charges(&gate.config.budgets, at)?,
                approval_expires_at: Timestamp(at.0.saturating_add(expiry)),
                ..Terms::new(fresh_intent_id(), gate.journal.incarnation().clone(), at)
            };
            match authorized.open(terms).commit(&*gate.journal) {
                Ok(Departure::Go(dispatch)) => Ok(Opened::Go(dispatch)),
                Ok(Departure::Known(intent, result)) => Ok(Opened::Known(intent, result)),
                Err((refusal, error)) => {
                    if let Some(error) = error {
                        tracing::error!(tool, error = %chain(&error), "the intent cannot be recorded, so the call is refused");
                    }
                    Err(*refusal)
                }
            }
        };
        tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| {
            tracing::error!("a defect of the gate ended a call before it was sent");
            Err(Refusal::new(Code::CallCancelled, "a defect of the gate ended the call; it was not sent"))
        })
    }

    /// INVARIANT: the only place from which a call leaves. A [`Dispatch`] exists only for an intent that is durable.
    async fn sent(
        self,
        route: Route,
        dispatch: Box<Dispatch>,
        turn: Option<Turn>,
        mut talk: Talk,
        keep_result: bool,
    ) -> Option<Vec<u8>> {
        let Route { upstream, link, tool, .. } = route;
        let id = link.fresh_id();
        let number = id.to_string();
        let limits = &self.gate.config.gate.frames;
        let progress = marks::progress(&self.frame, limits);
        let change = Outward {
            id: &number,
            name: Some(&tool),
            progress: progress.as_ref().map(|_| number.as_str()),
            client: self.client.introduction(link.hello().map(|hello| hello.era)),
        };
        let outgoing = Outgoing {
            frame: outward(&self.frame, limits, &change),
            method: "tools/call".to_owned(),
            name: Some(tool.clone()),
            headers: Subject::mirrored(dispatch.tool().definition.as_ref(), dispatch.arguments(), limits),
        };
        tracing::info!(tool = self.name, intent = %dispatch.intent().id, "sent");
        let (ask, asked) = mpsc::channel(Questions::WAITING_MAX);
        let mut ticket = link.request(id, outgoing, Some(ask));
        drop(turn);
        let questions = Questions::new(&link, asked);
        let reply = self.wait(&mut ticket, &mut talk, questions, progress.as_deref()).await;
        drop(link);
        match reply {
            Ended::Replied(reply) => {
                Some(self.conclude(dispatch, reply, &upstream.settings.admission.limits, keep_result).await)
            }
            Ended::GivenUp(observation, told) => self.give_up(ticket, dispatch, observation, told).await,
        }
    }

    /// Waits for the answer, and passes on what the server tells and asks meanwhile.
    async fn wait(
        &self,
        ticket: &mut Ticket,
        talk: &mut Talk,
        mut questions: Questions<'_>,
        progress: Option<&str>,
    ) -> Ended {
        let limits = &self.gate.config.gate.frames;
        let due = Instant::now() + self.gate.config.gate.call_timeout;
        loop {
            tokio::select! {
                biased;
                next = ticket.next() => match next {
                    Next::Told(told) => talk.pass_on(told, progress, limits),
                    Next::Reply(reply) => return Ended::Replied(reply),
                },
                () = talk.is_withdrawn() => {
                    ticket.cancel("the caller has withdrawn it");
                    return Ended::GivenUp(Observation::CancelledAfterDispatch, false);
                }
                () = questions.answer(self.client) => {}
                () = tokio::time::sleep_until(due) => {
                    ticket.cancel("no answer in time");
                    return Ended::GivenUp(Observation::Timeout, true);
                }
                () = self.gate.given_up() => return Ended::GivenUp(Observation::GateStopped, true),
            }
        }
    }

    /// What came back is judged and recorded; gives what the caller gets.
    async fn conclude(
        &self,
        dispatch: Box<Dispatch>,
        reply: Reply,
        limits: &callgate_schema::Limits,
        keep_result: bool,
    ) -> Vec<u8> {
        let (gate, id, limits, era) =
            (Arc::clone(self.gate), self.id.clone(), limits.clone(), self.client.era);
        let work = move || {
            let frames = &gate.config.gate.frames;
            let Judged { observation, frame } = judge(&dispatch, reply, frames, &limits);
            let intent = dispatch.intent();
            let settlement = dispatch.observe(observation, now());
            tracing::info!(tool = intent.tool, intent = %intent.id, "answered: {}", observation.description());
            let result = frame.as_deref().filter(|_| keep_result).and_then(|frame| result_of(frame, frames));
            record_with(&*gate.journal, &intent.id, &settlement, result);
            match (frame, Notice::unanswered(observation, intent)) {
                (Some(frame), _) => {
                    let mark = marks::outcome(intent, &settlement);
                    let to = Inward { id: id.raw(), era, kind: ResultKind::Call, mark: Some(&mark) };
                    own_answer(&frame, frames, &to).unwrap_or(frame)
                }
                (None, notice) => notice_frame(&id, notice, era, frames),
            }
        };
        let id = self.id.clone();
        tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| {
            tracing::error!("a defect of the gate ended a call after it was sent");
            let text = "a defect of the gate; the call may have run";
            answer::plain_error(&id, callgate_mcp::rpc::INTERNAL_ERROR, text)
        })
    }

    /// Records that nobody waits any more for a call that has left. A late answer still clears the doubt.
    async fn give_up(
        &self,
        mut ticket: Ticket,
        dispatch: Box<Dispatch>,
        observation: Observation,
        told: bool,
    ) -> Option<Vec<u8>> {
        let intent = dispatch.intent().clone();
        tracing::warn!(tool = intent.tool, intent = %intent.id, "in doubt: {}", observation.description());
        let recorded = self.recorded(&dispatch, observation).await;
        if recorded.is_err() {
            tracing::error!(intent = %intent.id, "a defect of the gate left an outcome without a record");
        }
        let journal = Arc::clone(&self.gate.journal);
        self.gate.wait_late(async move {
            let Ok(Reply::Answer(answer, _)) = tokio::time::timeout(LATE, ticket.reply()).await else {
                return;
            };
            let Some(observation) = late(&answer) else { return };
            tracing::info!(intent = %dispatch.intent().id, "answered late, which clears the doubt");
            let settlement = dispatch.observe(observation, now());
            let id = dispatch.intent().id.clone();
            let _ = tokio::task::spawn_blocking(move || record_with(&*journal, &id, &settlement, None)).await;
        });
        let notice = Notice::unanswered(observation, &intent);
        told.then(|| notice_frame(&self.id, notice, self.client.era, &self.gate.config.gate.frames))
    }

    /// Records that a call whose intent is durable was not sent, since its caller has withdrawn it.
    async fn unsent(&self, dispatch: Box<Dispatch>) {
        if self.recorded(&dispatch, Observation::CancelledBeforeDispatch).await.is_err() {
            tracing::error!(intent = %dispatch.intent().id, "a defect of the gate left an outcome without a record");
        }
    }

    /// Records an observation on a thread that may block.
    async fn recorded(
        &self,
        dispatch: &Dispatch,
        observation: Observation,
    ) -> Result<(), tokio::task::JoinError> {
        let (journal, id) = (Arc::clone(&self.gate.journal), dispatch.intent().id.clone());
        let settlement = dispatch.observe(observation, now());
        tokio::task::spawn_blocking(move || record_with(&*journal, &id, &settlement, None)).await
    }

    /// The answer to a call that has run before, with the same key.
    fn known(&self, intent: &Intent, result: Option<Box<[u8]>>) -> Response {
        match result {
            Some(result) => {
                let frame = answer::result(&self.id, &result);
                let limits = &self.gate.config.gate.frames;
                let mark = intent.settlement.as_ref().map(|settlement| marks::outcome(intent, settlement));
                let (id, era, mark) = (self.id.raw(), self.client.era, mark.as_deref());
                let to = Inward { id, era, kind: ResultKind::Call, mark };
                Response::Frame(own_answer(&frame, limits, &to).unwrap_or(frame))
            }
            None => self.refused(&repeated(intent)),
        }
    }

    fn refused(&self, refusal: &Refusal) -> Response {
        tracing::info!(tool = self.name, code = %refusal.code, stage = %refusal.stage, "refused");
        let limits = &self.gate.config.gate.frames;
        let frame = finish(answer::refusal(&self.id, refusal), &self.id, self.client.era, limits);
        match call_reply(refusal.code) {
            CallReply::Error(number) => Response::Error(number, frame),
            CallReply::Result => Response::Frame(frame),
        }
    }

    /// What the caller says beside the arguments, and whether the headers that repeat arguments do: a tool marks arguments
    /// with `x-mcp-header`, and proxies may go by them.
    fn terms(
        &self,
        route: &Route,
        arguments: Option<Range<usize>>,
        headers: Option<&HeaderMap>,
    ) -> Result<CallersTerms, Refusal> {
        let limits = &self.gate.config.gate.frames;
        if let (Era::Modern, Some(headers), Lookup::Admitted(tool)) =
            (self.client.era, headers, route.catalog.tool(&route.tool))
        {
            let arguments = arguments.and_then(|span| self.frame.get(span)).unwrap_or(b"{}");
            let expected = Subject::expected(&tool.definition, arguments, limits);
            if let Some(fault) = headers::mirror(headers, &expected) {
                return Err(Refusal::new(Code::HeaderMismatch, fault).in_stage(Stage::Frame));
            }
        }
        Ok(CallersTerms {
            key: marks::key(&self.frame, headers, limits)?,
            run: marks::run(&self.frame, limits)?,
        })
    }
}

/// How the wait for an answer ended.
enum Ended {
    Replied(Reply),
    /// Nobody waits any more; whether the caller is told.
    GivenUp(Observation, bool),
}

fn notice_frame(
    id: &RequestId,
    notice: Option<Notice>,
    era: Era,
    limits: &callgate_mcp::FrameLimits,
) -> Vec<u8> {
    let Some(notice) = notice else {
        return answer::plain_error(id, callgate_mcp::rpc::INTERNAL_ERROR, "the call has no answer");
    };
    finish(answer::result(id, &notice.to_result()), id, era, limits)
}

/// The gate's own answer in the client's era.
pub(super) fn finish(
    frame: Vec<u8>,
    id: &RequestId,
    era: Era,
    limits: &callgate_mcp::FrameLimits,
) -> Vec<u8> {
    let to = Inward { id: id.raw(), era, kind: ResultKind::Call, mark: None };
    own_answer(&frame, limits, &to).unwrap_or(frame)
}

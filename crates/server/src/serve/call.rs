//! The way of one `tools/call` until it leaves: its tool is found, and it is checked and made durable on a thread that may
//! block. The stages themselves are those of `callgate_gateway::call`; what comes then is a [`Conversation`].

use std::ops::Range;
use std::sync::Arc;

use axum::http::HeaderMap;
use callgate_gateway::Refusal;
use callgate_gateway::call::{Call, Departure, Dispatch, Terms, repeated};
use callgate_gateway::catalog::Lookup;
use callgate_gateway::intent::Observation;
use callgate_mcp::error_map::{CallReply, call_reply};
use callgate_mcp::relay::{Answered, Era, Inward, Questions, ResultKind, Return, Subject, own_answer};
use callgate_mcp::{RequestId, answer, frame};
use callgate_schema::json::{Digest, Tape, digest};
use callgate_wire::{ApprovalId, Code, Intent, Stage, Timestamp};
use tokio::time::Instant;

use super::approving;
use super::client::{Client, Talk};
use super::conversation::Conversation;
use super::front::Response;
use super::gate::{Gate, Route};
use super::headers;
use super::marks;
use super::metrics;
use super::parked::{Bond, Waits};
use super::question::{self, can_ask};
use crate::clock::{fresh_intent_id, now};
use crate::session::{Released, chain, resolve_now};

/// A call on its way, and who waits for it.
pub(super) struct Way<'g> {
    pub(super) gate: &'g Arc<Gate>,
    pub(super) client: &'g Client,
    pub(super) id: RequestId,
    /// The tool, as the client knows it.
    pub(super) name: String,
    pub(super) frame: Box<[u8]>,
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
        let (upstream, tool, answered) = match outcome {
            Ok((route, _slots)) => {
                let upstream = route.upstream.config.name.clone();
                let is_known = !matches!(route.catalog.tool(&route.tool), Lookup::Unknown);
                let tool = if is_known { route.tool.clone() } else { String::new() };
                (upstream, tool, way.answer(route, arguments, &mut talk).await)
            }
            Err(refusal) => (String::new(), String::new(), Err(refusal)),
        };
        answered.unwrap_or_else(|refusal| {
            self.metrics.ended(&upstream, &tool, "refused", Some(refusal.code));
            way.refused(&refusal)
        })
    }
}

/// What a caller says of a call beside its arguments.
#[derive(Clone)]
struct CallersTerms {
    key: Option<String>,
    run: Option<String>,
}

/// What became of a call at the journal.
enum Opened {
    Go(Box<Dispatch>),
    Known(Box<Intent>, Option<Box<[u8]>>),
}

/// What came of asking the client's user about a call.
enum Permission {
    /// They have said something, which is on record now.
    Decided,
    /// They are asked by this answer, and the client comes again.
    Later(Vec<u8>),
    /// They cannot be asked, or say nothing.
    Nobody,
    /// The caller has withdrawn the call.
    Withdrawn,
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

    async fn answer(
        &self,
        route: Route,
        arguments: Option<Range<usize>>,
        talk: &mut Talk,
    ) -> Result<Response, Refusal> {
        let headers = talk.headers.take();
        let terms = self.terms(&route, arguments.clone(), headers.as_ref())?;
        if let Some(back) = self.back()? {
            let bond = self.bond(self.arguments_digest(arguments.clone())?);
            match self.gate.parked.take(&back.state, &bond)? {
                Waits::Call(call) => {
                    return Ok(Response::of(call.resume(self, talk, &back, route.link).await));
                }
                Waits::Approval(id) => self.decided(id, back.answer(approving::KEY)).await,
            }
        }
        let has_key = terms.key.is_some();
        // From here on nothing is dropped: what was recorded has to end in a record.
        let begun = Instant::now();
        let opened = self.open(&route, arguments.clone(), terms.clone()).await;
        self.gate.metrics.took(metrics::Stage::Open, begun.elapsed());
        let opened = match opened {
            Err(refusal) => match self.ask_about(&refusal, arguments.clone(), talk).await? {
                Permission::Decided => self.open(&route, arguments, terms).await?,
                Permission::Later(frame) => return Ok(Response::Frame(frame)),
                Permission::Nobody => return Err(refusal),
                Permission::Withdrawn => return Ok(Response::Nothing),
            },
            Ok(opened) => opened,
        };
        let dispatch = match opened {
            Opened::Go(dispatch) => dispatch,
            Opened::Known(intent, result) => return Ok(self.known(&intent, result)),
        };
        if let Some(turn) = &mut talk.turn {
            turn.come().await;
        }
        if *talk.withdrawn.borrow() {
            self.gate.record(&dispatch, Observation::CancelledBeforeDispatch).await;
            return Ok(Response::Nothing);
        }
        let call = Conversation::begin(self, route, dispatch, has_key);
        talk.turn = None;
        Ok(Response::of(call.go_on(self, talk).await))
    }

    /// What the client brings back, if it comes again.
    fn back(&self) -> Result<Option<Return>, Refusal> {
        Return::read(&self.frame, &self.gate.config.gate.frames).map_err(|expected| {
            Refusal::new(Code::CallMalformed, format!("expected {expected}, found something else"))
        })
    }

    /// What a state that is given out for this call is good for.
    pub(super) fn bond(&self, arguments: Digest) -> Bond {
        Bond { principal: self.client.principal.clone(), tool: self.name.clone(), arguments }
    }

    fn arguments_digest(&self, arguments: Option<Range<usize>>) -> Result<Digest, Refusal> {
        let mut tape = Tape::new();
        // They stand in a frame that was read whole.
        let limits = self.gate.config.gate.frames.frame_text();
        let root = tape.read(self.arguments(arguments), &limits);
        let malformed = |_| Refusal::new(Code::CallMalformed, "expected arguments that can be read");
        Ok(digest("arguments", root.map_err(malformed)?))
    }

    fn arguments(&self, arguments: Option<Range<usize>>) -> &[u8] {
        arguments.and_then(|span| self.frame.get(span)).unwrap_or(b"{}")
    }

    /// The answer that asks a client of the newer era, which comes again with this state.
    pub(super) fn asking(&self, questions: &Questions, state: &str) -> Vec<u8> {
        let frame = answer::result(&self.id, &questions.to_result(state));
        finish(frame, &self.id, self.client.era, &self.gate.config.gate.frames)
    }

    /// Has the client's user decide about a call that was refused because a person has to, where the operator allows it.
    async fn ask_about(
        &self,
        refusal: &Refusal,
        arguments: Option<Range<usize>>,
        talk: &mut Talk,
    ) -> Result<Permission, Refusal> {
        let Some(approval) = refusal.approval.clone().filter(|_| refusal.code == Code::ApprovalRequired)
        else {
            return Ok(Permission::Nobody);
        };
        let why = format!("Asked by: {}.", refusal.determining.join(", "));
        let question = approving::question(&self.name, self.arguments(arguments.clone()), &why);
        let question = question.filter(|question| {
            self.gate.current().config.approvals.in_band && can_ask(self.client, question)
        });
        let Some(question) = question else { return Ok(Permission::Nobody) };
        // Calls that come after this one do not wait for a person.
        talk.turn = None;
        if self.client.era == Era::Modern {
            let bond = self.bond(self.arguments_digest(arguments)?);
            let questions = Questions { questions: vec![question], state: None };
            return Ok(match self.gate.park(bond, Waits::Approval(approval)) {
                Ok(state) => Permission::Later(self.asking(&questions, &state)),
                Err(_) => Permission::Nobody,
            });
        }
        let (open, tell) = (Arc::clone(&talk.questions), talk.tell.clone());
        let answered = tokio::select! {
            answered = open.ask(&tell, &question, &self.gate.config.gate.frames) => answered,
            () = talk.is_withdrawn() => return Ok(Permission::Withdrawn),
            () = tokio::time::sleep(question::PATIENCE) => None,
            () = self.gate.given_up() => None,
        };
        let Some(Answered::Result(answer)) = answered else { return Ok(Permission::Nobody) };
        self.decided(approval, Some(answer)).await;
        Ok(Permission::Decided)
    }

    async fn decided(&self, id: ApprovalId, answer: Option<Box<str>>) {
        let Some(answer) = answer else { return };
        let (gate, principal) = (Arc::clone(self.gate), self.client.principal.clone());
        let work = move || gate.decided(&principal, &id, &answer);
        if tokio::task::spawn_blocking(work).await.is_err() {
            tracing::error!("a defect of the gate left a decision without a record");
        }
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
            let config = Arc::clone(&gate.current().config);
            let authorized = bound.authorize(&config.rules, &client.claims)?;
            let at = now();
            let expiry = i64::try_from(config.approvals.expiry.as_millis()).unwrap_or(i64::MAX);
            let terms = Terms {
                key,
                charges: authorized.charges(&config.budgets, at)?,
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

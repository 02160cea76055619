//! A call from its departure to its end: what its server tells and asks meanwhile reaches whoever waits for it, and what
//! comes back is recorded before its caller hears of it.
//!
//! A server of the older era asks while the call is out; one of the newer era answers with what it asks, and is called
//! again. A client of the older era is asked on its stream; one of the newer era gets the questions as its answer, and
//! comes again. So one intent can span several requests on either side.

use std::sync::Arc;

use callgate_gateway::call::Dispatch;
use callgate_gateway::intent::Observation;
use callgate_mcp::outcome::Notice;
use callgate_mcp::relay::{
    Answered, ELICIT, Era, Inward, Outward, Question, Questions, ResultKind, Return, Subject, again, outward,
    own_answer, responses,
};
use callgate_mcp::{RequestId, answer};
use tokio::sync::mpsc;
use tokio::time::{Duration, Instant};

use super::call::{Way, finish};
use super::client::{Client, Talk, Wants};
use super::gate::{Gate, Route};
use super::judge::{Judged, judge, result_of};
use super::link::{Asked, Link, Next, Outgoing, Reply, Ticket};
use super::marks;
use super::metrics;
use super::parked::Waits;
use super::question::{PATIENCE, SILENCE, WAITING_MAX, among_others, can_ask};
use super::upstream::Upstream;
use crate::clock::now;
use crate::session::{late, record_with};

/// How long the answer to a call that was given up is still waited for, so that it can clear the doubt.
const LATE: Duration = Duration::from_mins(10);
/// How often a server may ask about one call.
const ROUNDS_MAX: usize = 32;

/// A call that has left.
pub(super) struct Conversation {
    upstream: Arc<Upstream>,
    link: Arc<Link>,
    /// The tool, as its server calls it.
    tool: String,
    /// The client's frame, whose arguments were checked.
    first: Box<[u8]>,
    dispatch: Box<Dispatch>,
    keep_result: bool,
    rounds: usize,
    /// The request that is out; none while a server of the newer era waits for answers.
    out: Option<Out>,
    left: Instant,
    /// When the server has to have answered. The time in which a person is asked does not count.
    due: Instant,
    /// What the client has to answer when it comes again.
    put: Option<Put>,
}

/// A request that is out, and what its server asks meanwhile.
struct Out {
    ticket: Ticket,
    asked: mpsc::Receiver<Asked>,
}

/// What a server asks.
enum Put {
    /// In a request of its own with this id.
    Request(Box<str>, Question),
    /// In its answer.
    Result(Questions),
}

impl Put {
    fn questions(&self) -> Questions {
        match self {
            Put::Request(_, question) => Questions { questions: vec![question.clone()], state: None },
            Put::Result(questions) => questions.clone(),
        }
    }

    fn can_be_asked(&self, client: &Client) -> bool {
        match self {
            Put::Request(_, question) => can_ask(client, question),
            Put::Result(questions) => {
                !questions.is_empty() && questions.questions.iter().all(|question| can_ask(client, question))
            }
        }
    }
}

/// What comes next of a call.
enum Event {
    Replied(Reply),
    Asked(Put),
    /// Nobody waits any more; whether the caller is told.
    GivenUp(Observation, bool),
}

impl Conversation {
    /// Sends a call.
    ///
    /// INVARIANT: the only place from which a call leaves. A [`Dispatch`] exists only for an intent that is durable.
    pub(super) fn begin(
        way: &Way<'_>,
        route: Route,
        dispatch: Box<Dispatch>,
        keep_result: bool,
    ) -> Box<Conversation> {
        let Route { upstream, link, tool, .. } = route;
        let first = way.frame.clone();
        let mut call = Box::new(Conversation {
            upstream,
            link,
            tool,
            first,
            dispatch,
            keep_result,
            rounds: 0,
            out: None,
            left: Instant::now(),
            due: Instant::now(),
            put: None,
        });
        tracing::info!(tool = way.name, intent = %call.dispatch.intent().id, "sent");
        call.send(way, None);
        call
    }

    fn send(&mut self, way: &Way<'_>, answers: Option<(&str, Option<&str>)>) {
        let limits = &way.gate.config.gate.frames;
        let id = self.link.fresh_id();
        let number = id.to_string();
        let change = Outward {
            id: &number,
            name: Some(&self.tool),
            progress: marks::progress(&way.frame, limits).map(|_| number.as_str()),
            client: way.client.introduction(self.link.hello().map(|hello| hello.era)),
        };
        let frame = match answers {
            None => outward(&self.first, limits, &change),
            Some((responses, state)) => again(&self.first, limits, &change, responses, state),
        };
        let definition = self.dispatch.tool().definition.as_ref();
        let outgoing = Outgoing {
            frame,
            method: "tools/call".to_owned(),
            name: Some(self.tool.clone()),
            headers: Subject::mirrored(definition, self.dispatch.arguments(), limits),
            by: Some(way.client.principal.clone()),
        };
        let (ask, asked) = mpsc::channel(WAITING_MAX);
        self.out = Some(Out { ticket: self.link.request(id, outgoing, Some(ask)), asked });
        self.due = Instant::now() + way.gate.config.gate.call_timeout;
    }

    /// Waits for the end of the call, or until its client has to come again with answers.
    pub(super) async fn go_on(mut self: Box<Self>, way: &Way<'_>, talk: &mut Talk) -> Option<Vec<u8>> {
        let mut next = self.next(way, talk).await;
        loop {
            let put = match next {
                Event::Replied(reply) => match self.asks(&reply, way) {
                    None => return Some(self.conclude(way, reply).await),
                    Some(questions) => {
                        self.out = None;
                        Put::Result(questions)
                    }
                },
                Event::Asked(put) => put,
                Event::GivenUp(observation, told) => return self.give_up(way, observation, told).await,
            };
            self.rounds += 1;
            next = match (put.can_be_asked(way.client) && self.rounds <= ROUNDS_MAX, put, way.client.era) {
                (false, Put::Request(id, question), _) => {
                    tracing::info!(
                        tool = self.tool,
                        method = question.method,
                        "the client cannot be asked this"
                    );
                    self.link.refuse(&id);
                    self.next(way, talk).await
                }
                (false, Put::Result(_), _) => Event::GivenUp(Observation::InputUnavailable, true),
                (true, put, Era::Modern) => return self.park(way, put).await,
                (true, put, Era::Legacy(_)) => match self.ask(way, talk, put).await {
                    Ok(()) => self.next(way, talk).await,
                    Err(event) => event,
                },
            };
        }
    }

    /// What an answer asks, if it does. Only a server of the newer era asks so.
    fn asks(&self, reply: &Reply, way: &Way<'_>) -> Option<Questions> {
        let modern = self.link.hello().is_some_and(|hello| hello.era == Era::Modern);
        match reply {
            Reply::Answer(_, line) if modern => Questions::read(line.bytes(), &way.gate.config.gate.frames),
            _ => None,
        }
    }

    /// Waits for what comes next, and passes on what the server tells meanwhile.
    async fn next(&mut self, way: &Way<'_>, talk: &mut Talk) -> Event {
        let due = self.due;
        let limits = &way.gate.config.gate.frames;
        let wants = Wants::of(way.client, &way.frame, limits);
        let Some(Out { ticket, asked }) = &mut self.out else {
            return Event::GivenUp(Observation::InputUnavailable, true);
        };
        loop {
            tokio::select! {
                biased;
                next = ticket.next() => match next {
                    Next::Told(told) => talk.pass_on(told, &wants, limits),
                    Next::Reply(reply) => return Event::Replied(reply),
                },
                () = talk.is_withdrawn() => return Event::GivenUp(Observation::CancelledAfterDispatch, false),
                Some(Asked { id, frame }) = asked.recv() => match Question::read(&frame, limits) {
                    Some(question) => return Event::Asked(Put::Request(id, question)),
                    None => self.link.refuse(&id),
                },
                () = tokio::time::sleep_until(due) => return Event::GivenUp(Observation::Timeout, true),
                () = way.gate.given_up() => return Event::GivenUp(Observation::GateStopped, true),
            }
        }
    }

    /// Asks a client of the older era, and gives the server its answers. `Err` is what came before those.
    async fn ask(&mut self, way: &Way<'_>, talk: &mut Talk, put: Put) -> Result<(), Event> {
        match put {
            Put::Request(id, question) => match self.ask_one(way, talk, &question).await? {
                Some(answered) => self.link.reply(answered.to_frame(&id)),
                None => self.link.refuse(&id),
            },
            Put::Result(questions) => {
                let mut answers = Vec::new();
                for question in &questions.questions {
                    let answered = self.ask_one(way, talk, question).await?;
                    let unanswered = Event::GivenUp(Observation::InputUnavailable, true);
                    let answer = among_others(question, answered).ok_or(unanswered)?;
                    answers.push((question.key.as_str(), answer));
                }
                let answers = responses(answers.iter().map(|(key, answer)| (*key, &**answer)));
                self.send(way, Some((&answers, questions.state.as_deref())));
            }
        }
        Ok(())
    }

    async fn ask_one(
        &mut self,
        way: &Way<'_>,
        talk: &mut Talk,
        question: &Question,
    ) -> Result<Option<Answered>, Event> {
        let limits = &way.gate.config.gate.frames;
        let wants = Wants::of(way.client, &way.frame, limits);
        let (questions, tell) = (Arc::clone(&talk.questions), talk.tell.clone());
        let answered = questions.ask(&tell, question, limits);
        tokio::pin!(answered);
        let begun = Instant::now();
        let until = begun + PATIENCE;
        let lost = |out: &Option<Out>, observation| match out {
            Some(_) => observation,
            None => Observation::InputUnavailable,
        };
        loop {
            tokio::select! {
                biased;
                answered = &mut answered => {
                    self.due += begun.elapsed();
                    return Ok(answered);
                }
                next = next_of(&mut self.out) => match next {
                    Next::Told(told) => talk.pass_on(told, &wants, limits),
                    Next::Reply(reply) => return Err(Event::Replied(reply)),
                },
                () = talk.is_withdrawn() => {
                    return Err(Event::GivenUp(lost(&self.out, Observation::CancelledAfterDispatch), false));
                }
                () = tokio::time::sleep_until(until) => return Ok(None),
                () = way.gate.given_up() => {
                    return Err(Event::GivenUp(lost(&self.out, Observation::GateStopped), true));
                }
            }
        }
    }

    /// Has the call wait for a client of the newer era, which gets the questions as its answer.
    async fn park(mut self: Box<Self>, way: &Way<'_>, put: Put) -> Option<Vec<u8>> {
        let questions = put.questions();
        self.put = Some(put);
        let bond = way.bond(self.dispatch.intent().arguments_digest);
        match way.gate.park(bond, Waits::Call(self)) {
            Ok(state) => Some(way.asking(&questions, &state)),
            Err(Waits::Call(call)) => call.give_up(way, Observation::InputUnavailable, true).await,
            Err(Waits::Approval(_)) => None,
        }
    }

    /// Goes on with a call whose client has come again.
    pub(super) async fn resume(
        mut self: Box<Self>,
        way: &Way<'_>,
        talk: &mut Talk,
        back: &Return,
        link: Arc<Link>,
    ) -> Option<Vec<u8>> {
        match self.put.take() {
            Some(Put::Request(id, question)) => {
                self.due = Instant::now() + way.gate.config.gate.call_timeout;
                match back.answer(&question.key) {
                    Some(answer) => self.link.reply(Answered::Result(answer).to_frame(&id)),
                    None => self.silence(&id, &question),
                }
            }
            Some(Put::Result(questions)) => {
                // The server may have been started anew; in the newer era it remembers nothing.
                self.link = link;
                self.send(way, Some((&back.responses, questions.state.as_deref())));
            }
            None => {}
        }
        self.go_on(way, talk).await
    }

    /// Tells a server that there is no answer.
    fn silence(&self, id: &str, question: &Question) {
        if question.method == ELICIT {
            self.link.reply(Answered::Result(SILENCE.into()).to_frame(id));
        } else {
            self.link.refuse(id);
        }
    }

    /// Ends a call for which nobody has come again. A server that waits learns of it and may still finish.
    pub(super) async fn abandon(mut self: Box<Self>, gate: &Gate, stopping: bool) {
        let Some(mut out) = self.out.take() else {
            return self.record(gate, Observation::InputUnavailable).await;
        };
        if stopping {
            out.ticket.cancel("the gate stops");
            return self.record(gate, Observation::GateStopped).await;
        }
        if let Some(Put::Request(id, question)) = self.put.take() {
            self.silence(&id, &question);
        }
        let reply = tokio::time::timeout(gate.config.gate.call_timeout, out.ticket.reply()).await;
        let observation = match reply {
            Ok(Reply::Answer(answer, _)) => late(&answer).unwrap_or(Observation::AnswerUnreadable),
            Ok(_) => Observation::UpstreamGone,
            Err(_) => {
                out.ticket.cancel("no answer in time");
                Observation::Timeout
            }
        };
        self.record(gate, observation).await;
    }

    /// What came back is judged and recorded; gives what the caller gets.
    async fn conclude(self: Box<Self>, way: &Way<'_>, reply: Reply) -> Vec<u8> {
        let limits = self.upstream.settings.admission.limits.clone();
        let Conversation { dispatch, keep_result, link, out, left, upstream, .. } = *self;
        drop((link, out));
        way.gate.metrics.took(metrics::Stage::Upstream, left.elapsed());
        let begun = Instant::now();
        let (gate, id, era) = (Arc::clone(way.gate), way.id.clone(), way.client.era);
        let work = move || {
            let frames = &gate.config.gate.frames;
            let Judged { observation, frame } = judge(&dispatch, reply, frames, &limits);
            let intent = dispatch.intent();
            let settlement = dispatch.observe(observation, now());
            tracing::info!(tool = intent.tool, intent = %intent.id, "answered: {}", observation.description());
            let result = frame.as_deref().filter(|_| keep_result).and_then(|frame| result_of(frame, frames));
            record_with(&*gate.journal, &intent.id, &settlement, result);
            gate.metrics.took(metrics::Stage::Settle, begun.elapsed());
            let state = settlement.state.as_str();
            gate.metrics.ended(&upstream.config.name, &intent.tool, state, settlement.code);
            match (frame, Notice::unanswered(observation, intent)) {
                (Some(frame), _) => {
                    let mark = marks::outcome(intent, &settlement);
                    let to = Inward { id: id.raw(), era, kind: ResultKind::Call, mark: Some(&mark) };
                    own_answer(&frame, frames, &to).unwrap_or(frame)
                }
                (None, notice) => notice_frame(&id, notice, era, frames),
            }
        };
        tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| {
            tracing::error!("a defect of the gate ended a call after it was sent");
            let text = "a defect of the gate; the call may have run";
            answer::plain_error(&way.id, callgate_mcp::rpc::INTERNAL_ERROR, text)
        })
    }

    /// Records that nobody waits any more for a call that has left. A late answer still clears the doubt.
    async fn give_up(
        mut self: Box<Self>,
        way: &Way<'_>,
        observation: Observation,
        told: bool,
    ) -> Option<Vec<u8>> {
        if let Some(out) = &self.out {
            out.ticket.cancel(match observation {
                Observation::CancelledAfterDispatch => "the caller has withdrawn it",
                Observation::Timeout => "no answer in time",
                _ => "nobody waits for it any more",
            });
        }
        let intent = self.dispatch.intent().clone();
        self.record(way.gate, observation).await;
        if let Some(Out { mut ticket, .. }) = self.out.take() {
            let (journal, dispatch) = (Arc::clone(&way.gate.journal), self.dispatch);
            way.gate.wait_late(async move {
                let Ok(Reply::Answer(answer, _)) = tokio::time::timeout(LATE, ticket.reply()).await else {
                    return;
                };
                let Some(observation) = late(&answer) else { return };
                tracing::info!(intent = %dispatch.intent().id, "answered late, which clears the doubt");
                let settlement = dispatch.observe(observation, now());
                let id = dispatch.intent().id.clone();
                let _ =
                    tokio::task::spawn_blocking(move || record_with(&*journal, &id, &settlement, None)).await;
            });
        }
        let notice = Notice::unanswered(observation, &intent);
        told.then(|| notice_frame(&way.id, notice, way.client.era, &way.gate.config.gate.frames))
    }

    async fn record(&self, gate: &Gate, observation: Observation) {
        let intent = self.dispatch.intent();
        tracing::warn!(tool = intent.tool, intent = %intent.id, "ended: {}", observation.description());
        gate.record(&self.dispatch, observation).await;
        let settlement = self.dispatch.observe(observation, now());
        gate.metrics.ended(
            &self.upstream.config.name,
            &intent.tool,
            settlement.state.as_str(),
            settlement.code,
        );
    }
}

/// What comes next of a request that is out.
async fn next_of(out: &mut Option<Out>) -> Next {
    match out {
        Some(out) => out.ticket.next().await,
        None => std::future::pending().await,
    }
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

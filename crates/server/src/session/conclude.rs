//! How a call ends: what is recorded, and what its caller gets once that is recorded.

use std::sync::Arc;

use callgate_gateway::call::{Dispatch, OutputCheck};
use callgate_gateway::intent::Observation;
use callgate_gateway::{Journal, Refusal};
use callgate_mcp::frame::{Answer, AnswerContent, ResultFacts, Scan};
use callgate_mcp::outcome::Notice;
use callgate_mcp::{FrameLimits, RequestId, answer, mend, rpc};
use callgate_schema::Limits;
use callgate_wire::{Code, IntentId, Settlement, Stage};

use super::calls::{call_stage, chain};
use super::state::{CallStage, Done, Kind, Session, Withdrawal, Work};
use super::upstream::forwarded;
use crate::clock::now;
use crate::lane::Line;

impl Session {
    /// The upstream answered a call.
    pub(super) fn conclude(&mut self, answer: Answer, line: Line) {
        let id = answer.id.clone();
        let settings = Arc::clone(&self.settings);
        self.settle_sent(&id, move |id, dispatch| match answer.content {
            AnswerContent::Error(_) => (Observation::RpcError, Some(forwarded(line, &answer, id))),
            AnswerContent::Result(ref facts) => {
                judge(&settings.frames, &settings.admission.limits, dispatch, id, &answer, facts, line)
            }
        });
    }

    /// The upstream's answer to a call cannot be read.
    pub(super) fn conclude_unreadable(&mut self, id: &RequestId) {
        self.give_up_sent(id, Observation::AnswerUnreadable, true);
    }

    /// The upstream's answer to a call is over the size of a frame: if it is a result, the tool ran.
    pub(super) fn conclude_oversize(&mut self, id: &RequestId, scan: &Scan) {
        if scan.result && !scan.error && scan.closed {
            let bytes = scan.bytes as u64;
            self.settle_sent(id, move |_, _| (Observation::ResultTooLarge { bytes }, None));
        } else {
            self.conclude_unreadable(id);
        }
    }

    /// The caller withdrew a call that has left.
    pub(super) fn withdraw_sent(&mut self, id: &RequestId) {
        self.give_up_sent(id, Observation::CancelledAfterDispatch, false);
    }

    /// The upstream ended with a call.
    pub(super) fn lose_sent(&mut self, id: &RequestId) {
        self.give_up_sent(id, Observation::UpstreamGone, true);
    }

    /// Gives a call up that has left: its caller is told (or not), and a late answer still clears the doubt.
    pub(super) fn give_up_sent(&mut self, id: &RequestId, observation: Observation, told: bool) {
        let Some(open) = self.forget(id) else { return };
        let Kind::Call(call) = open.kind else { return };
        let CallStage::Sent(dispatch) = call.stage else { return };
        let intent = dispatch.intent().id.clone();
        tracing::warn!(tool = call.tool, %intent, "in doubt: {}", observation.description());
        self.late.push(open.id.clone(), Some((intent.clone(), dispatch.intent().pinned)));
        let journal = Arc::clone(&self.journal);
        self.spawn(Work::of(told.then(|| open.id.clone())), move || {
            record(&*journal, &intent, &dispatch.observe(observation, now()));
            let notice = told.then(|| Notice::unanswered(observation, dispatch.intent())).flatten();
            let answer = notice.map(|notice| Session::notice_line(&open.id, &notice));
            Done::Recorded { answer }
        });
    }

    /// Records the end of a call that has left and is answered now. Where `observe` gives no line, the answer says what
    /// the observation means.
    fn settle_sent(
        &mut self,
        id: &RequestId,
        observe: impl FnOnce(&RequestId, &Dispatch) -> (Observation, Option<Line>) + Send + 'static,
    ) {
        let Some(id) = self.open.get(id).map(|open| open.id.clone()) else { return };
        let Some(call) = self.call_mut(&id) else { return };
        let CallStage::Sent(dispatch) = std::mem::replace(&mut call.stage, CallStage::Settling) else {
            return;
        };
        let journal = Arc::clone(&self.journal);
        self.spawn(Work::Call(id.clone()), move || {
            let (observation, line) = observe(&id, &dispatch);
            let intent = dispatch.intent();
            record(&*journal, &intent.id, &dispatch.observe(observation, now()));
            tracing::info!(tool = intent.tool, intent = %intent.id, "answered: {}", observation.description());
            let answer = line.or_else(|| {
                let notice = Notice::unanswered(observation, intent)?;
                Some(Session::notice_line(&id, &notice))
            });
            Done::Settled { id, answer }
        });
    }

    /// Records the end of a call whose intent is durable and of which nothing has left.
    pub(super) fn settle_unsent(&mut self, id: &RequestId, dispatch: Box<Dispatch>, why: Withdrawal) {
        let Some(id) = self.open.get(id).map(|open| open.id.clone()) else { return };
        call_stage(self, &id, CallStage::Settling);
        let observation = match why {
            Withdrawal::Caller | Withdrawal::Gate => Observation::CancelledBeforeDispatch,
            Withdrawal::Upstream => Observation::UpstreamGoneBeforeDispatch,
        };
        let journal = Arc::clone(&self.journal);
        self.spawn(Work::Call(id.clone()), move || {
            let intent = dispatch.intent();
            record(&*journal, &intent.id, &dispatch.observe(observation, now()));
            tracing::info!(tool = intent.tool, intent = %intent.id, "not sent: {}", observation.description());
            let refusal = match why {
                Withdrawal::Caller => None,
                Withdrawal::Gate => Some(Refusal::new(Code::GateStopped, "the gate stops")),
                Withdrawal::Upstream => Some(Refusal::new(Code::UpstreamGone, "the upstream has ended")),
            };
            let refusal = refusal.map(|refusal| refusal.in_stage(Stage::Dispatch));
            let notice = refusal.map(|refusal| Notice::refusal(&refusal, Some(&intent.id)));
            let answer = notice.map(|notice| Session::notice_line(&id, &notice));
            Done::Settled { id, answer }
        });
    }

    /// An outcome is recorded, as far as it can be.
    pub(super) fn on_settled(&mut self, id: &RequestId, answer: Option<Line>) {
        if self.call_mut(id).is_some_and(|call| matches!(call.stage, CallStage::Settling)) {
            self.forget(id);
        }
        if let Some(answer) = answer {
            self.to_client.push(answer);
        }
    }

    /// An answer to a request that is not open: it goes to nobody, and clears the doubt about a call.
    pub(super) fn answer_late(&mut self, answer: &Answer) {
        let Some((intent, pinned)) = self.late.take(&answer.id) else {
            self.stray("it answers a request that is not open");
            return;
        };
        let Some(observation) = late(answer) else {
            return self.stray("a late answer that cannot be read");
        };
        tracing::info!(%intent, "answered late, which clears the doubt");
        let journal = Arc::clone(&self.journal);
        self.spawn(Work::Record, move || {
            record(&*journal, &intent, &observation.settlement(pinned, now()));
            Done::Recorded { answer: None }
        });
    }

    /// A defect of ours. Whoever waits is told; an intent that is open stays so, and is found in doubt later.
    pub(super) fn on_failed(&mut self, work: &Work) {
        tracing::error!(?work, "a defect of the gate ended a piece of its work");
        match work {
            Work::Call(id) => {
                self.forget(id);
                self.depart();
                let text = "a defect of the gate; the call may have run";
                self.to_client.push(Line::own(answer::plain_error(id, rpc::INTERNAL_ERROR, text)));
            }
            Work::Listing => self.fail_listing("a defect of the gate"),
            Work::Record => {}
        }
    }
}

/// What an answer means that came after its call was given up; `None` if it cannot be read. Nobody gets it any more, so its
/// size and form do not matter.
pub(crate) fn late(answer: &Answer) -> Option<Observation> {
    match &answer.content {
        AnswerContent::Error(_) => Some(Observation::RpcError),
        AnswerContent::Result(facts) if !facts.object => None,
        AnswerContent::Result(facts) => Some(Observation::Result {
            is_error: facts.is_error,
            bytes: facts.span.len() as u64,
            breaks_output: false,
        }),
    }
}

/// What a result means, and the line for the caller: the upstream's own, unless it is dropped or broken.
pub(crate) fn judge(
    frames: &FrameLimits,
    limits: &Limits,
    dispatch: &Dispatch,
    id: &RequestId,
    answer: &Answer,
    facts: &ResultFacts,
    line: Line,
) -> (Observation, Option<Line>) {
    if !facts.object {
        return (Observation::AnswerUnreadable, None);
    }
    let bytes = facts.span.len() as u64;
    if facts.span.len() > frames.result_bytes_max {
        return (Observation::ResultTooLarge { bytes }, None);
    }
    let structured = facts.structured.clone().and_then(|span| line.bytes().get(span));
    // A tool that failed, or that asks for more before it answers, owes nothing.
    let check = if (facts.is_error && structured.is_none()) || !facts.complete {
        OutputCheck::Undeclared
    } else {
        dispatch.check_output(structured, limits)
    };
    let observation = |breaks_output| Observation::Result { is_error: facts.is_error, bytes, breaks_output };
    match check {
        OutputCheck::Broken(findings) => {
            let mended = mend::without_structured(line.bytes(), answer, facts, id, &findings);
            (observation(true), Some(line.replace(mended)))
        }
        OutputCheck::Undeclared | OutputCheck::Kept | OutputCheck::Unchecked(_) => {
            (observation(false), Some(forwarded(line, answer, id)))
        }
    }
}

/// Records an outcome. A store that does not take it costs the record and not the answer: at the next start the intent
/// is found in doubt.
fn record(journal: &dyn Journal, intent: &IntentId, settlement: &Settlement) {
    record_with(journal, intent, settlement, None);
}

/// The same with the result, for a caller that comes again with the same key.
pub(crate) fn record_with(
    journal: &dyn Journal,
    intent: &IntentId,
    settlement: &Settlement,
    result: Option<Box<[u8]>>,
) {
    if let Err(error) = journal.settle(intent, settlement, result) {
        tracing::error!(%intent, error = %chain(&error), "the outcome cannot be recorded");
    }
}

//! What a server's answer to a call means, and the frame for the caller: the server's own, unless it is dropped or broken.

use callgate_gateway::call::{Dispatch, OutputCheck};
use callgate_gateway::intent::Observation;
use callgate_mcp::frame::{Answer, AnswerContent, ResultFacts};
use callgate_mcp::{FrameLimits, mend};
use callgate_schema::Limits;

use super::link::Reply;

/// What a reply means.
pub(super) struct Judged {
    pub(super) observation: Observation,
    /// The frame for the caller, with the server's id; `None` where the observation says what they get.
    pub(super) frame: Option<Vec<u8>>,
    /// The result alone, as it came, to be kept for a caller that comes again with the same key.
    pub(super) result: Option<Box<[u8]>>,
}

impl Judged {
    fn only(observation: Observation) -> Judged {
        Judged { observation, frame: None, result: None }
    }
}

/// Judges a reply; checks its result against the tool's output schema.
pub(super) fn judge(dispatch: &Dispatch, reply: Reply, frames: &FrameLimits, limits: &Limits) -> Judged {
    let (answer, line) = match reply {
        Reply::Answer(answer, line) => (answer, line),
        Reply::Unreadable(fault) => {
            tracing::warn!(intent = %dispatch.intent().id, fault, "the answer cannot be read");
            return Judged::only(Observation::AnswerUnreadable);
        }
        // A result ran, however long it is.
        Reply::Oversize(scan) if scan.result && !scan.error && scan.closed => {
            return Judged::only(Observation::ResultTooLarge { bytes: scan.bytes as u64 });
        }
        Reply::Oversize(_) => return Judged::only(Observation::AnswerUnreadable),
        Reply::Gone(reason) => {
            tracing::warn!(intent = %dispatch.intent().id, reason, "in doubt: the server is gone");
            return Judged::only(Observation::UpstreamGone);
        }
        Reply::NotSent(reason) => {
            tracing::warn!(intent = %dispatch.intent().id, reason, "not sent");
            return Judged::only(Observation::UpstreamGoneBeforeDispatch);
        }
    };
    let facts = match &answer.content {
        AnswerContent::Error(_) => {
            let frame = Some(line.bytes().to_vec());
            return Judged { observation: Observation::RpcError, frame, result: None };
        }
        AnswerContent::Result(facts) if !facts.object => {
            return Judged::only(Observation::AnswerUnreadable);
        }
        AnswerContent::Result(facts) => facts,
    };
    let bytes = facts.span.len() as u64;
    if facts.span.len() > frames.result_bytes_max {
        return Judged::only(Observation::ResultTooLarge { bytes });
    }
    let check = check(dispatch, facts, line.bytes(), limits);
    let observation = |breaks_output| Observation::Result { is_error: facts.is_error, bytes, breaks_output };
    let result = line.bytes().get(facts.span.clone()).map(Into::into);
    match check {
        OutputCheck::Broken(findings) => {
            let mended = mend::without_structured(line.bytes(), &answer, facts, &answer.id, &findings);
            Judged { observation: observation(true), frame: Some(mended), result }
        }
        OutputCheck::Undeclared | OutputCheck::Kept | OutputCheck::Unchecked(_) => {
            Judged { observation: observation(false), frame: Some(line.bytes().to_vec()), result }
        }
    }
}

fn check(dispatch: &Dispatch, facts: &ResultFacts, frame: &[u8], limits: &Limits) -> OutputCheck {
    let structured = facts.structured.clone().and_then(|span| frame.get(span));
    // A tool that failed, or that asks for more before it answers, owes nothing.
    if (facts.is_error && structured.is_none()) || !facts.complete {
        return OutputCheck::Undeclared;
    }
    dispatch.check_output(structured, limits)
}

/// What an answer means that came after its call was given up: nobody gets it any more, so its size and form do not matter.
pub(super) fn late(answer: &Answer) -> Option<Observation> {
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

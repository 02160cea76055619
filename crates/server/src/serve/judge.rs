//! What a server's answer to a call means, and the frame for the caller: the server's own, unless it is dropped or broken.

use callgate_gateway::call::Dispatch;
use callgate_gateway::intent::Observation;
use callgate_mcp::FrameLimits;
use callgate_mcp::frame::{AnswerContent, UpstreamFrame, UpstreamReader};
use callgate_schema::Limits;

use super::link::Reply;
use crate::session::{forwarded, judge as judge_result};

/// What a reply means.
pub(super) struct Judged {
    pub(super) observation: Observation,
    /// The frame for the caller, with the server's id, without what a server may not say, and marked where it breaks the
    /// tool's output schema; `None` where the observation says what they get.
    pub(super) frame: Option<Vec<u8>>,
}

/// Judges a reply; checks its result against the tool's output schema.
pub(super) fn judge(dispatch: &Dispatch, reply: Reply, frames: &FrameLimits, limits: &Limits) -> Judged {
    let only = |observation| Judged { observation, frame: None };
    let intent = &dispatch.intent().id;
    match reply {
        Reply::Answer(answer, line) => {
            let (observation, line) = match &answer.content {
                AnswerContent::Error(_) => {
                    (Observation::RpcError, Some(forwarded(line, &answer, &answer.id)))
                }
                AnswerContent::Result(facts) => {
                    judge_result(frames, limits, dispatch, &answer.id, &answer, facts, line)
                }
            };
            Judged { observation, frame: line.map(|line| line.bytes().to_vec()) }
        }
        Reply::Unreadable(fault, _) => {
            tracing::warn!(%intent, fault, "the answer cannot be read");
            only(Observation::AnswerUnreadable)
        }
        // A result ran, however long it is.
        Reply::Oversize(scan) if scan.result && !scan.error && scan.closed => {
            only(Observation::ResultTooLarge { bytes: scan.bytes as u64 })
        }
        Reply::Oversize(_) => only(Observation::AnswerUnreadable),
        Reply::Gone(reason) => {
            tracing::warn!(%intent, reason, "in doubt: the server is gone");
            only(Observation::UpstreamGone)
        }
        Reply::NotSent(reason) => {
            tracing::warn!(%intent, reason, "not sent");
            only(Observation::UpstreamGoneBeforeDispatch)
        }
    }
}

/// The result in a frame, to be kept for a caller that comes again with the same key.
pub(super) fn result_of(frame: &[u8], frames: &FrameLimits) -> Option<Box<[u8]>> {
    let UpstreamFrame::Answer(answer) = UpstreamReader::new(frames).read(frame) else { return None };
    match answer.content {
        AnswerContent::Result(facts) => frame.get(facts.span).map(Into::into),
        AnswerContent::Error(_) => None,
    }
}

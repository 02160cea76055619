//! What an upstream's frame leads to, and its end.

use callgate_mcp::frame::{Answer, AnswerContent, Scan, UpstreamFrame};
use callgate_mcp::{RequestId, answer, mend, reserved, revision, rpc};
use callgate_wire::Code;

use super::state::{CallStage, Handshake, Kind, Session, UpstreamState};
use crate::lane::{Line, Outbox};

impl Session {
    /// Takes a frame of the upstream.
    pub(super) fn on_upstream_frame(&mut self, frame: UpstreamFrame, line: Line) {
        match frame {
            UpstreamFrame::Blank => {}
            UpstreamFrame::Answer(answer) => self.on_answer(answer, line),
            UpstreamFrame::Request { method, .. } => {
                tracing::debug!(method, "the upstream asks");
                self.to_client.push(line);
            }
            UpstreamFrame::Notification { method } => {
                if method == "notifications/tools/list_changed" {
                    self.on_list_changed();
                }
                self.to_client.push(line);
            }
            UpstreamFrame::Unreadable { fault, scan } => self.on_unreadable(&fault, &scan, &line),
        }
    }

    fn on_answer(&mut self, answer: Answer, line: Line) {
        let id = answer.id.clone();
        if self.listing.as_ref().is_some_and(|listing| listing.id == id) {
            self.on_page(line.bytes());
            return;
        }
        if answer.is_forged() {
            self.log_forged();
        }
        match self.open.get(&id).map(|open| &open.kind) {
            Some(Kind::Passed { .. }) => self.answer_passed(&answer, line),
            Some(Kind::Call(call)) if matches!(call.stage, CallStage::Sent(_)) => self.conclude(answer, line),
            Some(Kind::Call(call)) if matches!(call.stage, CallStage::Settling) => {
                self.stray("it answers a request that is answered");
            }
            Some(Kind::Call(_) | Kind::List) => self.stray("it answers a request that was not sent"),
            None => self.answer_late(&answer),
        }
    }

    /// Counts a result in which the upstream spoke in the gate's name.
    pub(super) fn log_forged(&mut self) {
        self.forged_results += 1;
        if self.forged_results <= 10 || self.forged_results.is_power_of_two() {
            let count = self.forged_results;
            tracing::warn!(
                count,
                "members `{}…` of a result's `_meta` are the gate's alone and are removed",
                reserved::PREFIX
            );
        }
    }

    /// Passes the answer to another request on, in the spelling of its id.
    fn answer_passed(&mut self, answer: &Answer, line: Line) {
        let Some(open) = self.forget(&answer.id) else { return };
        let Kind::Passed { method } = &open.kind else { return };
        if method == "initialize"
            && let AnswerContent::Result(facts) = &answer.content
        {
            self.catalog = None;
            let date = facts.protocol_version.as_deref().unwrap_or_default();
            let Some(revision) = revision::find(date) else {
                let spoken: Vec<&str> = revision::ALL.iter().map(|revision| revision.date).collect();
                let message = format!("expected one of {}, found `{date}`", spoken.join(", "));
                self.handshake = Handshake::Refused;
                self.answer_error(&open.id, Code::ProtocolRevisionUnsupported, &message);
                return;
            };
            self.handshake = Handshake::Open;
            let refused = revision.refused.join(", ");
            tracing::info!(revision = revision.date, refused, "the peers agree on a revision");
        }
        self.to_client.push(forwarded(line, answer, &open.id));
    }

    /// A line that is not forwarded: whoever waits for it is told.
    fn on_unreadable(&mut self, fault: &str, scan: &Scan, line: &Line) {
        let Some(id) = &scan.id else {
            self.stray(fault);
            return;
        };
        if self.listing.as_ref().is_some_and(|listing| listing.id == *id) && scan.method.is_none() {
            // A fault in one tool's definition is that tool's alone, so the page is taken apart all the same.
            self.on_page(line.bytes());
            return;
        }
        if scan.method.is_some() {
            self.stray(fault);
            self.refuse_upstream_request(id);
            return;
        }
        match self.open.get(id).map(|open| &open.kind) {
            Some(Kind::Passed { .. }) => {
                let message = format!("the upstream's answer cannot be read: {fault}");
                self.refuse_handshake(id);
                self.fail_passed(id, Code::UpstreamAnswerUnreadable, &message);
            }
            Some(Kind::Call(call)) if matches!(call.stage, CallStage::Sent(_)) => {
                self.conclude_unreadable(id);
            }
            _ => self.stray(fault),
        }
    }

    /// A line over the maximum, of which only a scan is left.
    pub(super) fn on_upstream_oversize(&mut self, scan: &Scan) {
        let fault =
            format!("expected at most {} bytes, found {}", self.settings.frames.frame_bytes_max, scan.bytes);
        let Some(id) = scan.id.clone() else {
            self.stray(&fault);
            return;
        };
        if self.listing.as_ref().is_some_and(|listing| listing.id == id) {
            self.fail_listing(&fault);
            return;
        }
        if scan.method.is_some() {
            self.stray(&fault);
            self.refuse_upstream_request(&id);
            return;
        }
        match self.open.get(&id).map(|open| &open.kind) {
            Some(Kind::Passed { .. }) => {
                let message = format!("the upstream's answer is too large: {fault}");
                self.refuse_handshake(&id);
                self.fail_passed(&id, Code::ResultTooLarge, &message);
            }
            Some(Kind::Call(call)) if matches!(call.stage, CallStage::Sent(_)) => {
                self.conclude_oversize(&id, scan);
            }
            _ => self.stray(&fault),
        }
    }

    /// Notes that an answer is not passed on, if it is that to `initialize`.
    fn refuse_handshake(&mut self, id: &RequestId) {
        if let Some(Kind::Passed { method }) = self.open.get(id).map(|open| &open.kind)
            && method == "initialize"
        {
            self.handshake = Handshake::Refused;
        }
    }

    /// Answers a request of the upstream that cannot be forwarded, unless it does not even read.
    fn refuse_upstream_request(&mut self, id: &RequestId) {
        if self.to_upstream.has_room() {
            let text = "the request could not be read whole, and was not forwarded";
            self.tell_upstream(Line::own(answer::plain_error(id, rpc::INVALID_REQUEST, text)));
        }
    }

    /// Answers a request that was passed on and whose answer does not come.
    pub(super) fn fail_passed(&mut self, id: &RequestId, code: Code, message: &str) {
        if let Some(open) = self.forget(id) {
            self.late.push(open.id.clone(), None);
            self.answer_error(&open.id, code, message);
        }
    }

    /// The upstream takes nothing more. What it was sent may still be answered.
    pub(super) fn on_upstream_deaf(&mut self, reason: &str) {
        if self.upstream == UpstreamState::Up {
            tracing::error!(reason, "the upstream reads no more");
            self.upstream = UpstreamState::Deaf;
            self.to_upstream = Outbox::nowhere();
        }
    }

    /// The upstream writes nothing more: everything that waits for it is answered now.
    pub(super) fn on_upstream_gone(&mut self, reason: &str) {
        tracing::error!(reason, "the upstream is gone");
        self.upstream = UpstreamState::Gone;
        // What waits to be written is no longer waited for, and its input ends after that.
        self.to_upstream = Outbox::nowhere();
        let message = "the upstream ended before it answered";
        if self.listing.is_some() {
            self.end_listing(Code::UpstreamGone, message, None);
        }
        let ids: Vec<RequestId> = self.open.keys().cloned().collect();
        for id in ids {
            match self.open.get(&id).map(|open| &open.kind) {
                Some(Kind::Passed { .. }) => self.fail_passed(&id, Code::UpstreamGone, message),
                Some(Kind::Call(call)) if matches!(call.stage, CallStage::Sent(_)) => {
                    self.lose_sent(&id);
                }
                // What is being opened is refused when that is done; what is being settled has its answer.
                _ => {}
            }
        }
    }
}

/// The line for the client: with the id as it spelled it, and without what is the gate's alone.
pub(crate) fn forwarded(line: Line, answer: &Answer, id: &RequestId) -> Line {
    match mend::forwarded(line.bytes(), answer, id) {
        std::borrow::Cow::Borrowed(_) => line,
        std::borrow::Cow::Owned(bytes) => line.replace(bytes),
    }
}

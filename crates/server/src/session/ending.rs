//! Time that runs out, and the stop: whatever is still open gets its answer.

use callgate_gateway::Refusal;
use callgate_gateway::intent::Observation;
use callgate_mcp::{RequestId, answer};
use callgate_wire::{Code, Stage};
use tokio::time::Instant;

use super::state::{CallStage, Kind, Session, Withdrawal};
use crate::lane::Line;

impl Session {
    /// When something is due, `other` included.
    pub(super) fn next_due(&mut self, other: Option<Instant>) -> Option<Instant> {
        while let Some((_, id, serial)) = self.deadlines.front()
            && self.open.get(id).is_none_or(|open| open.serial != *serial)
        {
            self.deadlines.pop_front();
        }
        let request = self.deadlines.front().map(|(due, ..)| *due);
        let listing = self.listing.as_ref().map(|listing| listing.due);
        [request, listing, other].into_iter().flatten().min()
    }

    /// Gives up what has waited for the upstream too long.
    pub(super) fn on_time(&mut self, now: Instant) {
        if self.listing.as_ref().is_some_and(|listing| listing.due <= now) {
            self.end_listing(Code::UpstreamTimeout, "the upstream did not list its tools in time", None);
        }
        while let Some((due, id, serial)) = self.deadlines.front()
            && *due <= now
        {
            let (id, serial) = (id.clone(), *serial);
            self.deadlines.pop_front();
            if self.open.get(&id).is_some_and(|open| open.serial == serial) {
                self.time_out(&id);
            }
        }
    }

    fn time_out(&mut self, id: &RequestId) {
        let cancels = match self.open.get(id).map(|open| &open.kind) {
            Some(Kind::Passed { method }) => {
                // SPEC: basic/utilities/cancellation: `initialize` is not cancelled.
                let cancels = method != "initialize";
                self.fail_passed(id, Code::UpstreamTimeout, "the upstream did not answer in time");
                cancels
            }
            Some(Kind::Call(call)) if matches!(call.stage, CallStage::Sent(_)) => {
                self.give_up_sent(id, Observation::Timeout, true);
                true
            }
            _ => false,
        };
        if cancels {
            self.tell_upstream(Line::own(answer::cancelled(id, "no answer in time")));
        }
    }

    /// The gate stops and waits no longer: whatever is open is answered, and calls that are out stay in doubt.
    pub(super) fn give_everything_up(&mut self) {
        let message = "the gate stops";
        if self.listing.is_some() {
            self.end_listing(Code::GateStopped, message, None);
        }
        let ids: Vec<RequestId> = self.open.keys().cloned().collect();
        for id in ids {
            match self.open.get_mut(&id).map(|open| &mut open.kind) {
                Some(Kind::Passed { .. } | Kind::List) => self.fail_passed(&id, Code::GateStopped, message),
                Some(Kind::Call(call)) => match &mut call.stage {
                    CallStage::Waiting { .. } => {
                        let tool = call.tool.clone();
                        self.forget(&id);
                        let refusal = Refusal::new(Code::GateStopped, message).in_stage(Stage::Resolve);
                        self.answer_refusal(&id, &tool, &refusal);
                    }
                    CallStage::Opening { withdrawn } => *withdrawn = withdrawn.or(Some(Withdrawal::Gate)),
                    CallStage::Sent(_) => self.give_up_sent(&id, Observation::GateStopped, true),
                    CallStage::Settling => {}
                },
                None => {}
            }
        }
    }
}

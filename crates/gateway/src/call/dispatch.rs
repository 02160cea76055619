//! The call may leave: once, with these bytes.

use std::sync::Arc;

use callgate_wire::{Intent, IntentId, IntentRecord, Settlement, Timestamp};

use crate::catalog::AdmittedTool;
use crate::intent::Observation;

/// A call whose intent is durable. Whoever sends its bytes needs one of these.
#[derive(Debug)]
pub struct Dispatch {
    record: IntentRecord,
    tool: Arc<AdmittedTool>,
}

/// A backend's proof that it did not take a call up. It is made of the call's dispatch, which it consumes, so that what was
/// rejected cannot be sent; a text that says "not dispatched" proves nothing.
#[derive(Debug)]
pub struct Rejection {
    intent: IntentId,
    observation: Observation,
}

impl Dispatch {
    pub(super) fn new(record: IntentRecord, tool: Arc<AdmittedTool>) -> Dispatch {
        assert!(record.intent.settlement.is_none(), "what is dispatched has no outcome yet");
        Dispatch { record, tool }
    }

    /// What the journal holds.
    pub fn record(&self) -> &IntentRecord {
        &self.record
    }

    /// The intent.
    pub fn intent(&self) -> &Intent {
        &self.record.intent
    }

    /// The exact bytes of the arguments to send.
    pub fn arguments(&self) -> &[u8] {
        &self.record.arguments
    }

    /// The tool, as it was when the call was resolved.
    pub fn tool(&self) -> &AdmittedTool {
        &self.tool
    }

    /// What an observation means for this call. May be asked again, since an answer can come after a call was given
    /// up; the journal keeps the first that is final.
    pub fn observe(&self, observation: Observation, at: Timestamp) -> Settlement {
        observation.settlement(self.record.intent.pinned, at)
    }

    /// Gives the call up before anything of it has left.
    pub fn reject(self) -> Rejection {
        Rejection { intent: self.record.intent.id, observation: Observation::RejectedBeforeDispatch }
    }
}

impl Rejection {
    /// The intent that it is about.
    pub fn intent(&self) -> &IntentId {
        &self.intent
    }

    /// What is recorded of it.
    pub fn settlement(&self, at: Timestamp) -> Settlement {
        self.observation.settlement(callgate_wire::Pinned::default(), at)
    }
}

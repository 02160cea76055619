//! The call may leave: once, with these bytes.

use callgate_wire::{Intent, IntentRecord, Settlement, Timestamp};

use super::Opening;
use crate::catalog::AdmittedTool;
use crate::intent::Observation;

/// A call whose intent is durable. Whoever sends its bytes needs one of these.
#[derive(Debug)]
pub struct Dispatch {
    opening: Opening,
}

impl Dispatch {
    pub(super) fn new(opening: Opening) -> Dispatch {
        assert!(opening.record.intent.settlement.is_none(), "what is dispatched has no outcome yet");
        Dispatch { opening }
    }

    /// What the journal holds.
    pub fn record(&self) -> &IntentRecord {
        &self.opening.record
    }

    /// The intent.
    pub fn intent(&self) -> &Intent {
        &self.opening.record.intent
    }

    /// The exact bytes of the arguments to send.
    pub fn arguments(&self) -> &[u8] {
        &self.opening.record.arguments
    }

    /// The tool, as it was when the call was resolved.
    pub fn tool(&self) -> &AdmittedTool {
        &self.opening.tool
    }

    /// What an observation means for this call. May be asked again, since an answer can come after a call was given
    /// up; the journal keeps the first that is final.
    pub fn observe(&self, observation: Observation, at: Timestamp) -> Settlement {
        observation.settlement(at)
    }
}

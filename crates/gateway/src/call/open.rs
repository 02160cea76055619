//! The intent is written: from here on the call owns its bytes and can wait for the journal.

use std::sync::Arc;

use callgate_wire::{Attempt, Incarnation, Intent, IntentId, IntentRecord, Timestamp};

use super::{Authorized, Bound, Dispatch};
use crate::catalog::AdmittedTool;
use crate::{Committed, JournalError, Refusal};

/// A call whose intent is written down but not known to be durable: nothing of it may leave yet.
#[derive(Debug)]
pub struct Opening {
    pub(super) record: IntentRecord,
    pub(super) tool: Arc<AdmittedTool>,
}

impl Authorized<'_> {
    /// Writes the intent, with the arguments byte for byte as they were checked.
    pub fn open(self, id: IntentId, fence: Incarnation, at: Timestamp) -> Opening {
        let Bound { call, upstream, tool, arguments_digest, call_digest } = self.bound;
        let intent = Intent {
            id,
            opened_at: at,
            principal: call.principal.clone(),
            run: call.run.map(str::to_owned),
            upstream,
            tool: tool.name.clone(),
            contract_digest: tool.contract_digest,
            arguments_digest,
            call_digest,
            attempt: Attempt::FIRST,
            fence,
            settlement: None,
        };
        Opening { record: IntentRecord { intent, arguments: call.arguments.into() }, tool }
    }
}

impl Opening {
    /// What the journal has to make durable.
    pub fn record(&self) -> &IntentRecord {
        &self.record
    }

    /// Goes on with the journal's proof.
    ///
    /// # Panics
    ///
    /// If the proof is that of another intent, which would let a call leave that nothing durable speaks of.
    pub fn durable(self, committed: Committed) -> Dispatch {
        assert_eq!(*committed.id(), self.record.intent.id, "the proof is for this intent");
        drop(committed);
        Dispatch::new(self)
    }

    /// Ends here, since the journal did not make the intent durable.
    pub fn refuse(self, error: &JournalError) -> Refusal {
        Refusal::new(error.code(), "the call could not be recorded, and nothing is sent without a record")
            .with_help("the operator of the gate has to look at its store; the same call may pass then")
    }
}

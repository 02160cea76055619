//! Requests that were given up and may be answered all the same.

use std::collections::{HashMap, VecDeque};

use callgate_mcp::RequestId;
use callgate_wire::{IntentId, Pinned};

/// Ids that are kept. An id is never used twice in a session, so forgetting the oldest costs only the record of an
/// answer that comes very late.
const LATE_MAX: usize = 4_096;

/// The requests that were given up: their answers go to nobody, and clear the doubt about a call.
#[derive(Debug, Default)]
pub(super) struct Late {
    intents: HashMap<RequestId, Option<(IntentId, Pinned)>>,
    order: VecDeque<RequestId>,
}

impl Late {
    /// Keeps a request, and if it was a call, its intent and what is vouched for about the tool.
    pub(super) fn push(&mut self, id: RequestId, intent: Option<(IntentId, Pinned)>) {
        if self.order.len() >= LATE_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.intents.remove(&oldest);
        }
        self.order.push_back(id.clone());
        self.intents.insert(id, intent);
    }

    pub(super) fn contains(&self, id: &RequestId) -> bool {
        self.intents.contains_key(id)
    }

    /// The intent that the first late answer is about, if it is a call that was given up. A second one finds nothing.
    pub(super) fn take(&mut self, id: &RequestId) -> Option<(IntentId, Pinned)> {
        let found = self.intents.remove(id)?;
        self.order.retain(|other| other != id);
        found
    }
}

//! The record of a call.

use callgate_schema::json::Digest;

use super::{ApprovalId, Attempt, Incarnation, IntentId, IntentState, SideEffect, Timestamp};
use crate::{Code, Principal};

/// The version of the stored form of [`IntentRecord`]. A reader refuses a record of a version it does not know.
pub const INTENT_FORMAT: u32 = 2;

/// What is known of a call that was let through, but for its arguments: those can be secrets and can be large.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    /// The id.
    pub id: IntentId,
    /// When it was opened.
    pub opened_at: Timestamp,
    /// On whose behalf.
    pub principal: Principal,
    /// The run that the call belongs to, if it named one.
    pub run: Option<String>,
    /// The upstream that the call is for.
    pub upstream: String,
    /// The tool's name.
    pub tool: String,
    /// The digest of the tool's whole definition as it was received.
    pub contract_digest: Digest,
    /// The digest of the arguments.
    pub arguments_digest: Digest,
    /// The digest over upstream, tool, contract and arguments: equal calls have equal ones.
    pub call_digest: Digest,
    /// The caller's key by which the same call is known again, if it gave one.
    pub key: Option<String>,
    /// The approval that was used up for it, if one was needed.
    pub approval: Option<ApprovalId>,
    /// What an operator vouches for about the tool.
    pub pinned: Pinned,
    /// Which try this is.
    pub attempt: Attempt,
    /// The process that alone may dispatch and settle it.
    pub fence: Incarnation,
    /// Whether an operator permits one more try, although nobody knows whether the one before took effect.
    pub retry_permitted: bool,
    /// What is known of its end, if anything is.
    pub settlement: Option<Settlement>,
}

/// What an operator vouches for about a tool. What a server says of itself is no such thing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Pinned {
    /// It changes nothing.
    pub read_only: bool,
    /// The same call twice changes no more than once.
    pub idempotent: bool,
}

impl Pinned {
    /// Whether a call that may have run may be sent again.
    pub const fn repeatable(self) -> bool {
        self.read_only || self.idempotent
    }
}

impl Intent {
    /// The state, which is open until something else is known.
    pub fn state(&self) -> IntentState {
        self.settlement.as_ref().map_or(IntentState::Open, |settlement| settlement.state)
    }

    /// Whether a person has to find out what happened.
    pub fn in_doubt(&self) -> bool {
        self.settlement.as_ref().is_some_and(|settlement| settlement.in_doubt)
    }
}

/// An intent with the exact bytes of its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntentRecord {
    /// All the rest.
    pub intent: Intent,
    /// The arguments as the caller wrote them, byte for byte: what was checked is what is stored and what is sent.
    pub arguments: Box<[u8]>,
}

/// How an intent ended, or why its end is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settlement {
    /// The state that it has from now on.
    pub state: IntentState,
    /// Whether the call changed the world.
    pub side_effect: SideEffect,
    /// Whether a person has to find out what happened.
    pub in_doubt: bool,
    /// What went other than well, if something did.
    pub code: Option<Code>,
    /// Bytes of the result, where one came.
    pub result_bytes: Option<u64>,
    /// Whether the tool called its result an error, where one came.
    pub is_error: Option<bool>,
    /// When this became known.
    pub at: Timestamp,
}

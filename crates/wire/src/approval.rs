//! A request that a person permit one call, and what became of it.

use callgate_schema::json::Digest;

use crate::intent::state::closed;
use crate::{ApprovalId, IntentId, Principal, Timestamp};

closed! {
    /// How far a request for an approval has come.
    ApprovalState {
        /// Nobody has decided.
        Pending "pending",
        /// An operator permits the call, once.
        Approved "approved",
        /// An operator does not permit it.
        Denied "denied",
        /// The call was let through; the approval is good for nothing more.
        Used "used",
    }
}

/// A request that a person permit one call, but for its arguments: those can be secrets and can be large.
///
/// It is good for one call digest (upstream, tool, contract and arguments) of one principal under one rule set, once, and
/// until it expires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// The id.
    pub id: ApprovalId,
    /// When it was asked for.
    pub asked_at: Timestamp,
    /// The last moment at which it can be decided, or used if it was approved.
    pub expires_at: Timestamp,
    /// On whose behalf the call is.
    pub principal: Principal,
    /// The run that the call belongs to, if it named one: the approval is then good in that run alone.
    pub run: Option<String>,
    /// The upstream.
    pub upstream: String,
    /// The tool's name.
    pub tool: String,
    /// The digest of the tool's whole definition.
    pub contract_digest: Digest,
    /// The digest of the arguments.
    pub arguments_digest: Digest,
    /// The digest of the call.
    pub call_digest: Digest,
    /// The digest of the rules that ask.
    pub rules_digest: Digest,
    /// The rules that ask, by name.
    pub rules: Vec<String>,
    /// How far it has come.
    pub state: ApprovalState,
    /// Who decided and when, if somebody did.
    pub decision: Option<Decision>,
    /// The call that used it.
    pub used_by: Option<IntentId>,
}

/// An operator's decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// When.
    pub at: Timestamp,
    /// Who, as the operator names themselves.
    pub by: String,
    /// Why, if they said so.
    pub reason: Option<String>,
}

impl Approval {
    /// Whether `now` is after its last moment. The last moment itself is still good.
    pub fn expired(&self, now: Timestamp) -> bool {
        now > self.expires_at
    }
}

/// An approval with the exact bytes of the arguments that it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalRecord {
    /// All the rest.
    pub approval: Approval,
    /// The arguments, byte for byte as they will be sent.
    pub arguments: Box<[u8]>,
}

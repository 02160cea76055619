//! What operators and the gate did to records, kept for whoever looks later.

use crate::intent::state::closed;
use crate::{ApprovalId, IntentId, Timestamp};

closed! {
    /// What was done.
    EventKind {
        /// A person was asked to permit a call.
        ApprovalAsked "approval-asked",
        /// An operator permitted a call.
        ApprovalGranted "approval-granted",
        /// An operator did not permit a call.
        ApprovalDenied "approval-denied",
        /// A call used an approval up.
        ApprovalUsed "approval-used",
        /// A gate took over an intent of one that is gone.
        IntentRecovered "intent-recovered",
        /// An operator said what became of an intent in doubt.
        IntentAdopted "intent-adopted",
        /// An operator permits one more try of an intent in doubt.
        IntentRetryPermitted "intent-retry-permitted",
        /// One more try left.
        IntentRetried "intent-retried",
        /// An operator gave up finding out what became of an intent.
        IntentAbandoned "intent-abandoned",
        /// An upstream's tools were published.
        CatalogPublished "catalog-published",
        /// An operator accepted a changed contract.
        ContractAccepted "contract-accepted",
    }
}

/// One thing that was done to a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// When.
    pub at: Timestamp,
    /// What.
    pub kind: EventKind,
    /// The intent that it is about, if it is about one.
    pub intent: Option<IntentId>,
    /// The approval that it is about, if it is about one.
    pub approval: Option<ApprovalId>,
    /// Who did it: an operator's name, or the gate's incarnation.
    pub by: String,
    /// Why, or more about it; holds no value of any arguments.
    pub detail: Option<String>,
}

//! The stable codes of the gate, in one table. A code is never renamed and never used again for something else; each
//! has a page in `docs/errors`.

use std::fmt;

use crate::{Class, Stage};

macro_rules! codes {
    ($($name:ident $text:literal $class:ident $stage:ident $doc:literal,)*) => {
        /// The code of a refusal, an error, a warning or an outcome of the gate.
        ///
        /// The enum is closed: whoever turns codes into answers must decide about each.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code {
            $(#[doc = $doc] $name,)*
        }

        impl Code {
            /// Every code, in the order of the table.
            pub const ALL: &[Code] = &[$(Code::$name,)*];

            /// The stable name.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Code::$name => $text,)*
                }
            }

            /// The class, unless the findings that come with the code have a narrower one.
            pub const fn class(self) -> Class {
                match self {
                    $(Code::$name => Class::$class,)*
                }
            }

            /// The stage that gives this code.
            pub const fn stage(self) -> Stage {
                match self {
                    $(Code::$name => Stage::$stage,)*
                }
            }

            /// What the code means, in a line.
            pub const fn summary(self) -> &'static str {
                match self {
                    $(Code::$name => $doc,)*
                }
            }
        }
    };
}

codes! {
    // Messages of the protocol.
    FrameInvalid "frame-invalid" Validation Frame "a message that is not JSON, or not a message of the protocol",
    FrameBatch "frame-batch" UnsupportedCapability Frame "several messages in one array, which is not taken here",
    FrameTooLarge "frame-too-large" ExecutionFailure Frame "a message over the size that is read",
    FrameDuplicateMember "frame-duplicate-member" Validation Frame "a message with a member that stands twice, or nearly twice",
    HeaderMismatch "header-mismatch" Validation Frame "a request over HTTP whose headers and body say different things",
    RequestIdInUse "request-id-in-use" ResourceConflict Frame "a request with the id of one that is still open",
    ProtocolRevisionUnsupported "protocol-revision-unsupported" UnsupportedCapability Frame "a revision of the protocol that is not spoken here",

    // The configuration.
    ConfigInvalid "config-invalid" Validation Configure "a configuration that cannot be read, or says what cannot be meant",

    // The upstream's tools.
    ToolDefinitionMalformed "tool-definition-malformed" Validation Catalog "a tool's definition that cannot be read or has no name",
    ToolInputSchemaRefused "tool-input-schema-refused" UnsupportedCapability Catalog "a tool whose input schema cannot be enforced whole",
    ToolNameRepeated "tool-name-repeated" ResourceConflict Catalog "a name that several tools of one upstream bear",
    ToolOutputSchemaUnchecked "tool-output-schema-unchecked" UnsupportedCapability Catalog "a tool whose output schema cannot be enforced, so that its results go unchecked",
    ToolContractChanged "tool-contract-changed" ResourceConflict Catalog "a tool whose definition is not the one that was seen before",

    // Calls.
    CallWithoutId "call-without-id" Validation Frame "a tool call without an id, which nobody could answer",
    CallTaskUnsupported "call-task-unsupported" UnsupportedCapability Frame "a tool call that asks to run as a task",
    CallsInFlight "calls-in-flight" Overloaded Frame "more tool calls at once than one upstream is given",
    CallUnknownTool "call-unknown-tool" NotFound Resolve "a call of a tool that the upstream does not list",
    CallToolQuarantined "call-tool-quarantined" UnsupportedCapability Resolve "a call of a tool that was not admitted",
    CallMalformed "call-malformed" Validation Bind "a tool call whose arguments are not an object",
    CallArgumentsInvalid "call-arguments-invalid" Validation Bind "arguments that the tool's input schema refuses",
    CallArgumentsUndecided "call-arguments-undecided" ExecutionFailure Bind "arguments that could not be judged within the limits",
    CallStateUnknown "call-state-unknown" NotFound Bind "a call that brings back a state with which nothing waits",
    CallForbidden "call-forbidden" Forbidden Authorize "a call that the rules do not permit",
    BudgetCostUnknown "budget-cost-unknown" Validation Reserve "a call whose cost cannot be told, under a budget that counts it",
    CallInputUnavailable "call-input-unavailable" UnsupportedCapability Observe "a tool that asked for what its caller did not give",
    CallCancelled "call-cancelled" Cancelled Observe "a call that its caller withdrew",

    CallInDoubt "call-in-doubt" UnknownOutcome Open "a call like one of which nobody knows whether it took effect",
    CallRejected "call-rejected" ResourceConflict Dispatch "a call that its backend provably did not take up",
    CallRepeated "call-repeated" ResourceConflict Open "a call that has run already and whose result is not kept",
    KeyInFlight "idempotency-key-in-flight" ResourceConflict Open "a call with the key of one that is not answered yet",
    KeyConflict "idempotency-key-conflict" ResourceConflict Open "a call with the key of another call",
    ApprovalRequired "approval-required" ApprovalRequired Approve "a call that a person has to permit first",
    ApprovalDenied "approval-denied" Forbidden Approve "a call that a person has not permitted",
    ApprovalsFull "approvals-full" Overloaded Approve "more requests for approval than wait at once",
    BudgetExceeded "budget-exceeded" BudgetExceeded Reserve "a call that a budget does not take",

    // What operators do.
    OperatorTokenUnsafe "operator-token-unsafe" Forbidden Authorize "a token of an operator that cannot be read, or that others can read or have written",
    OperatorTokenWrong "operator-token-wrong" Forbidden Authorize "a token that is not the one of this store's operator",
    ApprovalNotFound "approval-not-found" NotFound Approve "an approval that the store does not hold",
    ApprovalAmbiguous "approval-ambiguous" Validation Approve "the beginning of an id that several approvals share",
    ApprovalNotPending "approval-not-pending" ResourceConflict Approve "a decision about an approval that is decided",
    ApprovalExpired "approval-expired" Validation Approve "a decision about an approval that has expired",
    IntentNotInDoubt "intent-not-in-doubt" ResourceConflict Settle "a decision about an intent that is not in doubt",
    CatalogConflict "catalog-conflict" ResourceConflict Catalog "a publication that was made for another revision, or under an id that is taken",
    CatalogRefused "catalog-refused" UnsupportedCapability Catalog "a publication with a tool that is not admitted, of an upstream that is strict",
    ContractNotHeld "contract-not-held" NotFound Catalog "an acceptance of a change that does not wait for one",

    // The store.
    StoreUnavailable "store-unavailable" ExecutionFailure Open "a store that cannot be opened, read or written",
    StoreNewer "store-newer" UnsupportedCapability Open "a store that a newer program wrote",
    StoreCorrupt "store-corrupt" ExecutionFailure Open "a store whose content is damaged, or that is another program's file",
    IntentFenced "intent-fenced" ResourceConflict Settle "an intent that another gate has taken over",
    IntentNotFound "intent-not-found" NotFound Settle "an intent that the store does not hold",
    IntentAmbiguous "intent-ambiguous" Validation Settle "the beginning of an id that several intents share",

    // The upstream.
    UpstreamStartFailed "upstream-start-failed" TransientTransport Dispatch "an upstream that does not start or does not take up the protocol",
    UpstreamListFailed "upstream-list-failed" MalformedResult Catalog "an upstream that does not list its tools",
    UpstreamGone "upstream-gone" TransientTransport Observe "an upstream that ended before it answered",
    UpstreamTimeout "upstream-timeout" Timeout Observe "an upstream that did not answer in time",
    UpstreamAnswerUnreadable "upstream-answer-unreadable" MalformedResult Observe "an answer that cannot be read",
    UpstreamError "upstream-error" UnknownOutcome Observe "an upstream that answered a call with an error of the protocol",
    ResultTooLarge "result-too-large" ExecutionFailure Observe "a result over the size that is passed on",
    ResultBreaksOutputSchema "result-breaks-output-schema" Validation CheckOutput "a result that the tool's own output schema refuses",

    // The gate itself.
    GateStopped "gate-stopped" UnknownOutcome Observe "a gate that stopped before the call was answered",
    GateGone "gate-gone" UnknownOutcome Observe "a gate that ended, without a word, before the call was answered",
}

impl Code {
    /// The code with this name, if there is one.
    pub fn parse(text: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|code| code.as_str() == text)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_kebab_case_and_read_back() {
        for (i, code) in Code::ALL.iter().enumerate() {
            let name = code.as_str();
            assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{name}");
            assert_eq!(Code::parse(name), Some(*code));
            assert_eq!(Code::ALL.iter().position(|other| other.as_str() == name), Some(i), "{name}");
        }
    }
}

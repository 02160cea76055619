//! Which code becomes which answer: the one place where the gate's codes meet those of JSON-RPC.
//!
//! Codes of our own lie outside -32768..-32000, which belong to JSON-RPC and the protocol.

use callgate_wire::Code;

use crate::rpc;

/// How the caller of a tool learns of a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallReply {
    /// As a JSON-RPC error: the call is not one that could be made.
    Error(i64),
    /// As a result with `isError`, so that a model can act on it.
    Result,
}

/// How the caller of a tool learns of this code.
pub fn call_reply(code: Code) -> CallReply {
    match code {
        // SPEC: server/tools, "Error Handling": unknown tools and malformed requests are protocol errors. A tool that
        // was not admitted is not in the list that its caller got, so it is as unknown as any other.
        Code::CallUnknownTool
        | Code::CallToolQuarantined
        | Code::CallMalformed
        | Code::CallStateUnknown
        | Code::CallTaskUnsupported => CallReply::Error(rpc::INVALID_PARAMS),
        Code::FrameInvalid
        | Code::FrameBatch
        | Code::FrameTooLarge
        | Code::FrameDuplicateMember
        | Code::HeaderMismatch
        | Code::RequestIdInUse
        | Code::CallWithoutId
        | Code::ProtocolRevisionUnsupported => CallReply::Error(error_code(code)),
        Code::ToolDefinitionMalformed
        | Code::ToolInputSchemaRefused
        | Code::ToolNameRepeated
        | Code::ToolOutputSchemaUnchecked
        | Code::ToolContractChanged
        | Code::CallsInFlight
        | Code::CallArgumentsInvalid
        | Code::CallArgumentsUndecided
        | Code::CallCancelled
        | Code::CallForbidden
        | Code::CallInputUnavailable
        | Code::BudgetCostUnknown
        | Code::ConfigInvalid
        | Code::StoreUnavailable
        | Code::StoreNewer
        | Code::StoreCorrupt
        | Code::IntentFenced
        | Code::IntentNotFound
        | Code::IntentAmbiguous
        | Code::UpstreamStartFailed
        | Code::UpstreamListFailed
        | Code::UpstreamGone
        | Code::UpstreamTimeout
        | Code::UpstreamAnswerUnreadable
        | Code::UpstreamError
        | Code::ResultTooLarge
        | Code::ResultBreaksOutputSchema
        | Code::GateStopped
        | Code::CallInDoubt
        | Code::CallRejected
        | Code::CallRepeated
        | Code::KeyInFlight
        | Code::KeyConflict
        | Code::ApprovalRequired
        | Code::ApprovalDenied
        | Code::ApprovalsFull
        | Code::BudgetExceeded
        | Code::OperatorTokenUnsafe
        | Code::OperatorTokenWrong
        | Code::ApprovalNotFound
        | Code::ApprovalAmbiguous
        | Code::ApprovalNotPending
        | Code::ApprovalExpired
        | Code::IntentNotInDoubt
        | Code::CatalogConflict
        | Code::CatalogRefused
        | Code::ContractNotHeld
        | Code::GateGone => CallReply::Result,
    }
}

/// The code of the JSON-RPC error by which any other request learns of this code.
pub fn error_code(code: Code) -> i64 {
    match code {
        Code::HeaderMismatch => rpc::HEADER_MISMATCH,
        Code::FrameInvalid
        | Code::FrameBatch
        | Code::FrameTooLarge
        | Code::FrameDuplicateMember
        | Code::RequestIdInUse
        | Code::CallWithoutId => rpc::INVALID_REQUEST,
        Code::CallUnknownTool
        | Code::CallMalformed
        | Code::CallStateUnknown
        | Code::CallTaskUnsupported
        | Code::CallToolQuarantined
        | Code::CallArgumentsInvalid
        | Code::CallArgumentsUndecided => rpc::INVALID_PARAMS,
        Code::ProtocolRevisionUnsupported => 4_001,
        Code::CallsInFlight => 4_002,
        Code::CallCancelled => 4_003,
        Code::CallForbidden => 4_004,
        Code::CallInputUnavailable => 4_005,
        Code::StoreUnavailable | Code::StoreNewer | Code::StoreCorrupt => 4_101,
        Code::IntentFenced
        | Code::IntentNotFound
        | Code::IntentAmbiguous
        | Code::IntentNotInDoubt
        | Code::CallInDoubt
        | Code::CallRejected
        | Code::CallRepeated
        | Code::KeyInFlight
        | Code::KeyConflict => 4_102,
        Code::ApprovalRequired
        | Code::ApprovalDenied
        | Code::ApprovalsFull
        | Code::ApprovalNotFound
        | Code::ApprovalAmbiguous
        | Code::ApprovalNotPending
        | Code::ApprovalExpired => 4_103,
        Code::BudgetExceeded | Code::BudgetCostUnknown => 4_104,
        Code::ConfigInvalid => 4_105,
        Code::OperatorTokenUnsafe | Code::OperatorTokenWrong => 4_106,
        Code::UpstreamStartFailed => 4_201,
        Code::UpstreamListFailed => 4_202,
        Code::UpstreamGone => 4_203,
        Code::UpstreamTimeout => 4_204,
        Code::UpstreamAnswerUnreadable => 4_205,
        Code::UpstreamError => 4_206,
        Code::ResultTooLarge => 4_207,
        Code::ResultBreaksOutputSchema => 4_208,
        Code::ToolDefinitionMalformed
        | Code::ToolInputSchemaRefused
        | Code::ToolNameRepeated
        | Code::ToolOutputSchemaUnchecked
        | Code::ToolContractChanged
        | Code::CatalogConflict
        | Code::CatalogRefused
        | Code::ContractNotHeld => 4_301,
        Code::GateStopped | Code::GateGone => 4_401,
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    #[test]
    fn every_code_has_an_answer_and_our_own_numbers_lie_outside_the_reserved_ones() {
        let mut table = String::new();
        for &code in Code::ALL {
            let number = error_code(code);
            assert_ne!(number, rpc::INTERNAL_ERROR, "{code} has no row");
            assert!(number > 0 || matches!(number, -32_602..=-32_600 | rpc::HEADER_MISMATCH), "{code}");
            let call = match call_reply(code) {
                CallReply::Error(number) => format!("error {number}"),
                CallReply::Result => "result with isError".to_owned(),
            };
            let _ = writeln!(table, "{:<30} call: {call:<20} other request: {number}", code.as_str());
        }
        insta::assert_snapshot!(table);
    }
}

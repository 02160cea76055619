//! The classes of refusals and errors: coarser than codes, and closed, so that a caller can decide by them.

use std::fmt;

macro_rules! classes {
    ($($name:ident $text:literal $doc:literal,)*) => {
        /// The class of a refusal or an error.
        ///
        /// The first three are those of the schema engine, under the same names.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Class {
            $(#[doc = $doc] $name,)*
        }

        impl Class {
            /// Every class, in the order of the table.
            pub const ALL: &[Class] = &[$(Class::$name,)*];

            /// The name in answers.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Class::$name => $text,)*
                }
            }
        }
    };
}

classes! {
    UnsupportedCapability "unsupported_capability" "something is asked for that is not enforced or not offered here",
    Validation "validation" "a malformed text or message, or a value that its schema refuses",
    ExecutionFailure "execution_failure" "a limit was reached before there was an answer, or a part of the gate failed",
    Forbidden "forbidden" "the rules or a person do not permit this",
    ApprovalRequired "approval_required" "a person has to permit this first",
    BudgetExceeded "budget_exceeded" "a budget does not take this",
    NotFound "not_found" "the thing that is named is not known",
    ResourceConflict "resource_conflict" "the request contradicts what is already there",
    Overloaded "overloaded" "a bounded queue is full; the same request may pass later",
    Cancelled "cancelled" "the caller withdrew the request",
    Timeout "timeout" "an allowance of time passed",
    TransientTransport "transient_transport" "the way to the upstream is broken",
    MalformedResult "malformed_result" "the upstream answered in a form that cannot be read",
    UnknownOutcome "unknown_outcome" "nobody can say whether the effect happened",
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<callgate_schema::Class> for Class {
    fn from(class: callgate_schema::Class) -> Self {
        match class {
            callgate_schema::Class::UnsupportedCapability => Class::UnsupportedCapability,
            callgate_schema::Class::Validation => Class::Validation,
            callgate_schema::Class::ExecutionFailure => Class::ExecutionFailure,
        }
    }
}

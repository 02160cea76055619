//! The stages of the gate, in the order in which a call passes them.

use std::fmt;

macro_rules! stages {
    ($($name:ident $text:literal $doc:literal,)*) => {
        /// Where in the gate something was decided.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Stage {
            $(#[doc = $doc] $name,)*
        }

        impl Stage {
            /// Every stage, in order.
            pub const ALL: &[Stage] = &[$(Stage::$name,)*];

            /// The name in answers and tables.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Stage::$name => $text,)*
                }
            }
        }
    };
}

stages! {
    Configure "configure" "the configuration is read",
    Catalog "catalog" "the upstream's tools are admitted or quarantined",
    Frame "frame" "a message of the protocol is read",
    Resolve "resolve" "the tool is looked up in a snapshot of the catalog",
    Bind "bind" "the arguments are read, checked against the tool's input schema and digested",
    Authorize "authorize" "the rules decide whether the principal may make this call",
    Open "open" "the intent is made durable",
    Approve "approve" "the approval that the call needs is looked for, and used up",
    Reserve "reserve" "what the call takes from budgets is reserved",
    Dispatch "dispatch" "the call leaves for the upstream",
    Observe "observe" "what came back, or did not, is classified",
    CheckOutput "check-output" "the result is checked against the tool's output schema",
    Settle "settle" "the outcome is made durable",
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

//! How far an intent has come, and what is known of the world.

/// A closed set of words that are stored and printed.
macro_rules! closed {
    ($($(#[$doc:meta])* $name:ident { $($(#[$row_doc:meta])* $row:ident $text:literal,)* })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name {
            $($(#[$row_doc])* $row,)*
        }

        impl $name {
            /// All of them, in order.
            pub const ALL: &[$name] = &[$($name::$row,)*];

            /// The name in the store and in answers.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($name::$row => $text,)*
                }
            }

            /// The one with this name, if there is one.
            pub fn parse(text: &str) -> Option<$name> {
                $name::ALL.iter().copied().find(|one| one.as_str() == text)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    )*};
}

closed! {
    /// How far an intent has come.
    IntentState {
        /// Recorded; no outcome is known yet, and it may stay so.
        Open "open",
        /// The upstream answered with a result.
        Settled "settled",
        /// The upstream answered with an error of the protocol.
        Failed "failed",
        /// The call did not leave the gate.
        Refused "refused",
    }
    /// Whether the call changed the world.
    SideEffect {
        /// Nothing happened.
        None "none",
        /// The tool ran.
        Done "done",
        /// Nobody can say.
        Unknown "unknown",
    }
}

pub(crate) use closed;

impl IntentState {
    /// Whether nothing can follow this state.
    pub const fn is_final(self) -> bool {
        match self {
            IntentState::Open => false,
            IntentState::Settled | IntentState::Failed | IntentState::Refused => true,
        }
    }
}

//! Whether a settlement replaces what is already known of an intent.

use callgate_wire::Settlement;

/// What becomes of a settlement that arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transition {
    /// It is recorded.
    Record,
    /// What is known stays.
    Keep,
}

/// What becomes of `next` where `known` is what is known.
///
/// What is final stays: the first answer counts. What is in doubt gives way to what is final, so that a late answer
/// clears the doubt, and to nothing else, so that the first reason for the doubt stays.
pub fn settle(known: Option<&Settlement>, next: &Settlement) -> Transition {
    match known {
        None => Transition::Record,
        Some(known) if !known.state.is_final() && next.state.is_final() => Transition::Record,
        Some(_) => Transition::Keep,
    }
}

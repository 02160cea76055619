//! The time and fresh ids: read here and nowhere below.

use callgate_wire::{Incarnation, IntentId, Timestamp};

/// The time now.
pub fn now() -> Timestamp {
    Timestamp(jiff::Timestamp::now().as_millisecond())
}

/// An incarnation that no other process has.
pub fn fresh_incarnation() -> Incarnation {
    Incarnation::from_bytes(fresh_uuid())
}

/// The id of a new intent.
pub(crate) fn fresh_intent_id() -> IntentId {
    IntentId::from_bytes(fresh_uuid())
}

#[expect(clippy::disallowed_methods, reason = "this crate is where ids are made")]
fn fresh_uuid() -> [u8; 16] {
    uuid::Uuid::now_v7().into_bytes()
}

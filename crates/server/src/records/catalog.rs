//! The pins for programs: one object a tool.

use callgate_gateway::journal::PinRecord;

use super::json::{array, object, quoted, time};

/// An array, one pin a line.
pub fn list(pins: &[PinRecord]) -> String {
    let one = |PinRecord { upstream, pin }: &PinRecord| {
        let held = pin.held.as_ref();
        object(&[
            ("upstream", Some(quoted(upstream))),
            ("tool", Some(quoted(&pin.tool))),
            ("digest", Some(quoted(&pin.digest.to_string()))),
            ("pinned_time", Some(quoted(&time(pin.pinned_at)))),
            ("accepted_by", pin.accepted_by.as_deref().map(quoted)),
            ("held_digest", held.map(|held| quoted(&held.digest.to_string()))),
            ("held_time", held.map(|held| quoted(&time(held.at)))),
        ])
    };
    array(&pins.iter().map(one).collect::<Vec<_>>())
}

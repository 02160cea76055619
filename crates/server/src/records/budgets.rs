//! The counters of budgets for programs: one object a counter.

use callgate_gateway::journal::Counter;

use super::json::{array, object, quoted, time};

/// An array, one counter a line.
pub fn list(counters: &[Counter]) -> String {
    let one = |Counter { charge, committed, reserved }: &Counter| {
        object(&[
            ("budget", Some(quoted(&charge.budget))),
            ("scope", Some(quoted(&charge.scope))),
            ("window_time", charge.window.map(|at| quoted(&time(at)))),
            ("committed", Some(committed.to_string())),
            ("reserved", Some(reserved.to_string())),
            ("limit", Some(charge.limit.to_string())),
            ("resets_time", charge.resets_at.map(|at| quoted(&time(at)))),
        ])
    };
    array(&counters.iter().map(one).collect::<Vec<_>>())
}

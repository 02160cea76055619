//! Approvals: a person permits one call, once.
//!
//! | file | decides |
//! |---|---|
//! | `standing` | whether a call that needs an approval has one, and asks for it where not |
//! | `decide` | what an operator's decision does |

mod decide;
mod standing;

pub(crate) use decide::decide;
pub(crate) use standing::{Standing, standing};

/// Requests that wait for a decision at once; one more is refused, so that a caller cannot bury an operator.
pub const APPROVALS_PENDING_MAX: u64 = 10_000;

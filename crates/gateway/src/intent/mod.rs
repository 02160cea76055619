//! What can become of an intent: one file a transition, each a function from the records to effects.
//!
//! | file | decides |
//! |---|---|
//! | `open` | whether a call may leave |
//! | `outcome` | what an observation means for the state, the side effect and the doubt |
//! | `settle` | whether a settlement replaces what is already known |
//! | `record` | what recording a settlement does |
//! | `recover` | what becomes of the intents of gates that are gone |
//! | `reconcile` | what an operator makes of an intent in doubt |

mod open;
mod outcome;
mod reconcile;
mod record;
mod recover;
mod settle;

pub(crate) use open::open;
pub use outcome::{Observation, Outcome, outcome, outcome_table};
pub(crate) use reconcile::reconcile;
pub(crate) use record::record;
pub(crate) use recover::recover;
pub use settle::{Transition, settle};

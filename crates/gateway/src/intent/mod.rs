//! How an intent ends: the two tables that everything else follows.
//!
//! | file | decides |
//! |---|---|
//! | `outcome` | what an observation means for the state, the side effect and the doubt |
//! | `settle` | whether a settlement replaces what is already known |

mod outcome;
mod settle;

pub use outcome::{Observation, Outcome, outcome, outcome_table};
pub use settle::{Transition, settle};

//! Records for programs: the same texts, whether the command line prints them or the operator's address answers with them.
//!
//! | module | holds |
//! |---|---|
//! | [`json`] | objects, arrays, texts and times |
//! | [`approvals`], [`intents`], [`budgets`], [`catalog`] | the records |

pub mod approvals;
pub mod budgets;
pub mod catalog;
pub mod intents;
pub mod json;

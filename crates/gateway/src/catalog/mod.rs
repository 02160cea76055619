//! Which tools can be called: each is admitted or quarantined by itself, and a catalog is an immutable snapshot of
//! what came of that.
//!
//! | file | holds |
//! |---|---|
//! | `admit` | the judgement on one tool's definition |
//! | `tool` | what is known of an admitted and of a quarantined tool |
//! | `snapshot` | the catalog |

mod admit;
mod snapshot;
mod tool;

pub use admit::{AdmissionSettings, admit_tool, admit_tools};
pub use snapshot::{Catalog, Lookup};
pub use tool::{Admission, AdmittedTool, OutputContract, QuarantinedTool};

//! Which tools can be called: each is admitted or quarantined by itself, and a catalog is an immutable snapshot of
//! what came of that.
//!
//! | file | holds |
//! |---|---|
//! | `admit` | the judgement on one tool's definition |
//! | `pin_ignore` | what of a definition its digest leaves out |
//! | `tool` | what is known of an admitted and of a quarantined tool |
//! | `snapshot` | the catalog |
//! | `publish` | what publishing an upstream's tools does to the records: pins, and changes that are held |
//! | `accept` | what an operator's acceptance of a change does |

mod accept;
mod admit;
mod pin_ignore;
mod publish;
mod snapshot;
mod tool;

pub(crate) use accept::accept;
pub use admit::{AdmissionSettings, TOOL_NAME_CHARS_MAX, admit_tool, admit_tools};
pub use pin_ignore::{MalformedPointer, PIN_IGNORE_MAX, PinIgnore};
pub use publish::RECEIPTS_MAX;
pub(crate) use publish::publish;
pub use snapshot::{Catalog, Lookup};
pub use tool::{Admission, AdmittedTool, OutputContract, QuarantinedTool};

//! How a handler's call ended, in the one form that every adapter starts from.
//!
//! | file | holds |
//! |---|---|
//! | `outcome` | success and failure |
//! | `artifact` | what a success brings beside its data: text or bytes |
//! | `envelope` | successes whose data is a versioned snapshot |
//! | `failure_code` | the stable words that an agent may match on |
//! | `form` | the canonical JSON form, written and read |

mod artifact;
mod envelope;
mod failure_code;
mod form;
mod outcome;

pub use artifact::{Artifact, Content, TEXT_PLAIN};
pub use envelope::{APPLICATION_JSON, ENVELOPE_VERSION, Envelope, ResourceEnvelope};
pub use failure_code::FailureCode;
pub use outcome::{AgentResult, Failure, MESSAGE_OK, Success};

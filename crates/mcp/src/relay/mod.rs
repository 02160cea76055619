//! What a gate between many clients and many servers changes in the frames that it passes on, and nothing else: the id,
//! the name under which the client knows a tool, the token of its progress, and what one era of the protocol says in
//! another way than the other. Arguments and content keep their bytes.
//!
//! | file | holds |
//! |---|---|
//! | `question` | what a server asks its client before it answers |
//! | `request` | a client's request as the server gets it |
//! | `result` | a server's result as the client gets it |
//! | `subject` | what a request is about, in headers |
//! | `told` | progress, which goes to whom it concerns, and changes |
//! | `log` | messages for a client's log, and which of them a request asks for |
//! | `lists` | one list out of those of many servers |
//! | `hello` | how a connection begins, in both eras and on both sides |
//! | `era` | the two eras, and what a request of the newer one says of its client |

mod era;
mod hello;
mod lists;
mod log;
mod question;
mod request;
mod result;
mod subject;
mod told;

pub use era::{CAPABILITIES, CLIENT_INFO, Era, META_PREFIX, ModernClient, ModernFault, PROTOCOL_VERSION};
pub use hello::{Hello, HelloFault, Welcome, discover_request, initialize_request, own_request};
pub use lists::{Items, ListKind, merged, named};
pub use log::{LogLevel, admits};
pub use question::{Answered, ELICIT, Elicited, Question, Questions, Return, again, responses};
pub use request::{Introduction, Outward, outward};
pub use result::{Inward, ResultKind, inward, own_answer};
pub use subject::Subject;
pub use told::{progress_of, subscription_of, updated_resource, with_progress, with_subscription};

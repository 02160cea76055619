//! Frames in: one line of text becomes one decision about it.
//!
//! | file | holds |
//! |---|---|
//! | `client` | what a client's frame asks of the gate |
//! | `upstream` | what an upstream's frame answers or asks |
//! | `envelope` | the strict rules of JSON-RPC's envelope, the same for both |
//! | `one_line` | a message as one line |
//! | `scan` | a tolerant scan of what the strict reader does not take |

mod client;
mod envelope;
mod one_line;
mod scan;
mod subject;
mod upstream;

pub use client::{Call, ClientFrame, ClientReader, Faulty, Recipient};
pub use one_line::one_line;
pub use scan::{Form, Scan, Scanner};
pub use subject::Subject;
pub use upstream::{Answer, AnswerContent, ResultFacts, UpstreamFrame, UpstreamReader};

#[cfg(test)]
mod tests;

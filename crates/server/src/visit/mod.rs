//! A visit to a tool server: begins a session, reads all pages of its list of tools, and ends. No tool is called.
//!
//! ```text
//! initialize ─▶ welcome ─▶ initialized ─▶ tools/list ─▶ page ─┬─▶ the end
//!                                            ▲               │ a cursor
//!                                            └───────────────┘
//! ```
//!
//! `stdio` speaks with a process that it starts, `http` with a server of Streamable HTTP; both collect the same way.

mod events;
mod http;
mod stdio;

use std::time::Duration;

use callgate_mcp::list::{self, Page, PageFault};
use callgate_mcp::visit::{Welcome, WelcomeFault};
use callgate_mcp::{FrameLimits, RequestId};

pub use http::{call_url, visit_url};
pub use stdio::visit_command;

/// How a server is visited.
#[derive(Debug, Clone)]
pub struct VisitSettings {
    /// How long the whole visit may take.
    pub timeout: Duration,
    /// The maxima of frames and lists.
    pub limits: FrameLimits,
    /// The version of this program, for the server.
    pub version: &'static str,
}

/// What a server lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visit {
    /// The revision of the session.
    pub revision: &'static str,
    /// What the server says of itself: JSON text, as received.
    pub server: Option<Box<str>>,
    /// The definitions of its tools, each byte for byte as received, in its order.
    pub tools: Vec<Box<[u8]>>,
}

/// Why a visit came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum VisitError {
    /// The command does not start.
    #[error(transparent)]
    Start(#[from] crate::StartError),
    /// The server ended, or closed its stream, before the list was there.
    #[error("expected a list of tools, found that the server ended")]
    Gone,
    /// The list was not there in time.
    #[error("expected a list of tools within {} ms, found none", .0.as_millis())]
    Timeout(Duration),
    /// A maximum of the list was exceeded.
    #[error("expected at most {maximum} {what} in the list of tools, found more")]
    Limit {
        /// What there is too much of.
        what: &'static str,
        /// The maximum.
        maximum: usize,
    },
    /// The server answered a request with an error.
    #[error("the server refused `{method}`: {error}")]
    Refused {
        /// The request's method.
        method: &'static str,
        /// The error's JSON text, as received.
        error: Box<str>,
    },
    /// An answer is none of the protocol's.
    #[error("expected {expected} in the answer to `{method}`, found something else")]
    Malformed {
        /// The request's method.
        method: &'static str,
        /// What was expected.
        expected: &'static str,
    },
    /// The server speaks a revision that is not spoken here.
    #[error("expected a revision of the protocol from 2024-11-05 to 2025-11-25, found `{0}`")]
    Revision(String),
    /// The server's HTTP status is none of success.
    #[error("expected an answer to `{method}`, found HTTP status {status}{hint}")]
    Status {
        /// The request's method.
        method: &'static str,
        /// The status.
        status: u16,
        /// What can be done about it, if that is known.
        hint: &'static str,
    },
    /// The server was not reached, or the stream broke.
    #[error("failed to speak with the server")]
    Io(#[source] std::io::Error),
    /// The HTTP exchange failed.
    #[error("failed to speak with the server: {0}")]
    Http(String),
}

impl VisitError {
    fn of_page(method: &'static str, fault: PageFault) -> VisitError {
        match fault {
            PageFault::Refused(error) => VisitError::Refused { method, error },
            PageFault::Malformed(expected) => VisitError::Malformed { method, expected },
        }
    }
}

/// The names of the requests.
const INITIALIZE: &str = "initialize";
const TOOLS_LIST: &str = "tools/list";

/// Reads the answer to `initialize`.
fn welcome(frame: &[u8], limits: &FrameLimits) -> Result<Welcome, VisitError> {
    Welcome::read(frame, limits).map_err(|fault| match fault {
        WelcomeFault::Answer(fault) => VisitError::of_page(INITIALIZE, fault),
        WelcomeFault::Revision(date) => VisitError::Revision(date),
    })
}

/// The pages as they come in.
#[derive(Debug)]
struct Collector<'s> {
    limits: &'s FrameLimits,
    tools: Vec<Box<[u8]>>,
    bytes: usize,
    pages: usize,
}

impl<'s> Collector<'s> {
    fn new(limits: &'s FrameLimits) -> Collector<'s> {
        Collector { limits, tools: Vec::new(), bytes: 0, pages: 0 }
    }

    /// Takes a page; gives the cursor of the next one, if there is one.
    fn take(&mut self, frame: &[u8]) -> Result<Option<Box<str>>, VisitError> {
        let limits = self.limits;
        let limit = |what, maximum| Err(VisitError::Limit { what, maximum });
        self.bytes += frame.len();
        self.pages += 1;
        if self.bytes > limits.list_bytes_max {
            return limit("bytes", limits.list_bytes_max);
        }
        let page = Page::read(frame, limits).map_err(|fault| VisitError::of_page(TOOLS_LIST, fault))?;
        self.tools.extend(page.tools);
        if self.tools.len() > limits.list_tools_max {
            return limit("tools", limits.list_tools_max);
        }
        if page.next.is_some() && self.pages >= limits.list_pages_max {
            return limit("pages", limits.list_pages_max);
        }
        Ok(page.next)
    }
}

/// The id of one of the visit's own requests: its text, and the id.
fn own_id(number: usize) -> (String, RequestId) {
    list::own_id("visit", number as u64)
        .unwrap_or_else(|| unreachable!("letters and digits in quotes are an id"))
}

#[cfg(test)]
mod tests;

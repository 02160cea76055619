//! The gate before many servers: any number of clients, over HTTP or standard input and output, in either era of the
//! protocol, and any number of tool servers behind it.
//!
//! ```text
//! http ─┐                            ┌─ link ── a process
//!       ├─▶ front ─▶ call / others ──┤
//! stdio ┘       gate (what is shared)└─ link ── an address
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `gate` | what all clients share, and which server has the tool of a name |
//! | `reload` | a new configuration while it serves |
//! | `front` | what a client's frame leads to |
//! | `call` | the way of a `tools/call` until it leaves |
//! | `conversation` | from there to its end: what its server tells and asks, and what comes back |
//! | `parked` | calls whose clients come again with answers |
//! | `approving` | approvals by the client's own user |
//! | `judge` | what a server's answer to a call means |
//! | `others` | resources, prompts and completions |
//! | `metrics` | what is counted of calls and servers |
//! | `question` | how the client of a call is asked |
//! | `client` | who asks, and how they speak |
//! | `marks` | what stands in `_meta` between the gate and its clients |
//! | `listen`, `change` | changes, and who hears of them |
//! | `followed` | single resources whose changes clients follow |
//! | `upstream` | one tool server, as long as the gate serves |
//! | `connect` | how a server is reached, and in which era it speaks |
//! | `listing` | the tools of one server |
//! | `watch` | the stream on which a server says that its lists have changed |
//! | `link` | one connection to a server |
//! | `http_link`, `event_stream` | the same over HTTP |
//! | `admin` | the operator's address |
//! | `auth` | who calls over HTTP |
//! | `access` | what a request over HTTP has to pass first |
//! | `serve_http`, `http`, `streams`, `headers`, `edge`, `session` | clients over HTTP |
//! | `stdio` | one client over standard input and output |

mod access;
mod admin;
mod approving;
mod auth;
mod call;
mod change;
mod client;
mod connect;
mod conversation;
mod edge;
mod event_stream;
mod followed;
mod front;
mod gate;
mod headers;
mod http;
mod http_link;
mod judge;
mod link;
mod listen;
mod listing;
mod marks;
mod metrics;
mod others;
mod parked;
mod question;
mod reload;
mod serve_http;
mod session;
mod stdio;
mod streams;
mod upstream;
mod watch;

pub use access::Access;
pub use auth::{ApiToken, ApiTokenError, ApiTokens, Auth, FreshToken, KeysError, TOKENS_FILE};
pub use gate::Gate;
pub use reload::{NeedsRestart, Reloaded};
pub use serve_http::{HttpClients, serve_http};
pub use stdio::{StdioClient, serve_stdio};

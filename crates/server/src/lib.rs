//! The gate at work: streams, child processes and the session between one client and one upstream.
//!
//! ```text
//! client ──▶ line ──▶ mcp::frame ──▶ session (one task owns all state) ──▶ outbox ──▶ upstream
//!        ◀── outbox ◀──               │        ▲                      ◀── mcp::frame ◀── line
//!                                     ▼        │
//!                              blocking threads: check, journal, settle
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`config`] | the configuration file |
//! | [`records`] | records as texts for programs |
//! | `line` | lines of bounded length out of a stream |
//! | `lane` | the tasks that read and write the streams, and the bounds on what waits between them |
//! | `hangup` | the end of a client that is not read any more |
//! | `child` | the upstream as a child process |
//! | `session` | the session of one client with one server |
//! | `serve` | the gate before many servers |
//! | `local` | a registry of the app's own tools as a server |
//! | `operator` | the token by which an operator shows that they are one |
//! | `recovery` | what gates that are gone have left |
//! | `stop` | the signals that end it, and the one by which it reads its configuration again |
//! | `clock` | the time and fresh ids, read here and handed on |
//! | `visit` | a visit to a tool server that only lists its tools |
//! | `user` | who runs the process |
//!
//! What this crate does not do: it decides nothing about tools and calls (`gateway` does), knows no SQL, and prints
//! nothing; what an operator should know goes to the log.

pub mod config;
pub mod records;

mod child;
mod clock;
mod hangup;
mod lane;
mod line;
mod local;
mod operator;
mod recovery;
mod serve;
mod session;
mod stop;
mod user;
mod visit;

pub use child::{Child, StartError};
pub use clock::{fresh_incarnation, now};
pub use hangup::{HangUp, stdin_hang_up};
pub use local::{local_ports, serve_local};
pub use operator::{OperatorError, OperatorToken, TOKEN_FILE};
pub use recovery::{RECOVERY_EVERY, keep_recovering, recover};
pub use serve::{
    Access, ApiToken, ApiTokenError, ApiTokens, Auth, FreshToken, Gate, HttpClients, KeysError, NeedsRestart,
    Reloaded, StdioClient, TOKENS_FILE, serve_http, serve_stdio,
};
pub use session::{End, Peers, SessionSettings, run};
pub use stop::{HangUpMeans, Reloads, Stop, on_signals};
pub use user::user_name;
pub use visit::{Visit, VisitError, VisitSettings, call_url, visit_command, visit_url};

//! PostgreSQL for tests: a server of one's own, and what stands between a gate and its server.
//!
//! | file | holds |
//! |---|---|
//! | `server` | the machine's own programs, in a folder of their own |
//! | `proxy` | sees and cuts what goes between a gate and its server |

mod proxy;
mod server;

pub use proxy::{Fate, Proxy, Seen};
pub use server::{SOCKET, Server};

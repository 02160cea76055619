//! An app that serves its own tools over MCP on standard input and output, with the gate before them: each call is
//! checked by the schema of its arguments and recorded in a store before its handler runs.
//!
//! ```sh
//! cargo run -p callgate-server --example serve_notes -- notes.sqlite
//! ```

use std::sync::{Arc, Mutex};

use callgate_gateway::registry::{Adapter as _, Descriptor, Registration, Registry};
use callgate_mcp::adapter::McpAdapter;
use callgate_server::{fresh_incarnation, local_ports, now, serve_local};
use callgate_store::SqliteJournal;
use callgate_wire::{AgentResult, Object};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Add {
    /// The text of the note.
    text: String,
    #[schemars(range(min = 1, max = 5))]
    stars: Option<u8>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let store = std::env::args_os().nth(1).ok_or("expected the path of a store")?;
    let journal = SqliteJournal::open_gate(store.as_ref(), fresh_incarnation(), std::process::id(), now())?;
    let registry = Registry::new(local_ports(Arc::new(journal)));
    let notes = Mutex::new(Vec::new());
    let add = Descriptor::tool("notes", "add", "Keeps a note")?;
    registry.register(Registration::typed(add, move |_, Add { text, stars }| {
        let mut notes = notes.lock().map_err(|_| std::fmt::Error)?;
        notes.push((text, stars.unwrap_or(1)));
        Ok(AgentResult::success(Object::new().with("count", notes.len())))
    })?)?;
    let mut adapter = McpAdapter::new("notes", "1.0.0");
    adapter.attach(&registry)?;
    Ok(serve_local(adapter, std::io::stdin().lock(), std::io::stdout())?)
}

//! The gate of the measurement, in a process of its own: `callgate serve` by its parts, so that its journal can be in memory.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use callgate_gateway::Journal;
use callgate_gateway::journal::MemoryJournal;
use callgate_server::config::Config;
use callgate_server::{Access, Auth, Gate, HttpClients, Stop, serve_http};
use callgate_store::SqliteJournal;
use callgate_wire::Principal;
use tokio::net::TcpListener;
use tokio::sync::watch;

/// Serves until the process is ended; prints the port.
pub(super) async fn serve(config: &Path, store: Option<&Path>) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(config)?;
    let config = Arc::new(Config::parse("the bench's configuration", &text)?);
    let life = callgate_server::fresh_incarnation();
    let journal: Arc<dyn Journal> = match store {
        Some(path) => {
            Arc::new(SqliteJournal::open_gate(path, life, std::process::id(), callgate_server::now())?)
        }
        None => Arc::new(MemoryJournal::new(life)),
    };
    let gate = Gate::start(Arc::clone(&config), journal);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?.port());
    std::io::stdout().flush()?;
    let folder = tempfile::tempdir()?;
    let nobody = Some(Principal::local("bench"));
    let beside = folder.path().join("store");
    let auth = Auth::start(config, &beside, nobody).await.context("no way to show who calls")?;
    let (_same, access) = watch::channel(Arc::new(Access::new(Vec::new(), Vec::new(), auth)));
    // Held as long as it serves: a gate whose stop is gone would stop.
    let (_keep, stop) = watch::channel(Stop::No);
    serve_http(gate, HttpClients { listener, access, beside }, stop).await;
    Ok(())
}

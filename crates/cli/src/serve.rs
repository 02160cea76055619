//! `callgate serve`: one gate before all tool servers of a configuration.

mod again;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use callgate_gateway::Journal;
use callgate_server::config::Config;
use callgate_server::{
    ApiTokens, Gate, HangUpMeans, HttpClients, OperatorToken, RECOVERY_EVERY, Reloads, StdioClient, Stop,
    keep_recovering,
};
use callgate_wire::Principal;
use tokio::net::TcpListener;
use tokio::sync::watch;

use self::again::Again;
use crate::config::ConfigArg;
use crate::exit_code::{ExitCode, Failure};
use crate::store_path::StoreArg;
use crate::wrap::{open_journal, tell_rules};

/// Put one gate before many tool servers, and serve their tools at one address.
///
/// Clients connect to http://ADDRESS/mcp (Streamable HTTP), or with --stdio over standard input and output. Clients of
/// every revision of the protocol are served whatever the revisions of the servers are. Without a configuration a small
/// notes server stands behind the gate, to try it.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Examples:
  callgate serve
  callgate serve --config callgate.toml
  callgate serve --config callgate.toml --listen 127.0.0.1:8080
  callgate serve --config callgate.toml --stdio

A tool server in the configuration:
  [[upstreams]]
  name = \"git\"
  command = \"uvx\"
  args = [\"mcp-server-git\"]")]
pub(crate) struct Args {
    #[command(flatten)]
    store: StoreArg,
    #[command(flatten)]
    config: ConfigArg,
    /// The address to listen at [default: the configuration's, else 127.0.0.1:7411]
    #[arg(long, value_name = "HOST:PORT", conflicts_with = "stdio")]
    listen: Option<SocketAddr>,
    /// Serve one client over standard input and output instead
    #[arg(long)]
    stdio: bool,
}

/// How long the last records may take to be written.
const LAST_RECORDS: Duration = Duration::from_secs(2);

/// The configuration of a gate that has none: the notes server of this program, behind a gate that anyone may call.
const NOTES: &str = "[[upstreams]]\nname = \"notes\"\ncommand = \"";

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let log = crate::log::start();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("failed to start the runtime")?;
    let outcome = runtime.block_on(serve(args));
    // A read of standard input cannot be called back, and threads are not let go of as they end (glibc bug 19951).
    std::mem::forget(runtime);
    drop(log);
    outcome
}

async fn serve(args: &Args) -> anyhow::Result<ExitCode> {
    let config = if args.config.is_given() {
        load(args)?
    } else {
        tracing::info!(
            "there is no configuration, so a small notes server stands behind the gate; to put it before your own servers, write them into a file as `callgate serve --help` shows and pass it with --config"
        );
        with_notes()?
    };
    // Without a configuration there is nothing to read again.
    let hang_up = if args.config.is_given() { HangUpMeans::Reload } else { HangUpMeans::Stop };
    let reloads = Reloads::follow().context("failed to follow signals")?;
    let stop = callgate_server::on_signals(hang_up).context("failed to follow signals")?;
    let principal = Principal::local(&callgate_server::user_name());
    let store = args.store.clone().or_configured(config.gate.store.as_ref())?;
    let beside = store.place()?.beside()?;
    let listener = if args.stdio { None } else { Some(listen(args, &config, &beside).await?) };
    let (journal, place) = open_journal(&store)?;
    if let Err(error) = OperatorToken::of_store(&beside) {
        tracing::warn!(%error, code = %error.code(), "there is no token for an operator");
    }
    tell_rules(&config);
    tokio::spawn(keep_recovering(Arc::downgrade(&journal), RECOVERY_EVERY));
    let config = Arc::new(config);
    let gate = Gate::start(Arc::clone(&config), Arc::clone(&journal));
    tracing::info!(store = %place, %principal, upstreams = config.upstreams.len(), "the gate serves");
    if let Some(listener) = listener {
        serve_http(args, &gate, listener, Again { config, beside, principal, reloads }, stop).await?;
    } else {
        if hang_up == HangUpMeans::Reload {
            let again = Again { config, beside, principal: principal.clone(), reloads };
            tokio::spawn(again.follow(args.clone(), Arc::downgrade(&gate), None));
        }
        serve_on_stdio(&gate, principal, stop).await;
    }
    end(gate, journal).await;
    Ok(ExitCode::Success)
}

/// Serves the one client that is at standard input and output.
pub(crate) async fn serve_on_stdio(gate: &Arc<Gate>, principal: Principal, stop: watch::Receiver<Stop>) {
    let (from, to) = (Box::new(tokio::io::stdin()), Box::new(tokio::io::stdout()));
    callgate_server::serve_stdio(Arc::clone(gate), StdioClient { from, to, principal }, stop).await;
}

/// Ends a gate, and its life in the store.
pub(crate) async fn end(gate: Arc<Gate>, journal: Arc<dyn Journal>) {
    gate.stop().await;
    drop(gate);
    close(journal).await;
    tracing::info!("stopped");
}

async fn serve_http(
    args: &Args,
    gate: &Arc<Gate>,
    listener: TcpListener,
    again: Again,
    stop: watch::Receiver<Stop>,
) -> anyhow::Result<()> {
    let address = listener.local_addr().context("failed to learn the address")?;
    let beside = again.beside.clone();
    let first = again.access(&again.config, address).await?;
    let (sender, access) = watch::channel(Arc::new(first));
    if args.config.is_given() {
        tokio::spawn(again.follow(args.clone(), Arc::downgrade(gate), Some((address, sender))));
    }
    callgate_server::serve_http(Arc::clone(gate), HttpClients { listener, access, beside }, stop).await;
    Ok(())
}

/// The configuration of a file, which has to name a server.
fn load(args: &Args) -> anyhow::Result<Config> {
    let config = args.config.load()?;
    if config.upstreams.is_empty() {
        return Err(Failure::usage("expected `[[upstreams]]` in the configuration, found none"));
    }
    Ok(config)
}

/// Lets go of the journal when nobody else has it any more, so that this gate's life ends in the store, too.
async fn close(journal: Arc<dyn Journal>) {
    let alone = async {
        while Arc::strong_count(&journal) > 1 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    if tokio::time::timeout(LAST_RECORDS, alone).await.is_err() {
        tracing::warn!("the store is still in use; other gates will find that this one is gone");
    }
}

/// Listens; an address that others can reach is refused as long as nobody is asked who they are.
async fn listen(args: &Args, config: &Config, beside: &Path) -> anyhow::Result<TcpListener> {
    let address = args.listen.unwrap_or(config.serve.listen);
    may_be_reached(address, config, beside)?;
    let listener = TcpListener::bind(address).await.with_context(|| {
        format!("failed to listen at {address}; another program may, and --listen names another address")
    })?;
    let address = listener.local_addr().context("failed to learn the address")?;
    tracing::info!("listening at http://{address}/mcp");
    Ok(listener)
}

/// Whether the gate may be at this address with this configuration.
fn may_be_reached(address: SocketAddr, config: &Config, beside: &Path) -> anyhow::Result<()> {
    if !address.ip().is_loopback() {
        if !config.auth.is_required(address.ip()) || !somebody_can_call(config, beside)? {
            return Err(Failure::usage(format!(
                "expected an address of this machine alone, found {address}: clients are not asked who they are, so \
                 others must not reach them; listen at a loopback address (--listen 127.0.0.1:{}), or have clients \
                 show who they are: with `callgate tokens add NAME`, or with `[auth.jwt]` in the configuration, and \
                 without `auth.required = false`",
                address.port()
            )));
        }
        if config.serve.hosts.is_empty() {
            tracing::warn!(
                "only requests that name the gate as this machine names itself are looked at; `serve.hosts` has its \
                 other names"
            );
        }
        tracing::warn!("tokens are read without TLS at {address}; let a proxy with TLS alone reach it");
    }
    Ok(())
}

/// Whether there is anything by which a client could show who it is.
fn somebody_can_call(config: &Config, beside: &Path) -> anyhow::Result<bool> {
    let now = callgate_server::now();
    Ok(config.auth.jwt.is_some() || ApiTokens::beside(beside).list()?.iter().any(|token| token.is_good(now)))
}

fn with_notes() -> anyhow::Result<Config> {
    let own = std::env::current_exe().context("failed to find this program")?;
    let own = own.to_str().context("the path of this program is no text")?;
    let own = own.replace('\\', "\\\\").replace('"', "\\\"");
    let text = format!("{NOTES}{own}\"\nargs = [\"notes-server\"]\n");
    Config::parse("the built-in configuration", &text).context("the built-in configuration")
}

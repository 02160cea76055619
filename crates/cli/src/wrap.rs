//! `callgate wrap`: a gate before one tool server, both over standard input and output.

mod translated;

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use callgate_gateway::Journal;
use callgate_gateway::catalog::AdmissionSettings;
use callgate_server::config::Config;
use callgate_server::{Child, End, Peers, RECOVERY_EVERY, SessionSettings, keep_recovering};
use callgate_wire::{Code, Principal};

use crate::check::ProfileArg;
use crate::config::ConfigArg;
use crate::exit_code::{ExitCode, Failure};
use crate::store_path::{StoreArg, StorePlace, default_file};

/// Start a tool server behind the gate, and serve its tools over standard input and output.
///
/// Put `callgate wrap --` in front of any tool server's command in the configuration of an MCP client. Standard output
/// carries the protocol and nothing else; what the gate has to say goes to standard error (CALLGATE_LOG=debug says
/// more).
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    store: StoreArg,
    #[command(flatten)]
    config: ConfigArg,
    /// How much of JSON Schema is admitted [default: the configuration's, else standard]
    #[arg(long, value_enum)]
    profile: Option<ProfileArg>,
    /// The tool server's name in the records [default: the last part of its command's name]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// How long the tool server may take to answer a request, in milliseconds [default: the configuration's, else 300000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    call_timeout_ms: Option<u64>,
    /// How long to wait for calls that are out when the client is gone or the gate is asked to stop, in milliseconds
    /// [default: the configuration's, else 5000]
    #[arg(long, value_name = "N")]
    drain_ms: Option<u64>,
    /// Translate between the protocol's revisions: any client can then call the server, which is started again when it ends
    #[arg(long)]
    translate: bool,
    /// The tool server's command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub(crate) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let log = crate::log::start();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("failed to start the runtime")?;
    let outcome = runtime.block_on(wrap(args));
    // A read of standard input cannot be called back; waiting for it would be waiting for the client. The threads are left
    // to the end of the process rather than let go of: older C libraries crash where a thread is detached as it ends
    // (glibc bug 19951).
    std::mem::forget(runtime);
    drop(log);
    outcome
}

async fn wrap(args: Args) -> anyhow::Result<ExitCode> {
    let Some((command, words)) = args.command.split_first() else {
        return Err(Failure::usage("expected the tool server's command after `--`"));
    };
    let config = args.config.load()?;
    let (journal, place) = open_journal(&args.store.clone().or_configured(config.gate.store.as_ref())?)?;
    // A gate works without one; verbs that change records do not, and say why.
    let beside = match &place {
        StorePlace::File(path) => path.clone(),
        StorePlace::Postgres(_) => default_file()?,
    };
    if let Err(error) = callgate_server::OperatorToken::of_store(&beside) {
        tracing::warn!(%error, code = %error.code(), "there is no token for an operator");
    }
    if args.translate {
        return translated::wrap(&args, config, (journal, place)).await;
    }
    let mut admission = AdmissionSettings::new(args.profile.map_or(config.gate.profile, Into::into));
    let name = args.name.clone().unwrap_or_else(|| upstream_name(command, words));
    if let Some(upstream) = config.upstreams.iter().find(|upstream| upstream.name == name) {
        admission.pin_ignore = upstream.pin_ignore.clone();
    }
    let principal = Principal::local(&callgate_server::user_name());
    let mut settings = SessionSettings::new(name, principal, admission);
    settings.claims = config.claims(&settings.principal);
    settings.rules = Arc::clone(&config.rules);
    settings.budgets = Arc::clone(&config.budgets);
    settings.approval_expiry = config.approvals.expiry;
    settings.frames = config.gate.frames.clone();
    settings.calls_in_flight_max = config.gate.calls_in_flight_max;
    settings.call_timeout = args.call_timeout_ms.map_or(config.gate.call_timeout, Duration::from_millis);
    settings.drain = args.drain_ms.map_or(config.gate.drain, Duration::from_millis);

    let stop = callgate_server::on_signals(callgate_server::HangUpMeans::Stop)
        .context("failed to follow signals")?;
    let (child, from_upstream, to_upstream) = Child::start(command, words).map_err(|error| {
        Failure::upstream(format!("{:#} ({})", anyhow::Error::new(error), Code::UpstreamStartFailed))
    })?;
    tracing::info!(
        upstream = settings.upstream,
        command = %command.to_string_lossy(),
        store = %place,
        principal = %settings.principal,
        profile = ?settings.admission.profile,
        "wrapped"
    );
    tell_rules(&config);
    tokio::spawn(keep_recovering(Arc::downgrade(&journal), RECOVERY_EVERY));
    let peers = Peers {
        from_client: Box::new(tokio::io::stdin()),
        client_hang_up: callgate_server::stdin_hang_up().context("failed to watch standard input")?,
        to_client: Box::new(tokio::io::stdout()),
        from_upstream: Box::new(from_upstream),
        to_upstream: Box::new(to_upstream),
    };
    let End { upstream_died } = callgate_server::run(settings, journal, peers, stop).await;
    let status = child.stop().await;
    tracing::info!(status = status.map(|status| status.to_string()), "stopped");
    Ok(if upstream_died { ExitCode::Upstream } else { ExitCode::Success })
}

/// Says aloud by what rules calls are judged, and what is doubtful of them.
pub(crate) fn tell_rules(config: &Config) {
    match config.rules.len() {
        0 => tracing::info!("no rules: every admitted tool is permitted"),
        rules => tracing::info!(rules, digest = %config.rules.digest(), "what no rule permits is refused"),
    }
    for warning in &config.warnings {
        tracing::warn!(line = warning.line, key = warning.key, "{}", warning.message);
    }
}

/// Opens the store, and says which calls of gates that are gone are in doubt.
pub(crate) fn open_journal(store: &StoreArg) -> anyhow::Result<(Arc<dyn Journal>, StorePlace)> {
    let (journal, place) = store.open_gate(callgate_server::now())?;
    if let StorePlace::File(path) = &place
        && let Some(kind) = callgate_store::network_file_system(path)
    {
        tracing::warn!(
            store = %place,
            "the store is on a network file system ({kind}), whose locks and writes may not hold; keep it on a disk of \
             this machine, or on PostgreSQL"
        );
    }
    callgate_server::recover(&*journal).context("failed to look for calls of gates that are gone")?;
    Ok((journal, place))
}

/// Programs whose first word that is no flag says more than their own name.
const LAUNCHERS: &[&str] =
    &["npx", "bunx", "pnpx", "uvx", "pipx", "node", "bun", "deno", "python", "python3", "sh", "bash"];

/// A name for a tool server by its command. No argument but a launcher's first is used: others can be secrets.
pub(crate) fn upstream_name(command: &OsStr, words: &[OsString]) -> String {
    let program = last_part(command);
    if !LAUNCHERS.contains(&program.as_str()) {
        return program;
    }
    let launched = words.iter().find(|word| !word.to_string_lossy().starts_with('-'));
    launched
        .map(|word| last_part(word))
        .filter(|name| !name.is_empty() && !name.contains(' '))
        .unwrap_or(program)
}

fn last_part(word: &OsStr) -> String {
    Path::new(word).file_name().unwrap_or(word).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_server_is_named_after_its_program_or_what_a_launcher_starts() {
        for (line, name) in [
            ("/usr/bin/mcp-server-git --repository /tmp", "mcp-server-git"),
            ("npx -y @modelcontextprotocol/server-everything", "server-everything"),
            ("python3 -m mcp_server_time", "mcp_server_time"),
            ("uvx mcp-server-fetch --token secret", "mcp-server-fetch"),
            ("python3", "python3"),
        ] {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            assert_eq!(upstream_name(&words[0], &words[1..]), name);
        }
        let words = [OsString::from("-c"), OsString::from("TOKEN=secret exec server")];
        assert_eq!(upstream_name(OsStr::new("sh"), &words), "sh");
    }
}

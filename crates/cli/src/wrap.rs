//! `callgate wrap`: a gate before one tool server, both over standard input and output.

mod log;

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use callgate_gateway::Journal;
use callgate_gateway::catalog::AdmissionSettings;
use callgate_server::{Child, End, Peers, SessionSettings};
use callgate_store::SqliteJournal;
use callgate_wire::{Code, Principal};

use crate::check::ProfileArg;
use crate::exit_code::{ExitCode, Failure};
use crate::store_path::StoreArg;

/// Start a tool server behind the gate, and serve its tools over standard input and output.
///
/// Put `callgate wrap --` in front of any tool server's command in the configuration of an MCP client. Standard output
/// carries the protocol and nothing else; what the gate has to say goes to standard error (CALLGATE_LOG=debug says
/// more).
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    store: StoreArg,
    /// How much of JSON Schema is admitted
    #[arg(long, value_enum, default_value_t)]
    profile: ProfileArg,
    /// The tool server's name in the records [default: the last part of its command's name]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// How long the tool server may take to answer a request, in milliseconds
    #[arg(long, value_name = "N", default_value_t = 300_000, value_parser = clap::value_parser!(u64).range(1..))]
    call_timeout_ms: u64,
    /// How long to wait for calls that are out when the client is gone or the gate is asked to stop, in milliseconds
    #[arg(long, value_name = "N", default_value_t = 5_000)]
    drain_ms: u64,
    /// The tool server's command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub(crate) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let log = log::start();
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
    let journal = open_journal(&args.store.path()?)?;
    let admission = AdmissionSettings::new(args.profile.into());
    let name = args.name.unwrap_or_else(|| upstream_name(command, words));
    let mut settings = SessionSettings::new(name, Principal::local(&callgate_server::user_name()), admission);
    settings.call_timeout = Duration::from_millis(args.call_timeout_ms);
    settings.drain = Duration::from_millis(args.drain_ms);

    let stop = callgate_server::on_signals().context("failed to follow signals")?;
    let (child, from_upstream, to_upstream) = Child::start(command, words).map_err(|error| {
        Failure::upstream(format!("{:#} ({})", anyhow::Error::new(error), Code::UpstreamStartFailed))
    })?;
    tracing::info!(
        upstream = settings.upstream,
        command = %command.to_string_lossy(),
        store = %journal.path().display(),
        principal = %settings.principal,
        profile = ?settings.admission.profile,
        "wrapped"
    );
    tracing::info!("no rules: every admitted tool is permitted");
    let peers = Peers {
        from_client: Box::new(tokio::io::stdin()),
        client_hang_up: callgate_server::stdin_hang_up().context("failed to watch standard input")?,
        to_client: Box::new(tokio::io::stdout()),
        from_upstream: Box::new(from_upstream),
        to_upstream: Box::new(to_upstream),
    };
    let End { upstream_died } = callgate_server::run(settings, Arc::new(journal), peers, stop).await;
    let status = child.stop().await;
    tracing::info!(status = status.map(|status| status.to_string()), "stopped");
    Ok(if upstream_died { ExitCode::Upstream } else { ExitCode::Success })
}

/// Opens the store, and says which calls of gates that are gone are in doubt.
fn open_journal(path: &Path) -> anyhow::Result<SqliteJournal> {
    let now = callgate_server::now();
    let journal =
        SqliteJournal::open_gate(path, callgate_server::fresh_incarnation(), std::process::id(), now)
            .with_context(|| format!("failed to open the store {}", path.display()))?;
    for intent in journal.recover(now).context("failed to look for calls of gates that are gone")? {
        tracing::warn!(
            intent = %intent.id,
            tool = intent.tool,
            upstream = intent.upstream,
            "in doubt: the gate that made this call ended before it knew the outcome"
        );
    }
    Ok(journal)
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

//! `callgate wrap --translate`: the one server as the only one of a gate that serves, which speaks every revision on both
//! sides.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use callgate_gateway::Journal;
use callgate_server::config::{Admission, Config, Place, Upstream};
use callgate_server::{HangUpMeans, RECOVERY_EVERY, keep_recovering};
use callgate_wire::Principal;

use super::{Args, tell_rules, upstream_name};
use crate::exit_code::{ExitCode, Failure};
use crate::serve::serve_on_stdio;
use crate::store_path::StorePlace;

pub(super) async fn wrap(
    args: &Args,
    mut config: Config,
    (journal, place): (Arc<dyn Journal>, StorePlace),
) -> anyhow::Result<ExitCode> {
    let upstream = upstream(args, &config)?;
    if let Some(ms) = args.call_timeout_ms {
        config.gate.call_timeout = Duration::from_millis(ms);
    }
    if let Some(ms) = args.drain_ms {
        config.gate.drain = Duration::from_millis(ms);
    }
    let stop = callgate_server::on_signals(HangUpMeans::Stop).context("failed to follow signals")?;
    let principal = Principal::local(&callgate_server::user_name());
    tracing::info!(upstream = upstream.name, store = %place, %principal, profile = ?upstream.profile, "wrapped");
    config.upstreams = vec![upstream];
    tell_rules(&config);
    tokio::spawn(keep_recovering(Arc::downgrade(&journal), RECOVERY_EVERY));
    let gate = callgate_server::Gate::start(Arc::new(config), Arc::clone(&journal));
    serve_on_stdio(&gate, principal, stop).await;
    crate::serve::end(gate, journal).await;
    Ok(ExitCode::Success)
}

/// The server of the command line, with what the configuration says of one of its name. Its tools keep their names.
fn upstream(args: &Args, config: &Config) -> anyhow::Result<Upstream> {
    let text = |word: &OsString| {
        let text = word.to_str().map(str::to_owned);
        text.ok_or_else(|| Failure::usage("expected the tool server's command as UTF-8, found other bytes"))
    };
    let Some((command, words)) = args.command.split_first() else {
        return Err(Failure::usage("expected the tool server's command after `--`"));
    };
    let name = args.name.clone().unwrap_or_else(|| upstream_name(command, words));
    let place = Place::Command {
        command: text(command)?,
        args: words.iter().map(text).collect::<Result<_, _>>()?,
        env: Vec::new(),
        cwd: None,
    };
    let known = config.upstreams.iter().find(|upstream| upstream.name == name);
    let profile = args.profile.map_or(known.map_or(config.gate.profile, |known| known.profile), Into::into);
    Ok(Upstream {
        place,
        prefix: Some(String::new()),
        admission: known.map_or(Admission::Quarantine, |known| known.admission),
        profile,
        pin_ignore: known.map(|known| known.pin_ignore.clone()).unwrap_or_default(),
        name,
    })
}

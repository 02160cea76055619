//! The configuration, read again while the gate serves: the whole file counts, or none of it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Weak};

use callgate_server::config::Config;
use callgate_server::{Access, Auth, Gate, Reloads};
use callgate_wire::Principal;
use tokio::sync::watch;

use super::{Args, load, may_be_reached};
use crate::exit_code::Failure;
use crate::wrap::tell_rules;

/// What it takes to read the configuration again.
pub(super) struct Again {
    /// The one of the start.
    pub(super) config: Arc<Config>,
    /// Beside which the tokens lie.
    pub(super) beside: PathBuf,
    /// Who calls that shows nothing, where nobody has to.
    pub(super) principal: Principal,
    pub(super) reloads: Reloads,
}

/// Where clients over HTTP come in.
pub(super) type Door = (SocketAddr, watch::Sender<Arc<Access>>);

impl Again {
    /// What requests to this address have to pass by this configuration.
    pub(super) async fn access(&self, config: &Arc<Config>, address: SocketAddr) -> anyhow::Result<Access> {
        let nobody = (!config.auth.is_required(address.ip())).then(|| self.principal.clone());
        let auth = Auth::start(Arc::clone(config), &self.beside, nobody).await;
        let auth = auth.map_err(|error| Failure::usage(error.to_string()))?;
        Ok(Access::new(config.serve.hosts.clone(), config.serve.origins.clone(), auth))
    }

    /// Reads it whenever it is asked for, as long as the gate is there.
    pub(super) async fn follow(mut self, args: Args, gate: Weak<Gate>, door: Option<Door>) {
        loop {
            self.reloads.next().await;
            let Some(gate) = gate.upgrade() else { return };
            if let Err(error) = self.once(&args, &gate, door.as_ref()).await {
                tracing::error!("the configuration is not taken, and that before stays in force: {error:#}");
            }
        }
    }

    async fn once(&self, args: &Args, gate: &Arc<Gate>, door: Option<&Door>) -> anyhow::Result<()> {
        let config = Arc::new(load(args)?);
        gate.can_reload(&config)?;
        let access = match door {
            None => None,
            Some((address, sender)) => {
                may_be_reached(*address, &config, &self.beside)?;
                Some((sender, self.access(&config, *address).await?))
            }
        };
        // From here on nothing fails.
        let reloaded = gate.reload(Arc::clone(&config))?;
        if let Some((sender, access)) = access {
            sender.send_replace(Arc::new(access));
        }
        tracing::info!(begun = ?reloaded.begun, ended = ?reloaded.ended, "the configuration is in force");
        tell_rules(&config);
        Ok(())
    }
}

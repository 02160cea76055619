//! Where the store is: `--store STORE`, what the configuration says, or the user's data directory.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use callgate_gateway::Journal;
use callgate_gateway::journal::Records;
use callgate_server::config::Store;
use callgate_store::{
    PostgresJournal, PostgresLedger, PostgresPlace, SqliteJournal, StoreError, StoreReader,
};
use callgate_wire::Timestamp;
use etcetera::BaseStrategy as _;

use crate::config::ConfigArg;
use crate::exit_code::Failure;

/// The flag of every verb that reads or writes the store.
#[derive(Clone, clap::Args)]
pub(crate) struct StoreArg {
    /// The store: a file, `postgres://USER@HOST/DATABASE`, or `env:NAME` for what the variable of that name says
    /// [default: callgate/store.sqlite in the user's data directory]
    // The value can hold a password, so that help does not show the variable's.
    #[arg(long, value_name = "STORE", env = "CALLGATE_STORE", hide_env_values = true)]
    store: Option<OsString>,
}

impl fmt::Debug for StoreArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoreArg")
    }
}

/// Where a store is. What it shows of itself holds no password.
#[derive(Debug)]
pub(crate) enum StorePlace {
    /// In a file.
    File(PathBuf),
    /// On a server.
    Postgres(Box<PostgresPlace>),
}

impl fmt::Display for StorePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StorePlace::File(path) => path.display().fmt(f),
            StorePlace::Postgres(place) => place.fmt(f),
        }
    }
}

impl StorePlace {
    /// The file beside which the secrets of this machine lie. A server has no folder here: those in the user's data
    /// directory count.
    pub(crate) fn beside(&self) -> anyhow::Result<PathBuf> {
        match self {
            StorePlace::File(path) => Ok(path.clone()),
            StorePlace::Postgres(_) => default_file(),
        }
    }
}

impl StoreArg {
    /// The same, or where the configuration says if neither the flag nor the environment does.
    pub(crate) fn or_configured(self, configured: Option<&Store>) -> anyhow::Result<StoreArg> {
        let store = match (self.store, configured) {
            (Some(store), _) => Some(store),
            (None, None) => None,
            (None, Some(Store::File(path))) => Some(path.clone().into_os_string()),
            (None, Some(Store::Postgres(address))) => Some(address.into()),
            (None, Some(Store::Secret(secret))) => {
                let value = secret.read().map_err(|error| Failure::usage(format!("gate.store: {error}")))?;
                Some(value.expose().into())
            }
        };
        Ok(StoreArg { store })
    }

    /// The store to use.
    pub(crate) fn place(&self) -> anyhow::Result<StorePlace> {
        let Some(text) = &self.store else {
            return Ok(StorePlace::File(default_file()?));
        };
        match text.to_str().and_then(|text| text.strip_prefix("env:")) {
            Some(name) => {
                let value = std::env::var_os(name).ok_or_else(|| {
                    Failure::usage(format!("`--store env:{name}` names a variable that is not set"))
                })?;
                of_text(value)
            }
            None => of_text(text.clone()),
        }
    }

    /// Opens the store for a gate that starts now.
    pub(crate) fn open_gate(&self, now: Timestamp) -> anyhow::Result<(Arc<dyn Journal>, StorePlace)> {
        let place = self.place()?;
        let (incarnation, pid) = (callgate_server::fresh_incarnation(), std::process::id());
        let failed = || format!("failed to open the store {place}");
        let journal: Arc<dyn Journal> = match &place {
            StorePlace::File(path) => {
                Arc::new(SqliteJournal::open_gate(path, incarnation, pid, now).with_context(failed)?)
            }
            StorePlace::Postgres(address) => {
                Self::warn(address);
                let address = (**address).clone();
                Arc::new(PostgresJournal::open_gate(address, incarnation, pid, now).with_context(failed)?)
            }
        };
        Ok((journal, place))
    }

    /// Opens the store to look at it.
    pub(crate) fn open_records(&self, now: Timestamp) -> anyhow::Result<Box<dyn Records>> {
        match self.place()? {
            StorePlace::File(path) => {
                let reader = StoreReader::open(&path, now).map_err(|error: StoreError| {
                    if error.is_missing() {
                        let help = "name another one with --store STORE, or start a gate to make it";
                        Failure::usage(format!("{error}; {help}"))
                    } else {
                        anyhow::Error::from(error)
                    }
                })?;
                Ok(Box::new(reader))
            }
            StorePlace::Postgres(place) => {
                let failed = format!("failed to open the store {place}");
                Ok(Box::new(PostgresLedger::open_operator(*place, now).context(failed)?))
            }
        }
    }

    /// Says what others could learn or do.
    fn warn(place: &PostgresPlace) {
        if place.trusts_the_network() {
            tracing::warn!(
                store = %place,
                "whoever answers is taken for the server of the store; `sslmode=verify-full` in its address verifies that"
            );
        }
        let given = std::env::args_os().any(|word| {
            word.to_str().is_some_and(|word| PostgresPlace::is_meant(word.trim_start_matches("--store=")))
        });
        if given && place.address_has_password() {
            tracing::warn!(
                "the list of processes shows the password of the store; `--store env:NAME` or CALLGATE_STORE keeps it out"
            );
        }
    }
}

/// The store in the user's data directory.
pub(crate) fn default_file() -> anyhow::Result<PathBuf> {
    Ok(etcetera::choose_base_strategy()?.data_dir().join("callgate").join("store.sqlite"))
}

fn of_text(text: OsString) -> anyhow::Result<StorePlace> {
    match text.to_str().filter(|text| PostgresPlace::is_meant(text)) {
        Some(address) => {
            let password = std::env::var("PGPASSWORD").ok();
            let place = PostgresPlace::parse(address)
                .map_err(|error| Failure::usage(format!("{:#}", anyhow::Error::new(error))))?;
            Ok(StorePlace::Postgres(Box::new(place.or_password(password.as_deref()))))
        }
        None if text.is_empty() => Err(Failure::usage("expected a store, found an empty text")),
        None => Ok(StorePlace::File(PathBuf::from(text))),
    }
}

/// The flags of every verb that looks at records or changes them, beside a gate that has the same configuration.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct RecordsArg {
    #[command(flatten)]
    store: StoreArg,
    #[command(flatten)]
    config: ConfigArg,
}

impl RecordsArg {
    /// The store to use.
    pub(crate) fn place(&self) -> anyhow::Result<StorePlace> {
        self.meant()?.place()
    }

    /// The file to use, for what is done with files alone.
    pub(crate) fn path(&self) -> anyhow::Result<PathBuf> {
        match self.place()? {
            StorePlace::File(path) => Ok(path),
            StorePlace::Postgres(_) => Err(Failure::usage(
                "expected a store in a file, found one on a server, whose own programs do this (pg_dump, pg_amcheck)",
            )),
        }
    }

    /// Opens the store to look at it.
    pub(crate) fn open_records(&self, now: Timestamp) -> anyhow::Result<Box<dyn Records>> {
        self.meant()?.open_records(now)
    }

    fn meant(&self) -> anyhow::Result<StoreArg> {
        // Where a flag says it, a configuration that cannot be read is nothing to stop at.
        if self.store.store.is_some() {
            return Ok(self.store.clone());
        }
        self.store.clone().or_configured(self.config.load()?.gate.store.as_ref())
    }
}

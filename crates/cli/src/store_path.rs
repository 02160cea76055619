//! Where the store is: `--store FILE`, or the user's data directory.

use std::path::PathBuf;

use etcetera::BaseStrategy as _;

/// The flag of every verb that reads or writes the store.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct StoreArg {
    /// The store's file [default: callgate/store.sqlite in the user's data directory]
    #[arg(long, value_name = "FILE", env = "CALLGATE_STORE")]
    pub(crate) store: Option<PathBuf>,
}

impl StoreArg {
    /// The file to use.
    pub(crate) fn path(&self) -> anyhow::Result<PathBuf> {
        match &self.store {
            Some(path) => Ok(path.clone()),
            None => Ok(etcetera::choose_base_strategy()?.data_dir().join("callgate").join("store.sqlite")),
        }
    }
}

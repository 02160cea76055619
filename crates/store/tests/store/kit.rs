//! A file holds everything that every store has to.

use std::fs;
use std::path::{Path, PathBuf};

use callgate_gateway::JournalError;
use callgate_gateway::journal::kit::{self, CheckOutcome, Hooks};
use callgate_gateway::journal::{Journal, Ledger};
use callgate_store::{SqliteJournal, SqliteLedger, check_store};
use callgate_wire::Timestamp;

/// Hooks on a file.
fn hooks(path: &Path) -> Hooks<'static> {
    let own = || path.to_owned();
    let (gate, operator, lose, failing) = (own(), own(), own(), own());
    Hooks {
        gate: Box::new(move |incarnation| {
            let opened = SqliteJournal::open_gate(&gate, incarnation, std::process::id(), Timestamp(1));
            Ok(Box::new(opened.map_err(JournalError::from)?) as Box<dyn Journal>)
        }),
        durable: true,
        operator: Some(Box::new(move || {
            // One that comes before the first gate finds no store.
            if !operator.exists() {
                drop(crate::support::gate(&operator).map_err(JournalError::from)?);
            }
            let opened = SqliteLedger::open_operator(&operator, Timestamp(1));
            Ok(Box::new(opened.map_err(JournalError::from)?) as Box<dyn Ledger>)
        })),
        lose: Some(Box::new(move |incarnation| {
            let lock = format!("{}.gates/{incarnation}.lock", lose.display());
            fs::remove_file(lock).map_err(|error| error.to_string())
        })),
        failing: Some(Box::new(move |act| {
            // What is written while another file has the store's name is taken back.
            let away = PathBuf::from(format!("{}.away", failing.display()));
            fs::rename(&failing, &away).map_err(|error| error.to_string())?;
            act();
            fs::rename(&away, &failing).map_err(|error| error.to_string())
        })),
    }
}

#[test]
fn a_file_holds_what_every_store_has_to() {
    for name in kit::names() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.sqlite");
        let result = kit::run_one(name, &hooks(&path)).unwrap();
        assert_eq!(result.outcome, CheckOutcome::Holds, "{name}");
        let report = check_store(&path).unwrap();
        assert!(report.is_sound(), "after `{name}`: {report:?}");
    }
}

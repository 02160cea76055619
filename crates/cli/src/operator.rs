//! What every verb of an operator has in common: the store beside gates that run, the operator's token, and who they are.

use std::path::PathBuf;

use anyhow::Context as _;
use callgate_gateway::JournalError;
use callgate_gateway::journal::{Ledger, Records};
use callgate_server::{OperatorError, OperatorToken};
use callgate_store::{Forgotten, PostgresLedger, SqliteLedger, StoreError};
use callgate_wire::{Code, Timestamp};

use crate::exit_code::{ExitCode, Failure};
use crate::store_path::{RecordsArg, StorePlace, default_file};

/// The environment's variable with a token.
const TOKEN_VARIABLE: &str = "CALLGATE_OPERATOR_TOKEN";

/// The flags of every verb that changes records.
#[derive(Debug, clap::Args)]
pub(crate) struct OperatorArgs {
    #[command(flatten)]
    pub(crate) store: RecordsArg,
    /// The file with the operator's token [default: CALLGATE_OPERATOR_TOKEN in the environment, else operator-token in
    /// the store's folder]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

/// A store that an operator changes.
#[derive(Debug)]
enum OperatorStore {
    File(Box<SqliteLedger>),
    Postgres(Box<PostgresLedger>),
}

/// An operator who has shown that they are one.
#[derive(Debug)]
pub(crate) struct Operator {
    store: OperatorStore,
    /// Who they are in the records.
    pub(crate) by: String,
    /// When they came.
    pub(crate) now: Timestamp,
}

impl OperatorArgs {
    /// Opens the store for an operator.
    ///
    /// # Errors
    ///
    /// A store that is not there or cannot be opened; a token that is not the store's.
    pub(crate) fn open(&self) -> anyhow::Result<Operator> {
        let now = callgate_server::now();
        let (store, beside) = match self.store.place()? {
            StorePlace::File(path) => {
                let ledger = SqliteLedger::open_operator(&path, now).map_err(missing)?;
                let beside = ledger.path().to_owned();
                (OperatorStore::File(Box::new(ledger)), beside)
            }
            StorePlace::Postgres(place) => {
                let failed = format!("failed to open the store {place}");
                let ledger = PostgresLedger::open_operator(*place, now).context(failed)?;
                // A server has no folder here: the token of this machine's operator counts.
                (OperatorStore::Postgres(Box::new(ledger)), default_file()?)
            }
        };
        self.verify(&beside).map_err(|error| refused(&error, error.code()))?;
        let by = format!("operator:{}", callgate_server::user_name());
        Ok(Operator { store, by, now })
    }

    /// The file beside which the secrets of this machine lie, for an operator. The store need not be there yet.
    ///
    /// # Errors
    ///
    /// A token that is not the store's.
    pub(crate) fn beside(&self) -> anyhow::Result<PathBuf> {
        let beside = self.store.place()?.beside()?;
        self.verify(&beside).map_err(|error| refused(&error, error.code()))?;
        Ok(beside)
    }

    fn verify(&self, store: &std::path::Path) -> Result<(), OperatorError> {
        let token = OperatorToken::of_store(store)?;
        let given = match (&self.token_file, std::env::var(TOKEN_VARIABLE)) {
            (Some(file), _) => OperatorToken::load(file)?,
            (None, Ok(text)) if !text.is_empty() => OperatorToken::parse(&text)?,
            (None, Err(std::env::VarError::NotUnicode(_))) => OperatorToken::parse("")?,
            // Who can read the file beside the store is its operator.
            (None, Ok(_) | Err(std::env::VarError::NotPresent)) => return Ok(()),
        };
        token.verify(&given)
    }
}

impl Operator {
    /// The store.
    pub(crate) fn ledger(&self) -> &dyn Ledger {
        match &self.store {
            OperatorStore::File(ledger) => &**ledger,
            OperatorStore::Postgres(ledger) => &**ledger,
        }
    }

    /// Deletes what ended before this moment.
    pub(crate) fn forget(&self, before: Timestamp) -> anyhow::Result<Forgotten> {
        match &self.store {
            OperatorStore::File(ledger) => ledger.forget(before).map_err(refusal),
            OperatorStore::Postgres(ledger) => ledger.forget(before).map_err(refusal),
        }
    }
}

/// What a store says that did not do what it was asked.
pub(crate) fn refusal(error: JournalError) -> anyhow::Error {
    let code = error.code();
    let error = anyhow::Error::new(error);
    match code {
        Code::IntentNotInDoubt
        | Code::IntentFenced
        | Code::ApprovalNotPending
        | Code::ApprovalExpired
        | Code::ContractNotHeld
        | Code::CatalogConflict => refused(&format!("{error:#}"), code),
        Code::IntentAmbiguous | Code::ApprovalAmbiguous => {
            Failure::usage(format!("{error:#}; give more of the id ({code})"))
        }
        Code::IntentNotFound | Code::ApprovalNotFound => {
            Failure::with(ExitCode::Findings, format!("{error:#} ({code})"))
        }
        _ => error,
    }
}

fn refused(error: &dyn std::fmt::Display, code: Code) -> anyhow::Error {
    Failure::with(ExitCode::Refused, format!("{error} ({code})"))
}

/// Opens the store to look at it.
///
/// # Errors
///
/// A store that is not there or cannot be read.
pub(crate) fn reader(store: &RecordsArg) -> anyhow::Result<Box<dyn Records>> {
    store.open_records(callgate_server::now())
}

/// What a store says that was not opened.
pub(crate) fn missing(error: StoreError) -> anyhow::Error {
    if error.is_missing() {
        Failure::usage(format!("{error}; name another one with --store STORE, or start a gate to make it"))
    } else {
        error.into()
    }
}

//! What can go wrong with a store, each with its code.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use callgate_gateway::JournalError;
use callgate_wire::Code;
use rusqlite::ErrorCode;

type Cause = Arc<dyn std::error::Error + Send + Sync>;

/// A store that did not do what it was asked.
///
/// Can be cloned, since every caller whose write was in a transaction that failed gets the same one.
#[derive(Debug, Clone)]
pub struct StoreError {
    code: Code,
    path: PathBuf,
    message: String,
    missing: bool,
    cause: Option<Cause>,
}

impl StoreError {
    /// The stable code.
    pub fn code(&self) -> Code {
        self.code
    }

    /// The store's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether there simply is no such file.
    pub fn is_missing(&self) -> bool {
        self.missing
    }

    #[cold]
    pub(crate) fn new(code: Code, path: &Path, message: impl Into<String>) -> Self {
        StoreError { code, path: path.to_owned(), message: message.into(), missing: false, cause: None }
    }

    #[cold]
    pub(crate) fn missing(path: &Path) -> Self {
        StoreError { missing: true, ..StoreError::new(Code::StoreUnavailable, path, "there is no such file") }
    }

    /// `what` reads after "failed to".
    #[cold]
    pub(crate) fn io(path: &Path, what: &str, error: std::io::Error) -> Self {
        StoreError {
            cause: Some(Arc::new(error)),
            ..StoreError::new(Code::StoreUnavailable, path, format!("failed to {what}"))
        }
    }

    #[cold]
    pub(crate) fn sqlite(path: &Path, error: rusqlite::Error) -> Self {
        let (code, message) = classify(&error);
        StoreError { cause: Some(Arc::new(error)), ..StoreError::new(code, path, message) }
    }
}

fn classify(error: &rusqlite::Error) -> (Code, &'static str) {
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => (Code::StoreCorrupt, "expected a store, found another kind of file"),
        Some(ErrorCode::DatabaseCorrupt) => (Code::StoreCorrupt, "the file is damaged"),
        Some(ErrorCode::ReadOnly) => (Code::StoreUnavailable, "the file or its folder is read-only"),
        Some(ErrorCode::DiskFull) => {
            (Code::StoreUnavailable, "the disk is full, or the store has its largest size")
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            (Code::StoreUnavailable, "another process held the file for too long")
        }
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            (Code::StoreUnavailable, "the file cannot be opened")
        }
        _ => (Code::StoreUnavailable, "the file cannot be read or written"),
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "store `{}`: {}", self.path.display(), self.message)
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as _)
    }
}

impl From<StoreError> for JournalError {
    fn from(error: StoreError) -> JournalError {
        let message = match error.code {
            Code::StoreUnavailable | Code::StoreNewer | Code::StoreCorrupt => {
                "the store did not take or give the record".to_owned()
            }
            // What was asked is at fault, and not the store.
            _ => error.message.clone(),
        };
        JournalError::new(error.code, message).caused_by(error)
    }
}

/// Adds the store's path to an error of SQLite.
pub(crate) trait At<T> {
    fn at(self, path: &Path) -> Result<T, StoreError>;
}

impl<T> At<T> for rusqlite::Result<T> {
    fn at(self, path: &Path) -> Result<T, StoreError> {
        self.map_err(|error| StoreError::sqlite(path, error))
    }
}

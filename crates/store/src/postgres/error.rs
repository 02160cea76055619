//! What can go wrong between the gate and the server, sorted by what has to be done about it.

use std::fmt;

use callgate_gateway::JournalError;
use callgate_wire::Code;
use tokio_postgres::error::{DbError, Severity};

/// Why a transaction, or a part of one, did not come about.
#[derive(Debug)]
pub(super) enum Failure {
    /// Another transaction was in the way; the server took this one back, and it can be tried again.
    Conflict(JournalError),
    /// There is no answer: the connection broke, the server is going or coming, or it took too long. What was sent last
    /// may have been done.
    Lost(JournalError),
    /// Nobody could say whether it was committed, and it was not found out. It must not be tried again.
    Unknown(JournalError),
    /// The server said no and took everything back.
    Refused(JournalError),
}

impl Failure {
    /// What callers are told, to look at.
    pub(super) fn error(&self) -> &JournalError {
        match self {
            Failure::Conflict(error)
            | Failure::Lost(error)
            | Failure::Unknown(error)
            | Failure::Refused(error) => error,
        }
    }

    /// What callers are told.
    pub(super) fn into_error(self) -> JournalError {
        match self {
            Failure::Conflict(error)
            | Failure::Lost(error)
            | Failure::Unknown(error)
            | Failure::Refused(error) => error,
        }
    }

    /// No answer in time.
    #[cold]
    pub(super) fn silent() -> Failure {
        Failure::Lost(JournalError::new(Code::StoreUnavailable, "the server of the store does not answer"))
    }

    /// A row that is none.
    #[cold]
    pub(super) fn damaged(what: &str) -> Failure {
        let message = format!("expected {what} in the store, found what is none");
        Failure::Refused(JournalError::new(Code::StoreCorrupt, message))
    }
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Failure {
        if let Some(said) = error.as_db_error() {
            return of_server(said);
        }
        let text = error.to_string();
        // The client's own faults have no kind that can be asked for.
        if text.starts_with("error serializing") || text.starts_with("error deserializing") {
            return Failure::damaged("values of the right types");
        }
        if text.starts_with("invalid configuration") || text.starts_with("authentication error") {
            let message = "the server of the store cannot be reached as the address says";
            return Failure::Refused(JournalError::new(Code::StoreUnavailable, message).caused_by(error));
        }
        let message = "the server of the store cannot be reached, or the connection broke";
        Failure::Lost(JournalError::new(Code::StoreUnavailable, message).caused_by(error))
    }
}

fn of_server(said: &DbError) -> Failure {
    let state = said.code().code();
    let fatal = said.parsed_severity().is_none_or(|severity| severity != Severity::Error);
    let cause = Said { state: state.to_owned(), message: said.message().to_owned() };
    let error = |code, message: &str| JournalError::new(code, message).caused_by(cause);
    match (state, state.get(..2).unwrap_or_default()) {
        ("40001" | "40P01", _) => {
            Failure::Conflict(error(Code::StoreUnavailable, "other gates kept changing the same records"))
        }
        ("28000" | "28P01" | "3D000", _) => {
            let message = "the server of the store does not let this user into this database";
            Failure::Refused(error(Code::StoreUnavailable, message))
        }
        // 40003: the server itself does not know how it ended.
        ("40003" | "57P01" | "57P02" | "57P03" | "57P05" | "25P03" | "53300", _) | (_, "08") => {
            let message = "the server of the store is stopping or starting, or broke the connection off";
            Failure::Lost(error(Code::StoreUnavailable, message))
        }
        ("XX001" | "XX002", _) => Failure::Refused(error(Code::StoreCorrupt, "the store is damaged")),
        ("53100", _) => Failure::Refused(error(Code::StoreUnavailable, "the disk of the store is full")),
        ("25006", _) => Failure::Refused(error(Code::StoreUnavailable, "the server of the store only reads")),
        ("42501", _) => {
            let message = "the server of the store does not give this user the right to do that";
            Failure::Refused(error(Code::StoreUnavailable, message))
        }
        _ if fatal => Failure::Lost(error(Code::StoreUnavailable, "the server of the store broke off")),
        _ => Failure::Refused(error(Code::StoreUnavailable, "the server of the store refused a statement")),
    }
}

/// What a server said, without its details: those can quote rows.
#[derive(Debug)]
struct Said {
    state: String,
    message: String,
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (SQLSTATE {})", self.message, self.state)
    }
}

impl std::error::Error for Said {}

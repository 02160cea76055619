//! What was found of a store.

use callgate_wire::Code;

use crate::StoreError;

/// Faults in one report; more are counted and not described.
pub const CHECK_FAULTS_MAX: usize = 100;

/// Whether a store is whole, and how much is in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// What is broken, a line each, at most [`CHECK_FAULTS_MAX`].
    pub faults: Vec<String>,
    /// Faults beyond those.
    pub more_faults: u64,
    /// Intents.
    pub intents: u64,
    /// Those in doubt.
    pub in_doubt: u64,
    /// Those without an outcome.
    pub open: u64,
    /// Gates that live.
    pub gates: u64,
    /// Gates that have ended and that nobody has taken over from.
    pub gates_gone: u64,
    /// Their intents without an outcome: in doubt as soon as a gate starts.
    pub open_of_gone: u64,
}

impl CheckReport {
    /// Whether nothing is broken.
    pub fn is_sound(&self) -> bool {
        self.faults.is_empty()
    }

    pub(crate) fn broken(&mut self, fault: String) {
        if self.faults.len() < CHECK_FAULTS_MAX {
            self.faults.push(fault);
        } else {
            self.more_faults += 1;
        }
    }

    /// A row that is none is a fault; anything else ends the check.
    pub(crate) fn damage(&mut self, error: StoreError) -> Result<(), StoreError> {
        match error.code() {
            Code::StoreCorrupt | Code::StoreNewer => {
                self.broken(error.to_string());
                Ok(())
            }
            _ => Err(error),
        }
    }
}

/// What was deleted since it is older than it has to be kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// Intents, with their keys and results.
    pub intents: u64,
    /// Approvals that were used or have expired.
    pub approvals: u64,
    /// Counters of windows that are over.
    pub counters: u64,
    /// Lines of the history.
    pub events: u64,
}

impl Forgotten {
    pub(crate) fn add(&mut self, other: Forgotten) {
        self.intents += other.intents;
        self.approvals += other.approvals;
        self.counters += other.counters;
        self.events += other.events;
    }
}

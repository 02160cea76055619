//! What every store has to hold, as checks that its tests call: the nine of the contract for durable adapters, and what
//! keys, approvals, budgets, publications and lists promise. Each check runs on records of its own.
//!
//! | file | holds |
//! |---|---|
//! | `contract` | the nine checks of the contract |
//! | `promises` | the others |
//! | `stage` | what a check has in hand: calls to open, and short ways to say what is done |
//!
//! What becomes of one command after another is not checked here: that is decided in this crate, and
//! `cases/durable.jsonl` has it as rows.

mod contract;
mod promises;
mod stage;

use std::fmt;

use callgate_wire::Incarnation;

use super::{Journal, JournalError, Ledger};

/// Threads that do the same thing at once, where a check is about that.
pub const THREADS: usize = 16;

/// Opens a gate with this life, which is new, on the trial's records.
pub type OpenGate<'a> = Box<dyn Fn(Incarnation) -> Result<Box<dyn Journal>, JournalError> + 'a>;
/// Opens an operator's way to the trial's records.
pub type OpenOperator<'a> = Box<dyn Fn() -> Result<Box<dyn Ledger>, JournalError> + 'a>;
/// Makes the store take this life for gone, although its journal is still in hand and may go on.
pub type Lose<'a> = Box<dyn Fn(&Incarnation) -> Result<(), String> + 'a>;
/// Calls the function while no commit of any gate comes through, and mends that before it returns.
pub type Failing<'a> = Box<dyn Fn(&mut dyn FnMut()) -> Result<(), String> + 'a>;

/// One set of records under trial, empty at first, and what its tests can do to it. A check that needs what is not there
/// does not apply.
pub struct Hooks<'a> {
    /// Opens a gate. Dropping the journal ends its life without a word, as does [`Hooks::lose`].
    pub gate: OpenGate<'a>,
    /// Whether a gate that is opened later sees what was recorded before.
    pub durable: bool,
    /// Opens an operator's way in.
    pub operator: Option<OpenOperator<'a>>,
    /// Ends a life without a word.
    pub lose: Option<Lose<'a>>,
    /// Lets commits fail.
    pub failing: Option<Failing<'a>>,
}

impl fmt::Debug for Hooks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks")
            .field("durable", &self.durable)
            .field("operator", &self.operator.is_some())
            .field("lose", &self.lose.is_some())
            .field("failing", &self.failing.is_some())
            .finish_non_exhaustive()
    }
}

/// What became of one check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckResult {
    /// What must hold.
    pub name: &'static str,
    /// Whether it does.
    pub outcome: CheckOutcome,
}

/// Whether something holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckOutcome {
    /// It does.
    Holds,
    /// It does not: this was found.
    Broken(String),
    /// The trial lacks this.
    NotApplicable(&'static str),
}

/// Why a check ends early.
#[derive(Debug)]
enum Fault {
    Lacks(&'static str),
    Found(String),
}

impl From<JournalError> for Fault {
    fn from(error: JournalError) -> Fault {
        let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        Fault::Found(format!("{}: {error}: {cause}", error.code()))
    }
}

impl From<String> for Fault {
    fn from(found: String) -> Fault {
        Fault::Found(found)
    }
}

type Check = fn(&Hooks<'_>) -> Result<(), Fault>;

/// Every check, in the order in which they run.
const CHECKS: &[&[(&str, Check)]] = &[contract::CHECKS, promises::CHECKS];

/// The names of all checks.
pub fn names() -> impl Iterator<Item = &'static str> {
    CHECKS.iter().copied().flatten().map(|(name, _)| *name)
}

/// Runs every check, each on the records that `fresh` makes for it.
pub fn run<'a>(fresh: &dyn Fn() -> Hooks<'a>) -> Vec<CheckResult> {
    names().filter_map(|name| run_one(name, &fresh())).collect()
}

/// Runs the check of this name, if there is one.
pub fn run_one(name: &str, hooks: &Hooks<'_>) -> Option<CheckResult> {
    let (name, check) = CHECKS.iter().copied().flatten().find(|(known, _)| *known == name)?;
    let outcome = match check(hooks) {
        Ok(()) => CheckOutcome::Holds,
        Err(Fault::Found(found)) => CheckOutcome::Broken(found),
        Err(Fault::Lacks(what)) => CheckOutcome::NotApplicable(what),
    };
    Some(CheckResult { name, outcome })
}

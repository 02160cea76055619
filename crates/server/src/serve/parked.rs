//! Calls of clients of the newer era that wait for an answer: nothing is open at the client meanwhile, and it comes again
//! with a state that stands for the call.
//!
//! The state is a random name and holds nothing: who else has it can do nothing with it, and it is good once.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use callgate_gateway::Refusal;
use callgate_schema::json::Digest;
use callgate_wire::{ApprovalId, Code, Principal};

use super::conversation::Conversation;
use super::session::random_part;

/// Calls that wait so.
const PARKED_MAX: usize = 1_024;

/// The calls that wait.
#[derive(Default)]
pub(crate) struct Parked(Mutex<HashMap<String, (Bond, Waits)>>);

/// What a state is good for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bond {
    pub(super) principal: Principal,
    /// The tool, as the client knows it.
    pub(super) tool: String,
    pub(super) arguments: Digest,
}

/// What waits.
pub(super) enum Waits {
    /// A call that has left.
    Call(Box<Conversation>),
    /// A call that a person has to permit first.
    Approval(ApprovalId),
}

impl Parked {
    /// Has a call wait; gives the state that stands for it. Gives it back where too many wait.
    pub(super) fn park(&self, bond: Bond, waits: Waits) -> Result<String, Waits> {
        let mut parked = self.lock();
        let Some(random) = random_part().filter(|_| parked.len() < PARKED_MAX) else { return Err(waits) };
        let state = format!("cg-{random}");
        parked.insert(state.clone(), (bond, waits));
        Ok(state)
    }

    /// What waits with this state, which is then good for nothing more.
    ///
    /// # Errors
    /// `call-state-unknown`, also for a state that stands for something else: what waits there goes on waiting.
    pub(super) fn take(&self, state: &str, bond: &Bond) -> Result<Waits, Refusal> {
        let mut parked = self.lock();
        match parked.get(state) {
            Some((known, _)) if known == bond => {}
            Some((known, _)) if known.principal == bond.principal => {
                let message = "expected the call to be the one that was asked about, found another one";
                return Err(Refusal::new(Code::CallStateUnknown, message)
                    .with_help("bring the state back with the same tool and the same arguments"));
            }
            _ => return Err(unknown()),
        }
        parked.remove(state).map(|(_, waits)| waits).ok_or_else(unknown)
    }

    /// What still waits with this state, for whom nobody has come.
    pub(super) fn expire(&self, state: &str) -> Option<Waits> {
        self.lock().remove(state).map(|(_, waits)| waits)
    }

    /// Everything that waits.
    pub(super) fn drain(&self) -> Vec<Waits> {
        self.lock().drain().map(|(_, (_, waits))| waits).collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, (Bond, Waits)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn unknown() -> Refusal {
    let message = "expected a state with which a call waits here, found another one";
    Refusal::new(Code::CallStateUnknown, message).with_help("make the call anew, without a state and answers")
}

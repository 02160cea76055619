//! A journal in memory that can be held up and can fail.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex};

use callgate_gateway::intent::{Transition, settle};
use callgate_gateway::{AdmissionRow, ContractChange, IntentFilter, Journal, JournalError};
use callgate_wire::{Code, Incarnation, Intent, IntentId, IntentRecord, Settlement, Timestamp};

pub(super) struct MemoryJournal {
    records: Mutex<Vec<IntentRecord>>,
    rows: Mutex<Vec<AdmissionRow>>,
    /// How many must wait in `append` before any of them goes on.
    hold: Mutex<(usize, usize)>,
    released: Condvar,
    pub(super) fails_append: AtomicBool,
    pub(super) fails_settle: AtomicBool,
    incarnation: Incarnation,
}

impl Default for MemoryJournal {
    fn default() -> Self {
        MemoryJournal {
            records: Mutex::default(),
            rows: Mutex::default(),
            hold: Mutex::default(),
            released: Condvar::new(),
            fails_append: AtomicBool::default(),
            fails_settle: AtomicBool::default(),
            incarnation: Incarnation::from_bytes([1; 16]),
        }
    }
}

impl MemoryJournal {
    /// From now on nothing is durable before so many wait for it; `usize::MAX`: until `release`.
    pub(super) fn hold(&self, until: usize) {
        *self.hold.lock().unwrap() = (until, 0);
    }

    pub(super) fn release(&self) {
        self.hold(0);
        self.released.notify_all();
    }

    /// `tool state side-effect code`, and `in doubt`, of each intent, oldest first.
    pub(super) fn told(&self) -> Vec<String> {
        let told = |record: &IntentRecord| {
            let intent = &record.intent;
            let Some(Settlement { side_effect, code, in_doubt, .. }) = &intent.settlement else {
                return format!("{} open", intent.tool);
            };
            let code = code.map_or_else(String::new, |code| format!(" {code}"));
            let doubt = if *in_doubt { " in doubt" } else { "" };
            format!("{} {} {side_effect}{code}{doubt}", intent.tool, intent.state())
        };
        self.records.lock().unwrap().iter().map(told).collect()
    }

    pub(super) fn arguments(&self) -> Vec<String> {
        let text = |record: &IntentRecord| String::from_utf8(record.arguments.to_vec()).unwrap();
        self.records.lock().unwrap().iter().map(text).collect()
    }

    /// The tools that were recorded, and the codes of those that were quarantined.
    pub(super) fn admissions(&self) -> Vec<(String, Option<Code>)> {
        self.rows.lock().unwrap().iter().map(|row| (row.tool.clone(), row.code)).collect()
    }
}

fn down() -> JournalError {
    JournalError::new(Code::StoreUnavailable, "the disk is full")
}

impl Journal for MemoryJournal {
    fn append(&self, record: &IntentRecord) -> Result<(), JournalError> {
        if self.fails_append.load(Ordering::SeqCst) {
            return Err(down());
        }
        let mut hold = self.hold.lock().unwrap();
        hold.1 += 1;
        self.released.notify_all();
        while hold.1 < hold.0 {
            hold = self.released.wait(hold).unwrap();
        }
        drop(hold);
        self.records.lock().unwrap().push(record.clone());
        Ok(())
    }

    fn settle(&self, id: &IntentId, settlement: &Settlement) -> Result<(), JournalError> {
        if self.fails_settle.load(Ordering::SeqCst) {
            return Err(down());
        }
        let mut records = self.records.lock().unwrap();
        let record =
            records.iter_mut().find(|record| record.intent.id == *id).expect("what is settled was opened");
        if settle(record.intent.settlement.as_ref(), settlement) == Transition::Record {
            record.intent.settlement = Some(settlement.clone());
        }
        Ok(())
    }

    fn record_admissions(
        &self,
        _upstream: &str,
        rows: &[AdmissionRow],
        _at: Timestamp,
    ) -> Result<Vec<ContractChange>, JournalError> {
        *self.rows.lock().unwrap() = rows.to_vec();
        Ok(Vec::new())
    }

    fn recover(&self, _at: Timestamp) -> Result<Vec<Intent>, JournalError> {
        Ok(Vec::new())
    }

    fn list(&self, _filter: &IntentFilter) -> Result<Vec<Intent>, JournalError> {
        Ok(Vec::new())
    }

    fn show(&self, _id_or_prefix: &str) -> Result<Option<IntentRecord>, JournalError> {
        Ok(None)
    }

    fn incarnation(&self) -> &Incarnation {
        &self.incarnation
    }
}

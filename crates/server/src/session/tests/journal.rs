//! A journal in memory that can be held up and can fail.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex};

use callgate_gateway::journal::{
    AdmissionRow, Answer, ApprovalFilter, Command, Counter, EventFilter, IntentFilter, Journal, JournalError,
    Ledger, PinRecord, Records,
};
use callgate_wire::{
    Approval, ApprovalRecord, Code, Event, Incarnation, Intent, IntentRecord, Principal, Settlement,
};

pub(super) struct MemoryJournal {
    rows: callgate_gateway::journal::MemoryJournal,
    published: Mutex<Vec<AdmissionRow>>,
    /// How many must wait in `append` before any of them goes on.
    hold: Mutex<(usize, usize)>,
    released: Condvar,
    pub(super) fails_append: AtomicBool,
    pub(super) fails_settle: AtomicBool,
    pub(super) fails_publish: AtomicBool,
    pub(super) fails_pinned: AtomicBool,
}

impl Default for MemoryJournal {
    fn default() -> Self {
        MemoryJournal {
            rows: callgate_gateway::journal::MemoryJournal::new(Incarnation::from_bytes([1; 16])),
            published: Mutex::default(),
            hold: Mutex::default(),
            released: Condvar::new(),
            fails_append: AtomicBool::default(),
            fails_settle: AtomicBool::default(),
            fails_publish: AtomicBool::default(),
            fails_pinned: AtomicBool::default(),
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
        self.records().iter().map(told).collect()
    }

    pub(super) fn arguments(&self) -> Vec<String> {
        let text = |record: &IntentRecord| String::from_utf8(record.arguments.to_vec()).unwrap();
        self.records().iter().map(text).collect()
    }

    /// Oldest first.
    fn records(&self) -> Vec<IntentRecord> {
        let newest = self.rows.list(&IntentFilter::last(u32::MAX)).unwrap();
        newest.iter().rev().map(|intent| self.rows.show(intent.id.as_str()).unwrap().unwrap()).collect()
    }

    /// The tools that were recorded, and the codes of those that were quarantined.
    pub(super) fn admissions(&self) -> Vec<(String, Option<Code>)> {
        self.published.lock().unwrap().iter().map(|row| (row.tool.clone(), row.code)).collect()
    }
}

fn down() -> JournalError {
    JournalError::new(Code::StoreUnavailable, "the disk is full")
}

impl Records for MemoryJournal {
    fn list(&self, filter: &IntentFilter) -> Result<Vec<Intent>, JournalError> {
        self.rows.list(filter)
    }
    fn show(&self, id: &str) -> Result<Option<IntentRecord>, JournalError> {
        self.rows.show(id)
    }
    fn approvals(&self, filter: &ApprovalFilter) -> Result<Vec<Approval>, JournalError> {
        self.rows.approvals(filter)
    }
    fn approval_record(&self, id: &str) -> Result<Option<ApprovalRecord>, JournalError> {
        self.rows.approval_record(id)
    }
    fn last_approved(
        &self,
        principal: &Principal,
        upstream: &str,
        tool: &str,
    ) -> Result<Option<ApprovalRecord>, JournalError> {
        self.rows.last_approved(principal, upstream, tool)
    }
    fn counters(&self) -> Result<Vec<Counter>, JournalError> {
        self.rows.counters()
    }
    fn pinned(&self, upstream: Option<&str>) -> Result<Vec<PinRecord>, JournalError> {
        if self.fails_pinned.load(Ordering::SeqCst) { Err(down()) } else { self.rows.pinned(upstream) }
    }
    fn history(&self, filter: &EventFilter) -> Result<Vec<Event>, JournalError> {
        self.rows.history(filter)
    }
}

impl Ledger for MemoryJournal {
    fn commit(&self, command: Command) -> Result<Answer, JournalError> {
        match &command {
            Command::Open(_) => {
                if self.fails_append.load(Ordering::SeqCst) {
                    return Err(down());
                }
                let mut hold = self.hold.lock().unwrap();
                hold.1 += 1;
                self.released.notify_all();
                while hold.1 < hold.0 {
                    hold = self.released.wait(hold).unwrap();
                }
            }
            Command::Settle { .. } if self.fails_settle.load(Ordering::SeqCst) => return Err(down()),
            Command::Publish(_) if self.fails_publish.load(Ordering::SeqCst) => return Err(down()),
            Command::Publish(request) => {
                *self.published.lock().unwrap() = request.tools.iter().map(|tool| tool.row.clone()).collect();
            }
            _ => {}
        }
        self.rows.commit(command)
    }
}

impl Journal for MemoryJournal {
    fn incarnation(&self) -> &Incarnation {
        self.rows.incarnation()
    }
}

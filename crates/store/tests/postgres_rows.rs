//! What becomes of records, step by step: each row of `cases/durable.jsonl` is played on a store on PostgreSQL.
#![expect(clippy::expect_used, reason = "a test ends where it cannot go on")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use callgate_gateway::journal::{
    Answer, ApprovalFilter, Command, Counter, EventFilter, IntentFilter, Journal, JournalError, Ledger,
    PinRecord, Records,
};
use callgate_store::{PostgresJournal, PostgresPlace};
use callgate_testing::durable;
use callgate_testing::postgres::Server;
use callgate_wire::{
    Approval, ApprovalRecord, Event, Incarnation, Intent, IntentRecord, Principal, Timestamp,
};
use libtest_mimic::Trial;
use tokio::runtime::Runtime;
use tokio_postgres::{Client, NoTls};

fn main() -> std::process::ExitCode {
    let arguments = libtest_mimic::Arguments::from_args();
    let mut trials = Vec::new();
    // The names can be listed without a server.
    if arguments.list || server().is_some() {
        trials = durable::trials("postgres", fresh);
        trials.push(Trial::test(
            "postgres: every step fails, or its answer is lost, and is given again",
            || {
                let played = durable::play_with_faults(fresh)?;
                if played > 300 { Ok(()) } else { Err(format!("played {played} rows only").into()) }
            },
        ));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn server() -> Option<&'static Server> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    SERVER.get_or_init(Server::in_memory).as_ref()
}

/// Journals that nobody uses now. To empty a store is quicker than to make one, and there are hundreds of plays.
static FREE: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

/// A journal, and a connection that empties its store.
struct Kept {
    journal: PostgresJournal,
    runtime: Runtime,
    client: Client,
    emptying: String,
}

impl Kept {
    fn open() -> Kept {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut id = [9; 16];
        id[..8].copy_from_slice(&number.to_be_bytes());
        let schema = format!("rows_{number}");
        let address = server().expect("the server runs").address(&schema, "");
        let place = PostgresPlace::parse(&address).expect("an address");
        let journal = PostgresJournal::open_gate(place, Incarnation::from_bytes(id), 1, Timestamp(0));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let address = address.split_once('?').map_or("", |(address, _)| address);
        let (client, connection) =
            runtime.block_on(tokio_postgres::connect(address, NoTls)).expect("the server takes connections");
        runtime.spawn(connection);
        let tables = [
            "intents",
            "approvals",
            "counters",
            "reservations",
            "publications",
            "receipts",
            "admissions",
            "pins",
            "events",
        ];
        let emptying = tables.map(|table| format!("DELETE FROM {schema}.{table};")).concat();
        Kept { journal: journal.expect("the store opens"), runtime, client, emptying }
    }
}

/// A journal on an empty store, which another play gets after it.
struct Lent(Option<Kept>);

fn fresh() -> Lent {
    let kept = FREE.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_else(Kept::open);
    let emptied = kept.runtime.block_on(kept.client.batch_execute(&kept.emptying));
    emptied.expect("the store is emptied");
    Lent(Some(kept))
}

impl Drop for Lent {
    fn drop(&mut self) {
        FREE.lock().unwrap_or_else(PoisonError::into_inner).extend(self.0.take());
    }
}

impl Lent {
    fn journal(&self) -> &PostgresJournal {
        &self.0.as_ref().expect("it is lent until it is dropped").journal
    }
}

impl Records for Lent {
    fn list(&self, filter: &IntentFilter) -> Result<Vec<Intent>, JournalError> {
        self.journal().list(filter)
    }

    fn show(&self, id_or_part: &str) -> Result<Option<IntentRecord>, JournalError> {
        self.journal().show(id_or_part)
    }

    fn approvals(&self, filter: &ApprovalFilter) -> Result<Vec<Approval>, JournalError> {
        self.journal().approvals(filter)
    }

    fn approval_record(&self, id_or_part: &str) -> Result<Option<ApprovalRecord>, JournalError> {
        self.journal().approval_record(id_or_part)
    }

    fn last_approved(
        &self,
        principal: &Principal,
        upstream: &str,
        tool: &str,
    ) -> Result<Option<ApprovalRecord>, JournalError> {
        self.journal().last_approved(principal, upstream, tool)
    }

    fn counters(&self) -> Result<Vec<Counter>, JournalError> {
        self.journal().counters()
    }

    fn pinned(&self, upstream: Option<&str>) -> Result<Vec<PinRecord>, JournalError> {
        self.journal().pinned(upstream)
    }

    fn history(&self, filter: &EventFilter) -> Result<Vec<Event>, JournalError> {
        self.journal().history(filter)
    }
}

impl Ledger for Lent {
    fn commit(&self, command: Command) -> Result<Answer, JournalError> {
        self.journal().commit(command)
    }
}

impl Journal for Lent {
    fn incarnation(&self) -> &Incarnation {
        self.journal().incarnation()
    }
}

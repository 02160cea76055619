//! Measures durable commits a second with 1, 8 and 64 callers, beside the disk's own rate of single syncs in the same run:
//!
//! ```sh
//! cargo run --release -p callgate-store --example callers -- 3
//! ```
//!
//! The number is how many seconds each measurement takes. A call is two commits: its intent, and its outcome. `one gate` is how a
//! gate works: its callers share transactions. `a gate each` gives every caller a connection and transactions of its own.
#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a program for people who measure"
)]

use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use callgate_gateway::intent::Observation;
use callgate_gateway::journal::{Journal, OpenOutcome, OpenRequest};
use callgate_schema::Limits;
use callgate_schema::json::{Digest, Document, digest};
use callgate_store::{PostgresJournal, PostgresPlace, SqliteJournal};
use callgate_testing::postgres::Server;
use callgate_wire::{Attempt, Incarnation, Intent, IntentId, IntentRecord, Pinned, Principal, Timestamp};

static NEXT: AtomicU64 = AtomicU64::new(1);

fn unique() -> [u8; 16] {
    let mut bytes = [0; 16];
    let (high, low) = bytes.split_at_mut(8);
    // As in ids of version 7: the time goes before what tells ids of one moment apart.
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("it is after 1970");
    high.copy_from_slice(&(u64::try_from(now.as_micros()).unwrap_or_default()).to_be_bytes());
    low.copy_from_slice(&NEXT.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    bytes
}

fn some_digest(text: &str) -> Digest {
    let text = format!("\"{text}\"").into_bytes();
    let document = Document::read(text, &Limits::default().arguments_text()).expect("the text is JSON");
    digest("bench", document.root())
}

fn request(fence: &Incarnation, caller: usize, round: u64) -> OpenRequest {
    let intent = Intent {
        id: IntentId::from_bytes(unique()),
        opened_at: Timestamp(1_700_000_000_123),
        principal: Principal::local("ada"),
        run: None,
        upstream: "notes".to_owned(),
        tool: "write_note".to_owned(),
        contract_digest: some_digest("contract"),
        arguments_digest: some_digest("arguments"),
        call_digest: some_digest(&format!("{caller} {round}")),
        key: None,
        approval: None,
        pinned: Pinned::default(),
        attempt: Attempt::FIRST,
        fence: fence.clone(),
        retry_permitted: false,
        settlement: None,
    };
    let arguments = br#"{"title":"a note","text":"of the length that arguments have","tags":["a","b"]}"#;
    let record = IntentRecord { intent, arguments: arguments[..].into() };
    OpenRequest { record, ask: None, charges: Vec::new(), again: false }
}

/// Commits a second of callers that are spread over gates.
fn rate(callers: usize, time: Duration, journal: impl Fn(usize) -> Box<dyn Journal>, gates: usize) -> f64 {
    let stop = AtomicBool::new(false);
    let commits = AtomicU64::new(0);
    let journals: Vec<Box<dyn Journal>> = (0..gates).map(journal).collect();
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for caller in 0..callers {
            let journal = journals.get(caller % gates).expect("there is one");
            let (stop, commits) = (&stop, &commits);
            scope.spawn(move || {
                for round in 0.. {
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                    let opened = journal.open(request(journal.incarnation(), caller, round));
                    let Ok(OpenOutcome::Go(committed)) = opened else {
                        println!("a call may not leave: {opened:?}");
                        break;
                    };
                    let result = Observation::Result { is_error: false, bytes: 7, breaks_output: false };
                    let settlement = result.settlement(Pinned::default(), Timestamp(5));
                    journal
                        .settle(&committed.intent().id, &settlement, None)
                        .expect("the outcome is recorded");
                    commits.fetch_add(2, Ordering::Relaxed);
                }
            });
        }
        std::thread::sleep(time);
        stop.store(true, Ordering::Relaxed);
    });
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    let commits = commits.into_inner() as f64;
    commits / begun.elapsed().as_secs_f64()
}

/// Syncs a second of one who writes a page and waits for it.
fn sync_rate(folder: &Path, time: Duration) -> f64 {
    let mut file = std::fs::File::create(folder.join("syncs")).expect("a file is made");
    file.write_all(&vec![0; 8192 * 64]).expect("it is filled");
    file.sync_all().expect("it is synced");
    let begun = Instant::now();
    let mut syncs = 0_u32;
    while begun.elapsed() < time {
        file.write_all_at(&[1; 8192], u64::from(syncs % 64) * 8192).expect("a page is written");
        file.sync_data().expect("it is synced");
        syncs += 1;
    }
    f64::from(syncs) / begun.elapsed().as_secs_f64()
}

fn main() {
    let seconds = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(2);
    let time = Duration::from_secs(seconds);
    let folder = tempfile::tempdir().expect("a folder is made");
    let incarnation = || Incarnation::from_bytes(unique());
    let sqlite = |_| -> Box<dyn Journal> {
        let path = folder.path().join("store.sqlite");
        Box::new(SqliteJournal::open_gate(&path, incarnation(), 1, Timestamp(1)).expect("the store opens"))
    };
    let server = Server::fresh();
    let postgres = |_| -> Box<dyn Journal> {
        let address = server.as_ref().map(|server| server.address("callers", "")).unwrap_or_default();
        let place = PostgresPlace::parse(&address).expect("an address");
        Box::new(PostgresJournal::open_gate(place, incarnation(), 1, Timestamp(1)).expect("the store opens"))
    };
    println!("{:<28} {:>8} {:>12} {:>8}", "store", "callers", "commits/s", "× sync");
    for callers in [1, 8, 64] {
        let syncs = sync_rate(folder.path(), time / 2);
        println!("{:<28} {:>8} {syncs:>12.0} {:>8.1}", "a page, and fdatasync", 1, 1.0);
        let line =
            |name: &str, rate: f64| println!("{name:<28} {callers:>8} {rate:>12.0} {:>8.1}", rate / syncs);
        line("SQLite, one gate", rate(callers, time, sqlite, 1));
        if server.is_some() {
            line("PostgreSQL, one gate", rate(callers, time, postgres, 1));
            line("PostgreSQL, two gates", rate(callers, time, postgres, 2.min(callers)));
            line("PostgreSQL, a gate each", rate(callers, time, postgres, callers));
        }
    }
}

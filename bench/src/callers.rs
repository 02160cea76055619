//! Durable commits a second with 1, 8 and 64 callers, on each store, beside the disk's own rate of single syncs in the same
//! run. A call is two commits: its intent, and its outcome. Callers of one gate share transactions; `a gate each` gives every
//! caller a connection and transactions of its own.

use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
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
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    high.copy_from_slice(&(u64::try_from(now.as_micros()).unwrap_or_default()).to_be_bytes());
    low.copy_from_slice(&NEXT.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    bytes
}

fn some_digest(text: &str) -> anyhow::Result<Digest> {
    let text = format!("\"{text}\"").into_bytes();
    let document = Document::read(text, &Limits::default().arguments_text())
        .map_err(|fault| anyhow::anyhow!(fault.finding().message))?;
    Ok(digest("bench", document.root()))
}

fn request(fence: &Incarnation, caller: usize, round: u64) -> anyhow::Result<OpenRequest> {
    let intent = Intent {
        id: IntentId::from_bytes(unique()),
        opened_at: Timestamp(1_700_000_000_123),
        principal: Principal::local("ada"),
        run: None,
        upstream: "notes".to_owned(),
        tool: "write_note".to_owned(),
        contract_digest: some_digest("contract")?,
        arguments_digest: some_digest("arguments")?,
        call_digest: some_digest(&format!("{caller} {round}"))?,
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
    Ok(OpenRequest { record, ask: None, charges: Vec::new(), again: false })
}

/// Commits a second of callers that are spread over gates.
fn rate(
    callers: usize,
    time: Duration,
    journal: impl Fn() -> anyhow::Result<Box<dyn Journal>>,
    gates: usize,
) -> anyhow::Result<f64> {
    let stop = AtomicBool::new(false);
    let commits = AtomicU64::new(0);
    let journals: Vec<Box<dyn Journal>> = (0..gates).map(|_| journal()).collect::<anyhow::Result<_>>()?;
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let callers: Vec<_> = (0..callers)
            .filter_map(|caller| Some((caller, journals.get(caller % gates)?)))
            .map(|(caller, journal)| {
                let (stop, commits) = (&stop, &commits);
                scope.spawn(move || call(&**journal, caller, stop, commits))
            })
            .collect();
        std::thread::sleep(time);
        stop.store(true, Ordering::Relaxed);
        callers.into_iter().try_for_each(|caller| {
            caller.join().unwrap_or_else(|_| Err(anyhow::anyhow!("a caller panicked")))
        })
    })?;
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    let commits = commits.into_inner() as f64;
    Ok(commits / begun.elapsed().as_secs_f64())
}

/// One caller's calls until it is told to stop.
fn call(journal: &dyn Journal, caller: usize, stop: &AtomicBool, commits: &AtomicU64) -> anyhow::Result<()> {
    for round in 0.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let opened = journal.open(request(journal.incarnation(), caller, round)?)?;
        let OpenOutcome::Go(committed) = opened else { bail!("a call may not leave: {opened:?}") };
        let result = Observation::Result { is_error: false, bytes: 7, breaks_output: false };
        let settlement = result.settlement(Pinned::default(), Timestamp(5));
        journal.settle(&committed.intent().id, &settlement, None)?;
        commits.fetch_add(2, Ordering::Relaxed);
    }
    Ok(())
}

/// Syncs a second of one who writes a page and waits for it.
fn sync_rate(folder: &Path, time: Duration) -> anyhow::Result<f64> {
    let mut file = std::fs::File::create(folder.join("syncs"))?;
    file.write_all(&vec![0; 8192 * 64])?;
    file.sync_all()?;
    let begun = Instant::now();
    let mut syncs = 0_u32;
    while begun.elapsed() < time {
        file.write_all_at(&[1; 8192], u64::from(syncs % 64) * 8192)?;
        file.sync_data()?;
        syncs += 1;
    }
    Ok(f64::from(syncs) / begun.elapsed().as_secs_f64())
}

/// What to measure.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How many seconds each measurement takes
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: u64,
}

/// Measures and prints.
///
/// # Errors
/// A folder or a store that cannot be used.
pub fn run(args: &Args) -> anyhow::Result<()> {
    let time = Duration::from_secs(args.seconds);
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("store.sqlite");
    let sqlite = || -> anyhow::Result<Box<dyn Journal>> {
        Ok(Box::new(SqliteJournal::open_gate(&path, Incarnation::from_bytes(unique()), 1, Timestamp(1))?))
    };
    let server = Server::fresh();
    let postgres = || -> anyhow::Result<Box<dyn Journal>> {
        let server = server.as_ref().context("there is no PostgreSQL on this machine")?;
        let place = PostgresPlace::parse(&server.address("callers", ""))?;
        let life = Incarnation::from_bytes(unique());
        let journal = PostgresJournal::open_gate(place, life, 1, Timestamp(1))?;
        // As a gate does when it starts: the gates of the measurements before are gone.
        journal.recover(Timestamp(1))?;
        Ok(Box::new(journal))
    };
    println!("| store | callers | commits a second | calls a second | times the syncs |");
    println!("|---|---|---|---|---|");
    for callers in [1, 8, 64] {
        let syncs = sync_rate(folder.path(), time)?;
        let line = |name: &str, rate: f64| {
            println!("| {name} | {callers} | {rate:.0} | {:.0} | {:.1} |", rate / 2.0, rate / syncs);
        };
        println!("| a page and `fdatasync`, this disk | 1 | {syncs:.0} | | 1.0 |");
        line("SQLite, one gate", rate(callers, time, sqlite, 1)?);
        if server.is_some() {
            line("PostgreSQL, one gate", rate(callers, time, postgres, 1)?);
            line("PostgreSQL, two gates", rate(callers, time, postgres, 2.min(callers))?);
            line("PostgreSQL, a gate each", rate(callers, time, postgres, callers)?);
        }
    }
    Ok(())
}

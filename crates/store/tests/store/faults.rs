//! What a gate meets on a disk: none left, a file that may not be written, damage, a clock that is set back.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use callgate_gateway::IntentFilter;
use callgate_gateway::journal::{Journal as _, Records as _};
use callgate_store::{SqliteJournal, StoreReader, check_store};
use callgate_wire::{Code, Incarnation, IntentState, Timestamp};

use crate::support::{distinct, gate, go, open, record, result_at};

const ALL: IntentFilter = IntentFilter { limit: u32::MAX, in_doubt: false, before: None };
const STORE: &str = "CALLGATE_TEST_FAULTY_STORE";

/// Fills a store until it takes no more; gives how many intents it took.
fn fill(journal: &SqliteJournal) -> usize {
    let long = format!("{{\"text\":\"{}\"}}", "a".repeat(8_000));
    for taken in 0.. {
        let one = distinct(record(journal.incarnation(), &long));
        let Err(error) = open(journal, &one) else { continue };
        assert_eq!(error.code(), Code::StoreUnavailable, "{error}");
        let cause = std::error::Error::source(&error).expect("the store says why").to_string();
        assert!(cause.contains("full"), "{cause}");
        assert_eq!(journal.show(one.intent.id.as_str()).unwrap(), None, "what was refused is not there");
        return taken;
    }
    unreachable!("a disk is full some day")
}

#[test]
fn a_full_store_takes_no_call_and_keeps_what_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let life = Incarnation::from_bytes([0xfa; 16]);
    let journal = SqliteJournal::open_gate_bounded(&path, life, 1, Timestamp(1), 1 << 20).unwrap();
    let first = record(journal.incarnation(), "{}");
    go(&journal, &first);
    let taken = fill(&journal);
    assert!((50..200).contains(&taken), "{taken} of 8 kB in 1 MiB");
    assert_eq!(fill(&journal), 0, "it stays full");
    assert_eq!(journal.list(&ALL).unwrap().len(), taken + 1);
    assert!(fs::metadata(&path).unwrap().len() <= 1 << 20);

    // The same calls from many sides: each is answered, and none of those that were refused is there.
    let refused = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16)
            .map(|_| {
                scope.spawn(|| {
                    let long = format!("{{\"text\":\"{}\"}}", "b".repeat(8_000));
                    let one = distinct(record(journal.incarnation(), &long));
                    open(&journal, &one).map(|_| one.intent.id)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).filter(Result::is_err).count()
    });
    assert_eq!(refused, 16);
    assert_eq!(journal.list(&ALL).unwrap().len(), taken + 1);

    // Outcomes have room of their own, and old rows make room for new ones.
    for intent in journal.list(&ALL).unwrap() {
        journal.settle(&intent.id, &result_at(2), None).unwrap();
    }
    let forgotten = journal.forget(Timestamp(i64::MAX)).unwrap();
    assert_eq!(usize::try_from(forgotten.intents).unwrap(), taken + 1);
    go(&journal, &distinct(record(journal.incarnation(), "{}")));
    assert!(check_store(&path).unwrap().is_sound());
}

/// Runs in a file system of its own that is too small: see the next test.
#[test]
fn a_gate_on_a_full_disk() {
    let Ok(store) = std::env::var(STORE) else { return };
    let journal = gate(Path::new(&store)).unwrap();
    let taken = fill(&journal);
    assert!(taken > 3, "{taken}");
    let listed = journal.list(&ALL).unwrap();
    assert_eq!(listed.len(), taken);
    assert_eq!(StoreReader::open(Path::new(&store), Timestamp(9)).unwrap().list(&ALL).unwrap(), listed);
    assert!(check_store(Path::new(&store)).unwrap().is_sound());
    println!("took {taken}");
}

#[test]
fn a_full_disk_takes_no_call_and_keeps_what_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let own = std::env::current_exe().unwrap();
    let script = "mount -t tmpfs -o size=900k tmpfs \"$1\" && exec \"$2\" --exact faults::a_gate_on_a_full_disk --nocapture";
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"])
        .arg(folder.path())
        .arg(&own)
        .env(STORE, folder.path().join("store.sqlite"))
        .output();
    let said = match &output {
        Ok(output) => {
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
        }
        Err(error) => error.to_string(),
    };
    if said.contains("took ") {
        return;
    }
    assert!(!said.contains("panicked"), "{said}");
    println!("skipped: no file system of one's own can be mounted here: {said}");
}

/// Runs as a user who may only read the store: see the next test.
#[test]
fn a_user_who_may_only_read() {
    let Ok(store) = std::env::var(STORE).map(std::path::PathBuf::from) else { return };
    if !store.ends_with("read-only.sqlite") {
        return;
    }
    let error = gate(&store).unwrap_err();
    assert_eq!(error.code(), Code::StoreUnavailable);
    println!("refused: {error}");
}

#[test]
fn a_file_that_may_not_be_written_is_refused_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("read-only.sqlite");
    let journal = gate(&path).unwrap();
    go(&journal, &record(journal.incarnation(), "{}"));
    drop(journal);
    let before = fs::read(&path).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o555)).unwrap();
    let own = std::env::current_exe().unwrap();
    let mut command = Command::new(&own);
    command.args(["--exact", "faults::a_user_who_may_only_read", "--nocapture"]).env(STORE, &path);
    if fs::metadata(folder.path()).unwrap().uid() == 0 {
        // Modes do not bind the superuser.
        command.uid(65_534).gid(65_534);
    }
    let output = command.output();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    match output {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(said.contains("refused: store `"), "{said}{}", String::from_utf8_lossy(&output.stderr));
            println!("{said}");
        }
        Err(error) => println!("skipped: another user cannot run this program here: {error}"),
    }
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn damage_in_the_middle_is_found_and_nothing_is_made_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let journal = gate(&path).unwrap();
    for _ in 0..300 {
        go(&journal, &distinct(record(journal.incarnation(), "{\"a\": 1}")));
    }
    let intents = journal.list(&ALL).unwrap();
    drop(journal);
    assert!(check_store(&path).unwrap().is_sound());
    let free: u32 = rusqlite::Connection::open(&path)
        .and_then(|connection| connection.query_row("PRAGMA freelist_count", [], |row| row.get(0)))
        .unwrap();
    let mut bytes = fs::read(&path).unwrap();
    let pages = bytes.len() / 4096;
    let mut found = 0;
    for page in 1..pages {
        let whole = bytes.clone();
        for byte in &mut bytes[page * 4096..(page + 1) * 4096] {
            *byte ^= 0x55;
        }
        fs::write(&path, &bytes).unwrap();
        match check_store(&path) {
            Ok(report) => found += usize::from(!report.is_sound()),
            Err(error) => {
                assert_eq!(error.code(), Code::StoreCorrupt, "page {page}: {error}");
                found += 1;
            }
        }
        // Whoever reads gets what was there, or is told.
        match StoreReader::open(&path, Timestamp(9)).map(|reader| reader.list(&ALL)) {
            Ok(Ok(listed)) => assert!(
                listed.iter().all(|one| intents.iter().any(|known| known.id == one.id)),
                "page {page}"
            ),
            Ok(Err(error)) => assert_eq!(error.code(), Code::StoreCorrupt, "page {page}: {error}"),
            Err(error) => assert_eq!(error.code(), Code::StoreCorrupt, "page {page}: {error}"),
        }
        bytes = whole;
    }
    assert!(
        found + free as usize >= pages - 1,
        "each damaged page in use is found: {found} and {free} of {pages}"
    );
    assert!(free < 10, "{free}");
}

#[test]
fn a_clock_that_is_set_back_a_day_disturbs_no_order_and_deletes_nothing_too_early() {
    const DAY: i64 = 86_400_000;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let journal = gate(&path).unwrap();
    let mut ids = Vec::new();
    for at in [10 * DAY, 10 * DAY + 1, 9 * DAY, 9 * DAY + 1, 10 * DAY + 2] {
        let mut one = distinct(record(journal.incarnation(), "{}"));
        one.intent.opened_at = Timestamp(at);
        ids.insert(0, go(&journal, &one));
        journal.settle(&one.intent.id, &result_at(at + 5), None).unwrap();
    }
    let listed = |journal: &SqliteJournal| -> Vec<_> {
        journal.list(&ALL).unwrap().into_iter().map(|intent| intent.id).collect()
    };
    assert_eq!(listed(&journal), ids, "the order is that of opening");
    let page = IntentFilter { limit: 2, in_doubt: false, before: Some(ids[1].clone()) };
    assert_eq!(journal.list(&page).unwrap().len(), 2);

    // What is old and stands behind what is young waits until that is old too; nothing young goes.
    assert_eq!(journal.forget(Timestamp(9 * DAY + 100)).unwrap().intents, 0);
    assert_eq!(listed(&journal), ids);
    assert_eq!(journal.forget(Timestamp(10 * DAY + 7)).unwrap().intents, 4);
    assert_eq!(listed(&journal), ids[..1]);
    // An outcome before its call, by the clock, is an outcome.
    let mut one = distinct(record(journal.incarnation(), "{}"));
    one.intent.opened_at = Timestamp(20 * DAY);
    go(&journal, &one);
    journal.settle(&one.intent.id, &result_at(19 * DAY), None).unwrap();
    assert_eq!(journal.show(one.intent.id.as_str()).unwrap().unwrap().intent.state(), IntentState::Settled);
    assert!(check_store(&path).unwrap().is_sound());
}

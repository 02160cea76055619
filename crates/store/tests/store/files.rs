//! The store's file: the rows of `cases/store.jsonl`, and who may read it.

use std::error::Error as _;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{gate, go, open, record};
use callgate_gateway::IntentFilter;
use callgate_gateway::journal::{Journal as _, JournalError, Records as _};
use callgate_store::{SqliteLedger, StoreError, StoreReader};
use callgate_wire::{Code, Timestamp};
use rusqlite::Connection;
use serde_json::Value;

fn sql(path: &Path, text: &str) {
    let connection = Connection::open(path).expect("the file opens");
    connection.execute_batch(text).expect("the statements run");
}

/// Makes the file that a row speaks of.
fn prepare(folder: &Path, kind: &str) -> PathBuf {
    let path = folder.join("new").join("store.sqlite");
    let make = |content: &[u8]| {
        fs::create_dir(folder.join("new"))
            .and_then(|()| fs::write(&path, content))
            .expect("the file is made");
    };
    match kind {
        "missing" => {}
        "empty" => make(b""),
        "text" => make(&b"this is a letter and no database at all\n".repeat(100)),
        "short-text" => make(b"a note\n"),
        "pipe" => {
            fs::create_dir(folder.join("new")).expect("the folder is made");
            let made = Command::new("mkfifo").arg(&path).status().expect("mkfifo runs");
            assert!(made.success());
        }
        "socket" => {
            fs::create_dir(folder.join("new")).expect("the folder is made");
            drop(UnixListener::bind(&path).expect("the socket is made"));
        }
        "device" => {
            fs::create_dir(folder.join("new")).expect("the folder is made");
            std::os::unix::fs::symlink("/dev/null", &path).expect("the link is made");
        }
        "folder" => fs::create_dir_all(&path).expect("the folder is made"),
        "below-a-file" => fs::write(folder.join("new"), "").expect("the file is made"),
        "foreign" => {
            make(b"");
            sql(&path, "CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)");
        }
        "foreign-log" => {
            make(b"");
            sql(&path, "PRAGMA journal_mode = WAL; CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)");
        }
        "newer" => {
            drop(gate(&path).expect("the store is made"));
            sql(&path, "PRAGMA user_version = 4711");
        }
        "torn" => {
            drop(gate(&path).expect("the store is made"));
            sql(&path, "PRAGMA wal_checkpoint(TRUNCATE)");
            let mut bytes = fs::read(&path).expect("the file is read");
            bytes.iter_mut().skip(120).for_each(|byte| *byte = 0x5a);
            fs::write(&path, bytes).expect("the file is written");
        }
        other => panic!("no file `{other}` is known"),
    }
    path
}

/// What somebody was told who could not use a store.
#[derive(Debug)]
struct Failure {
    code: Code,
    text: String,
    is_missing: bool,
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        Failure { code: error.code(), text: error.to_string(), is_missing: error.is_missing() }
    }
}

impl From<JournalError> for Failure {
    fn from(error: JournalError) -> Failure {
        let cause = error.source().expect("the store's own error is the cause");
        Failure { code: error.code(), text: cause.to_string(), is_missing: false }
    }
}

fn use_as(kind: &str, path: &Path) -> Result<usize, Failure> {
    let filter = IntentFilter::last(5);
    Ok(match kind {
        "gate" => gate(path)?.list(&filter)?.len(),
        "reader" => StoreReader::open(path, Timestamp(2))?.list(&filter)?.len(),
        "operator" => SqliteLedger::open_operator(path, Timestamp(2))?.list(&filter)?.len(),
        other => panic!("nobody opens as `{other}`"),
    })
}

/// The file's bytes, if it is one, and its mode.
fn looks(path: &Path) -> (Option<Vec<u8>>, Option<u32>) {
    let mode = fs::metadata(path).ok().map(|metadata| metadata.permissions().mode());
    (path.is_file().then(|| fs::read(path).expect("the file is read")), mode)
}

/// What stands in a folder.
fn names_in(folder: &Path) -> Vec<PathBuf> {
    let mut names: Vec<_> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    names.sort();
    names
}

#[test]
fn every_row_opens_or_is_refused_as_it_says() {
    for line in include_str!("../../../../cases/store.jsonl").lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let text = |member: &str| row[member].as_str().unwrap_or_default();
        let folder = tempfile::tempdir().unwrap();
        let path = prepare(folder.path(), text("file"));
        let others = Permissions::from_mode(0o644);
        if path.is_file() {
            fs::set_permissions(&path, others).unwrap();
        }
        let (before, names) = (looks(&path), names_in(&folder.path().join("new")));
        let outcome = use_as(text("open"), &path);
        let code = outcome.as_ref().err().map(|error| error.code.as_str());
        assert_eq!(code, row["code"].as_str(), "{}: {outcome:?}", text("name"));
        if let Err(error) = &outcome {
            let path = fs::canonicalize(&path).unwrap_or(path.clone());
            assert!(error.text.contains(path.to_str().unwrap()), "{}", error.text);
            assert_eq!(error.is_missing, text("file") == "missing");
            let after = looks(&path);
            assert!(after.0 == before.0, "{}: nothing is changed", text("name"));
            // A store is one also when it is damaged or newer: its mode and the files that SQLite makes are ours.
            if !["missing", "newer", "torn"].contains(&text("file")) {
                assert_eq!(after.1, before.1, "{}: the mode stays", text("name"));
                assert_eq!(
                    names_in(&folder.path().join("new")),
                    names,
                    "{}: nothing is made beside",
                    text("name")
                );
            }
        }
        if text("open") != "gate" {
            assert_eq!(fs::metadata(&path).is_ok(), text("file") != "missing", "only a gate makes a store");
        }
    }
}

#[test]
fn only_the_owner_can_look_into_the_store_its_log_its_locks_and_the_folders_made_for_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a").join("b").join("store.sqlite");
    let journal = gate(&path).unwrap();
    go(&journal, &record(journal.incarnation(), "{}"));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let beside = |suffix: &str| PathBuf::from(format!("{}{suffix}", path.display()));
    assert_eq!(mode(&folder.path().join("a")), 0o700);
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    for file in [path.clone(), beside("-wal"), beside("-shm")] {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
    assert_eq!(mode(&beside(".gates")), 0o700);
    for lock in fs::read_dir(beside(".gates")).unwrap() {
        assert_eq!(mode(&lock.unwrap().path()), 0o600);
    }
    drop(journal);
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    drop(gate(&path).unwrap());
    assert_eq!(mode(&path), 0o600, "what others could read is taken from them");
}

#[test]
fn a_store_reached_by_a_link_is_the_same_store() {
    let folder = tempfile::tempdir().unwrap();
    let (path, link) = (folder.path().join("store.sqlite"), folder.path().join("link"));
    let first = gate(&path).unwrap();
    std::os::unix::fs::symlink(&path, &link).unwrap();
    go(&first, &record(first.incarnation(), "{}"));
    let second = gate(&link).unwrap();
    assert_eq!(second.recover(Timestamp(3)).unwrap(), [], "the first gate is seen to live");
}

#[test]
fn a_damaged_row_is_named_and_not_guessed_at() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let journal = gate(&path).unwrap();
    go(&journal, &record(journal.incarnation(), "{}"));
    sql(&path, "UPDATE intents SET call_digest = 'zz'");
    let error = journal.list(&IntentFilter::last(1)).unwrap_err();
    assert_eq!(error.code(), Code::StoreCorrupt);
    sql(&path, "UPDATE intents SET format = 3");
    assert_eq!(journal.list(&IntentFilter::last(1)).unwrap_err().code(), Code::StoreNewer);
}

#[test]
fn a_store_that_is_removed_or_replaced_under_a_gate_takes_no_more_records() {
    for (suffix, replaced) in [("", false), ("", true), ("-wal", false), ("-shm", false)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.sqlite");
        let journal = gate(&path).unwrap();
        go(&journal, &record(journal.incarnation(), "{}"));
        fs::remove_file(PathBuf::from(format!("{}{suffix}", path.display()))).unwrap();
        let other = replaced.then(|| {
            for suffix in ["-wal", "-shm"] {
                fs::remove_file(PathBuf::from(format!("{}{suffix}", path.display()))).unwrap();
            }
            gate(&path).unwrap()
        });
        let error = open(&journal, &record(journal.incarnation(), "{}")).unwrap_err();
        assert_eq!(error.code(), Code::StoreUnavailable, "{suffix} {replaced}");
        if let Some(other) = other {
            assert_eq!(other.list(&IntentFilter::last(5)).unwrap(), []);
            go(&other, &record(other.incarnation(), "{}"));
        }
    }
}

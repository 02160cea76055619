//! The one thread that writes, and its group commit: everything that waits goes into one transaction, and nobody is
//! answered before that transaction is on the disk.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use callgate_gateway::JournalError;
use callgate_wire::Code;
use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::columns::change;
use super::file::Identity;
use crate::StoreError;
use crate::error::At as _;

/// Jobs in one transaction. Above the calls in flight of an upstream, so that none of them waits for a second one.
const BATCH_MAX: usize = 512;

/// The thread, and the way to it.
#[derive(Debug)]
pub(crate) struct Writer {
    path: PathBuf,
    jobs: Option<SyncSender<Box<dyn Job>>>,
    thread: Option<JoinHandle<()>>,
}

/// Something to write, and somebody who waits for it.
trait Job: Send {
    /// Writes within the batch's transaction.
    fn run(&mut self, connection: &Connection);
    /// Tells the one who waits; `failure` is that of the transaction, if it failed.
    fn answer(self: Box<Self>, failure: Option<&StoreError>);
}

impl Writer {
    /// Starts the thread. The connection has written before, so that all of the store's files are there.
    pub(crate) fn start(connection: Connection, path: &Path) -> Result<Writer, StoreError> {
        let (jobs, receiver) = sync_channel(BATCH_MAX);
        let (thread_path, identity) = (path.to_owned(), Identity::of(path));
        let thread = std::thread::Builder::new()
            .name("callgate-store".to_owned())
            .spawn(move || write_all(&connection, &receiver, &identity, &thread_path))
            .map_err(|error| StoreError::io(path, "start the thread that writes", error))?;
        Ok(Writer { path: path.to_owned(), jobs: Some(jobs), thread: Some(thread) })
    }

    /// Writes and waits until it is on the disk. If `work` errs, nothing of it is written; that spoils no other job.
    pub(crate) fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, JournalError> {
        let (reply, answer) = sync_channel(1);
        let job = Pending { work: Some(work), outcome: None, reply, path: self.path.clone() };
        let ended = || {
            let message = "the thread that writes has ended";
            JournalError::from(StoreError::new(Code::StoreUnavailable, &self.path, message))
        };
        self.jobs.as_ref().ok_or_else(ended)?.send(Box::new(job)).map_err(|_| ended())?;
        answer.recv().map_err(|_| ended())?
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has said so; there is nobody left to tell.
            let _ = thread.join();
        }
    }
}

fn write_all(connection: &Connection, jobs: &Receiver<Box<dyn Job>>, identity: &Identity, path: &Path) {
    while let Ok(first) = jobs.recv() {
        let mut batch = vec![first];
        batch.extend(jobs.try_iter().take(BATCH_MAX - 1));
        let written = write_batch(connection, &mut batch, identity, path);
        if let Err(error) = &written {
            tracing::error!(code = %error.code(), jobs = batch.len(), "a transaction failed: {error}");
        }
        for job in batch {
            job.answer(written.as_ref().err());
        }
    }
}

fn write_batch(
    connection: &Connection,
    batch: &mut [Box<dyn Job>],
    identity: &Identity,
    path: &Path,
) -> Result<(), StoreError> {
    // IMMEDIATE takes the right to write before anything is read, so that no reading has to be thrown away.
    connection.execute_batch("BEGIN IMMEDIATE").at(path)?;
    for job in batch.iter_mut() {
        job.run(connection);
        // SQLite takes a whole transaction back by itself when the disk is full or fails.
        if connection.is_autocommit() {
            return Err(StoreError::new(Code::StoreUnavailable, path, "the disk is full or failed"));
        }
    }
    let commit = || connection.execute_batch("COMMIT").at(path);
    identity.expect(path).and_then(|()| commit()).inspect_err(|_| {
        // A commit that failed may have left the transaction open; the next one must find none.
        let _ = connection.execute_batch("ROLLBACK");
    })?;
    // Nobody is told that it is recorded if the file went meanwhile.
    identity.expect(path)
}

struct Pending<T, W> {
    work: Option<W>,
    outcome: Option<Result<T, JournalError>>,
    reply: SyncSender<Result<T, JournalError>>,
    path: PathBuf,
}

impl<T, W> Job for Pending<T, W>
where
    T: Send,
    W: FnOnce(&Connection) -> Result<T, JournalError> + Send,
{
    fn run(&mut self, connection: &Connection) {
        let Some(work) = self.work.take() else { return };
        self.outcome = Some(in_savepoint(connection, &self.path, work));
    }

    fn answer(self: Box<Self>, failure: Option<&StoreError>) {
        let answer = match (failure, self.outcome) {
            (Some(error), _) => Err(error.clone().into()),
            (None, Some(outcome)) => outcome,
            (None, None) => {
                Err(StoreError::new(Code::StoreUnavailable, &self.path, "the job was not run").into())
            }
        };
        // One who no longer waits is one whose thread has ended.
        let _ = self.reply.send(answer);
    }
}

fn in_savepoint<T>(
    connection: &Connection,
    path: &Path,
    work: impl FnOnce(&Connection) -> Result<T, JournalError>,
) -> Result<T, JournalError> {
    change(connection, path, "SAVEPOINT job", ())?;
    let outcome = work(connection);
    if !connection.is_autocommit() {
        if outcome.is_err() {
            change(connection, path, "ROLLBACK TO job", ())?;
        }
        change(connection, path, "RELEASE job", ())?;
    }
    outcome
}

/// Writes one thing in a transaction of its own, without a thread, and returns when it is on the disk.
pub(super) fn write_one<T>(
    connection: &Connection,
    path: &Path,
    work: impl FnOnce(&Connection) -> Result<T, JournalError>,
) -> Result<T, JournalError> {
    // Dropped without a commit, it takes everything back.
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate).at(path)?;
    let done = work(&transaction)?;
    transaction.commit().at(path)?;
    Ok(done)
}

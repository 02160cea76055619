//! The one thread that writes: commands that wait at the same time share a transaction.
//!
//! A transaction of its own for each command, on as many connections, was measured and is slower: the server groups the
//! flushes of its log, but each command then pays for its own plans, round trips and wake-ups, and the transactions of
//! one gate stand in each other's way. See `docs/decisions`.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use callgate_gateway::JournalError;
use callgate_gateway::journal::{Answer, Command};
use callgate_wire::Code;

use super::place::PostgresPlace;
use super::worker::{Identity, Worker};

/// The most commands of one transaction.
const BATCH_MAX: usize = 256;
/// Bytes of arguments and results beyond which a transaction takes no further command: the protocol's messages end at a
/// gigabyte.
const BATCH_BYTES_MAX: usize = 64 << 20;

struct Job {
    command: Command,
    reply: SyncSender<Result<Answer, JournalError>>,
}

/// The thread that writes. Dropping it waits for what was begun.
#[derive(Debug)]
pub(super) struct Writer {
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts it, and returns when it is connected.
    pub(super) fn start(place: &Arc<PostgresPlace>, identity: Identity) -> Result<Writer, JournalError> {
        let (jobs, waiting) = channel();
        let (opened, told) = sync_channel(1);
        let (renewal, place) = (place.renewal(), Arc::clone(place));
        // What an operator says is rare, and each of it has its own look at gates that are gone.
        let batch_max = if matches!(identity, Identity::Operator) { 1 } else { BATCH_MAX };
        // All of it happens on a thread of its own: the caller's may be one that must not wait inside a runtime.
        let work = move || match Worker::open(place, identity) {
            Ok(worker) => {
                let _ = opened.send(Ok(()));
                write_all(worker, &waiting, renewal, batch_max);
            }
            Err(error) => {
                let _ = opened.send(Err(error));
            }
        };
        let thread = std::thread::Builder::new().name("callgate-store".to_owned()).spawn(work);
        let thread = thread.map_err(|error| {
            JournalError::new(Code::StoreUnavailable, "failed to start the thread that writes")
                .caused_by(error)
        })?;
        told.recv().unwrap_or_else(|_| Err(ended()))?;
        Ok(Writer { jobs: Some(jobs), thread: Some(thread) })
    }

    /// Has a command done, and waits until it is durable.
    pub(super) fn commit(&self, command: Command) -> Result<Answer, JournalError> {
        let (reply, answer) = sync_channel(1);
        let jobs = self.jobs.as_ref().ok_or_else(ended)?;
        jobs.send(Job { command, reply }).map_err(|_| ended())?;
        answer.recv().unwrap_or_else(|_| Err(ended()))
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

#[cold]
fn ended() -> JournalError {
    JournalError::new(Code::StoreUnavailable, "the thread that writes has ended")
}

fn write_all(mut worker: Worker, waiting: &Receiver<Job>, renewal: Duration, batch_max: usize) {
    loop {
        match waiting.recv_timeout(renewal) {
            Ok(first) => {
                let (commands, replies): (Vec<_>, Vec<_>) =
                    gather(first, waiting, batch_max).into_iter().map(|job| (job.command, job.reply)).unzip();
                let outcomes = worker.run(&commands);
                for (reply, outcome) in replies.into_iter().zip(outcomes) {
                    // One who no longer waits is one whose thread has ended.
                    let _ = reply.send(outcome);
                }
            }
            // Nothing to do but to show that the gate lives.
            Err(RecvTimeoutError::Timeout) => drop(worker.run(&[])),
            Err(RecvTimeoutError::Disconnected) => return worker.close(),
        }
    }
}

/// The commands that wait now.
fn gather(first: Job, waiting: &Receiver<Job>, batch_max: usize) -> Vec<Job> {
    let mut bytes = weight(&first.command);
    let mut batch = vec![first];
    while batch.len() < batch_max && bytes < BATCH_BYTES_MAX {
        let Ok(job) = waiting.try_recv() else { break };
        bytes += weight(&job.command);
        batch.push(job);
    }
    batch
}

/// The bytes of a command that can be many.
fn weight(command: &Command) -> usize {
    match command {
        Command::Open(request) => request.record.arguments.len(),
        Command::Settle { result, .. } => result.as_ref().map_or(0, |result| result.len()),
        Command::Publish(request) => request.tools.iter().map(|tool| tool.definition.len()).sum(),
        Command::Recover { .. } | Command::Decide(_) | Command::Reconcile(_) | Command::Accept(_) => 0,
    }
}

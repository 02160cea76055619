//! Transactions are made, tried again, and found again when their answer was lost.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::sync::Arc;
use std::time::Duration;

use callgate_gateway::JournalError;
use callgate_gateway::journal::{Answer, Command};
use callgate_wire::{Code, IntentState, Settlement, SideEffect};
use tokio::runtime::Runtime;

use super::batch::Batch;
use super::connect::{connect, expect_durable};
use super::error::Failure;
use super::line::{Line, Uncommitted, Write};
use super::place::PostgresPlace;
use super::prefetch::{self, Found, Lease};
use super::sql::{Query, in_schema};
use super::{migrate, rows};

/// How often a transaction is tried that others are in the way of, or whose connection breaks.
const TRIES_MAX: u32 = 40;
/// The longest wait between two tries; the first is of one millisecond at most, and each at most twice the one before.
const BACK_OFF_MS_MAX: u64 = 64;
/// How long a server is waited for that cannot be reached. A server that was killed is back before that; callers get an
/// answer before their own patience ends.
const UNREACHABLE_MS_MAX: u64 = 5_000;
/// How long between two tries to reach it.
const REACH_MS: u64 = 100;
/// Outcomes that wait to be recorded while the server cannot be reached.
const OWED_MAX: usize = 16_384;

type Outcome = Result<Answer, JournalError>;

/// The one who makes the transactions of a gate or an operator.
#[derive(Debug)]
pub(super) struct Worker {
    runtime: Arc<Runtime>,
    place: Arc<PostgresPlace>,
    line: Option<Line>,
    /// The name under which its transactions are numbered.
    writer: String,
    number: i64,
    /// Whether the row with the number is there.
    entered: bool,
    lease: Option<Lease>,
    /// What has to be recorded before anything else, since nobody was told that it is: see [`Worker::owe`].
    owed: Vec<Command>,
}

/// Who writes.
#[derive(Debug, Clone)]
pub(super) enum Identity {
    /// A gate, with its process and the moment of its start.
    Gate { lease: Lease, pid: u32, started_at: i64 },
    /// An operator.
    Operator,
}

impl Worker {
    /// Connects, looks whether the server can be relied on, makes the store where a gate finds none, and enters the gate.
    pub(super) fn open(place: Arc<PostgresPlace>, identity: Identity) -> Result<Worker, JournalError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| {
            JournalError::new(Code::StoreUnavailable, "failed to start the store's runtime").caused_by(error)
        })?;
        let runtime = Arc::new(runtime);
        let opened = runtime.block_on(open(Arc::clone(&runtime), &place, &identity));
        let (line, writer, entered) = opened.map_err(Failure::into_error)?;
        let lease = match identity {
            Identity::Gate { lease, .. } => Some(lease),
            Identity::Operator => None,
        };
        Ok(Worker { runtime, place, line: Some(line), writer, number: 0, entered, lease, owed: Vec::new() })
    }

    /// Runs commands in one transaction, or each in its own where one of them cannot be taken; with none, only looks
    /// after the lease.
    pub(super) fn run(&mut self, commands: &[Command]) -> Vec<Outcome> {
        let owed = std::mem::take(&mut self.owed);
        let all: Vec<&Command> = owed.iter().chain(commands).collect();
        match self.transact(&all) {
            Ok(mut outcomes) => outcomes.split_off(owed.len().min(outcomes.len())),
            Err(Failure::Refused(error)) if all.len() < 2 => repeated(error, commands.len()),
            Err(Failure::Refused(_)) => {
                // One of them has something that the server does not take. The others must not suffer.
                for command in &owed {
                    if let Err(failure) = self.transact(&[command]) {
                        tracing::error!("an outcome cannot be recorded: {}", failure.into_error());
                    }
                }
                commands.iter().map(|command| self.alone(command)).collect()
            }
            Err(Failure::Conflict(error) | Failure::Lost(error) | Failure::Unknown(error)) => {
                let owed = owed.into_iter().chain(commands.iter().cloned());
                self.owe(owed.collect());
                repeated(error, commands.len())
            }
        }
    }

    fn alone(&mut self, command: &Command) -> Outcome {
        match self.transact(&[command]) {
            Ok(outcomes) => {
                outcomes.into_iter().next().unwrap_or_else(|| Err(Failure::silent().into_error()))
            }
            Err(failure) => {
                if !matches!(failure, Failure::Refused(_)) {
                    self.owe(vec![command.clone()]);
                }
                Err(failure.into_error())
            }
        }
    }

    /// Keeps what has to be made true as soon as the server is back: an outcome that the gate knows, and that a call did
    /// not leave although its intent may have been recorded without a word.
    fn owe(&mut self, commands: Vec<Command>) {
        self.owed.extend(commands.into_iter().filter_map(|command| match command {
            Command::Settle { .. } => Some(command),
            Command::Open(request) => {
                let intent = request.record.intent;
                let settlement = Settlement {
                    state: IntentState::Refused,
                    side_effect: SideEffect::None,
                    in_doubt: false,
                    code: Some(Code::StoreUnavailable),
                    result_bytes: None,
                    is_error: None,
                    at: intent.opened_at,
                };
                Some(Command::Settle { id: intent.id, fence: intent.fence, settlement, result: None })
            }
            _ => None,
        }));
        self.owed.truncate(OWED_MAX);
    }

    fn transact(&mut self, commands: &[&Command]) -> Result<Vec<Outcome>, Failure> {
        let mut tries = 0;
        loop {
            let failure = match self.try_once(commands) {
                Ok(outcomes) => return Ok(outcomes),
                Err(failure @ (Failure::Refused(_) | Failure::Unknown(_))) => return Err(failure),
                Err(failure) => failure,
            };
            tries += 1;
            if tries >= TRIES_MAX {
                return Err(failure);
            }
            match failure {
                Failure::Lost(_) => self.reach()?,
                _ => back_off(tries),
            }
        }
    }

    fn try_once(&mut self, commands: &[&Command]) -> Result<Vec<Outcome>, Failure> {
        if self.line.as_ref().is_none_or(Line::is_closed) {
            self.reach()?;
        }
        self.enter()?;
        self.number += 1;
        let number = self.number;
        let Some(line) = &self.line else { return Err(Failure::silent()) };
        match transaction(line, commands, self.lease.as_ref(), &self.writer, number) {
            Ok(outcomes) => Ok(outcomes),
            Err(Fault::Before(failure)) => {
                self.clear(&failure);
                Err(failure)
            }
            Err(Fault::AtCommit(failure, outcomes)) => {
                tracing::warn!("the answer to a commit was lost, and is looked for: {}", failure.error());
                self.line = None;
                match self.was_committed(number) {
                    Ok(true) => Ok(outcomes),
                    Ok(false) => Err(failure),
                    Err(silent) => Err(Failure::Unknown(silent.into_error())),
                }
            }
        }
    }

    /// Makes the connection fit for the next transaction, or lets go of it.
    fn clear(&mut self, failure: &Failure) {
        let lost = matches!(failure, Failure::Lost(_));
        if lost || self.line.as_ref().is_some_and(|line| line.roll_back().is_err()) {
            self.line = None;
        }
    }

    /// Whether the transaction of this number was committed, asked on another connection. Waits for it to end if the
    /// server still works on it.
    fn was_committed(&mut self, number: i64) -> Result<bool, Failure> {
        let mut tries = 0;
        loop {
            self.reach()?;
            let sql =
                in_schema("SELECT number FROM @commits WHERE writer = $1 FOR UPDATE", self.place.schema());
            let found = match &self.line {
                Some(line) => line.ask(&sql, &[&self.writer]),
                None => Err(Failure::silent()),
            };
            match found {
                Ok(found) => {
                    let last: Option<i64> =
                        found.first().map(|row| rows::column(row, 0, "a number")).transpose()?;
                    return Ok(last == Some(number));
                }
                Err(failure @ Failure::Refused(_)) => return Err(failure),
                Err(failure) => {
                    tries += 1;
                    if tries >= TRIES_MAX {
                        return Err(failure);
                    }
                    self.clear(&failure);
                    back_off(tries);
                }
            }
        }
    }

    /// Makes sure that there is a row to number the transactions in: one that is only being made cannot be waited for.
    fn enter(&mut self) -> Result<(), Failure> {
        let Some(line) = self.line.as_ref().filter(|_| !self.entered) else { return Ok(()) };
        line.ask(&in_schema(ENTER, self.place.schema()), &[&self.writer])
            .inspect_err(|_| self.line = None)?;
        self.entered = true;
        Ok(())
    }

    /// Makes a connection where there is none.
    fn reach(&mut self) -> Result<(), Failure> {
        if self.line.as_ref().is_some_and(|line| !line.is_closed()) {
            return Ok(());
        }
        self.line = None;
        let patience = Duration::from_millis(UNREACHABLE_MS_MAX);
        let reached = self.runtime.block_on(async {
            let last = std::cell::RefCell::new(None);
            let reaching = async {
                loop {
                    match reach(Arc::clone(&self.runtime), &self.place).await {
                        Err(Failure::Lost(error)) => *last.borrow_mut() = Some(error),
                        outcome => return outcome,
                    }
                    tokio::time::sleep(Duration::from_millis(REACH_MS)).await;
                }
            };
            let reached = tokio::time::timeout(patience, reaching).await;
            reached.unwrap_or_else(|_| Err(last.take().map_or_else(Failure::silent, Failure::Lost)))
        });
        let line = self.line.insert(reached?);
        if let Some(Lease { incarnation, length, .. }) = &self.lease {
            // The server was away, and with it the clock of the lease. Unless somebody has taken over, the gate goes on.
            let sql = "UPDATE @incarnations SET lease_until = now() + $2 * interval '1 second' \
                       WHERE id = $1 AND ended_at IS NULL";
            line.ask(&in_schema(sql, self.place.schema()), &[&incarnation.as_str(), length])?;
        }
        Ok(())
    }

    /// Says that this writer ends: the lease is given back, so that nobody waits for it to pass.
    pub(super) fn close(self) {
        let Some(line) = self.line.as_ref().filter(|line| !line.is_closed()) else { return };
        let schema = self.place.schema();
        if let Some(lease) = &self.lease {
            let sql = "UPDATE @incarnations SET lease_until = now() WHERE id = $1 AND ended_at IS NULL";
            let _ = line.ask(&in_schema(sql, schema), &[&lease.incarnation.as_str()]);
        }
        if self.entered {
            let _ = line.ask(&in_schema("DELETE FROM @commits WHERE writer = $1", schema), &[&self.writer]);
        }
    }
}

/// Makes the row for the numbers of a writer, and forgets those of writers who were killed long ago.
const ENTER: &str = "WITH forgotten AS (DELETE FROM @commits WHERE at < now() - interval '7 days') \
     INSERT INTO @commits (writer, number, at) VALUES ($1, 0, now()) ON CONFLICT (writer) DO NOTHING";

/// How a transaction went wrong.
enum Fault {
    /// Before its commit was sent, or it was taken back for certain.
    Before(Failure),
    /// Nobody knows. If it was committed, these are the answers.
    AtCommit(Failure, Vec<Outcome>),
}

fn transaction(
    line: &Line,
    commands: &[&Command],
    lease: Option<&Lease>,
    writer: &str,
    number: i64,
) -> Result<Vec<Outcome>, Fault> {
    let (known, found) = prefetch::begin(line, commands, lease).map_err(Fault::Before)?;
    let mut batch = Batch::new(line, known);
    if let (None, [command]) = (lease, commands) {
        batch = batch.for_operator(command);
    }
    let mut outcomes = Vec::with_capacity(commands.len());
    for command in commands {
        outcomes.push(command.run(&mut batch));
        if let Some(failure) = batch.failure() {
            return Err(Fault::Before(failure));
        }
    }
    let wrote = batch.wrote();
    let (known, pending) = batch.into_pending();
    let mut writes = pending.statements(&known);
    if wrote {
        writes.push(Write { query: Query::Number, params: vec![Box::new(writer), Box::new(number)] });
    }
    if let Some(lease) = lease.filter(|_| matches!(found, Some(Found::Due | Found::Passed))) {
        let params: Vec<Box<dyn tokio_postgres::types::ToSql + Sync>> =
            vec![Box::new(lease.incarnation.as_str()), Box::new(lease.length)];
        writes.push(Write { query: Query::MoveLease, params });
    }
    if found == Some(Found::Passed) {
        tracing::warn!(
            "the lease of this gate had passed: it did not reach the store, or did not move, for too long"
        );
    }
    match line.commit(&writes) {
        Ok(()) => Ok(outcomes),
        Err(Uncommitted::TakenBack(failure)) => Err(Fault::Before(failure)),
        // Nothing was to be written: whatever became of it, it may be done again.
        Err(Uncommitted::Unknown(failure)) if !wrote => Err(Fault::Before(failure)),
        Err(Uncommitted::Unknown(failure)) => Err(Fault::AtCommit(failure, outcomes)),
    }
}

async fn reach(runtime: Arc<Runtime>, place: &PostgresPlace) -> Result<Line, Failure> {
    let client = connect(place).await?;
    let level = expect_durable(&client).await?;
    Line::new(runtime, client, place, level).await
}

async fn open(
    runtime: Arc<Runtime>,
    place: &PostgresPlace,
    identity: &Identity,
) -> Result<(Line, String, bool), Failure> {
    let mut client = connect(place).await?;
    let level = expect_durable(&client).await?;
    let schema = place.schema();
    let (writer, entered) = match identity {
        Identity::Gate { lease, pid, started_at } => {
            migrate::make(&mut client, schema).await?;
            let id = lease.incarnation.as_str();
            client.execute(&in_schema(ENTER, schema), &[&id]).await?;
            let sql = "INSERT INTO @incarnations (id, pid, started_at, lease_until) \
                       VALUES ($1, $2, $3, now() + $4 * interval '1 second')";
            let (pid, sql) = (i64::from(*pid), in_schema(sql, schema));
            client.execute(&sql, &[&id, &pid, started_at, &lease.length]).await?;
            (id.to_owned(), true)
        }
        Identity::Operator => {
            migrate::expect(&mut client, schema).await?;
            let row = client.query_one("SELECT gen_random_uuid()::text", &[]).await?;
            (rows::column(&row, 0, "an id")?, false)
        }
    };
    Ok((Line::new(runtime, client, place, level).await?, writer, entered))
}

fn repeated(error: JournalError, times: usize) -> Vec<Outcome> {
    vec![Err(error); times]
}

/// Waits a little, by chance longer or shorter than others who were in the way wait.
fn back_off(tries: u32) {
    let longest_us = (1000_u64 << tries.min(6)).min(BACK_OFF_MS_MAX * 1000);
    let chance = RandomState::new().hash_one(tries) % longest_us;
    std::thread::sleep(Duration::from_micros(chance));
}

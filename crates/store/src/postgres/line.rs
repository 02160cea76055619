//! One connection on which transactions are made, and what goes to and fro on it.
//!
//! Statements are sent without waiting for the answers to those before, so that what belongs together is one round trip.
//! The server works through them in the order in which they were sent, and after a fault ignores the rest.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{join, join_all};
use tokio::runtime::Runtime;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row};

use super::connect::CommitLevel;
use super::error::Failure;
use super::place::PostgresPlace;
use super::sql::{Query, Statements};

/// How long the server may take to answer what is sent at once. Above any wait for another gate's locks, which the server
/// itself ends after a quarter of a lease.
pub(super) const REPLY_MS_MAX: u64 = 15_000;
/// Statements on their way at once.
const FLIGHT_MAX: usize = 24;

/// The parameters of a statement.
pub(super) type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

/// A statement with its parameters.
#[derive(Debug)]
pub(super) struct Write<'a> {
    pub(super) query: Query,
    pub(super) params: Vec<Box<dyn ToSql + Sync + 'a>>,
}

impl Write<'_> {
    fn params(&self) -> Vec<&(dyn ToSql + Sync)> {
        self.params.iter().map(|param| &**param as _).collect()
    }
}

/// How a commit went wrong.
#[derive(Debug)]
pub(super) enum Uncommitted {
    /// The server took everything back.
    TakenBack(Failure),
    /// Nobody can say: the answer did not come.
    Unknown(Failure),
}

/// A connection with its statements.
#[derive(Debug)]
pub(super) struct Line {
    runtime: Arc<Runtime>,
    client: Client,
    statements: Statements,
    begin: String,
}

impl Line {
    /// Makes a connection ready, on which the schema must be up to date.
    pub(super) async fn new(
        runtime: Arc<Runtime>,
        client: Client,
        place: &PostgresPlace,
        level: CommitLevel,
    ) -> Result<Line, Failure> {
        let statements = Statements::prepare(&client, place.schema()).await?;
        // Each transaction says for itself what it needs, whatever a proxy does with sessions. An index is asked also in
        // small tables: a look at a whole table would stand in the way of every gate that writes to it.
        let begin = format!(
            "BEGIN ISOLATION LEVEL SERIALIZABLE; SET LOCAL synchronous_commit = {}; \
             SET LOCAL idle_in_transaction_session_timeout = {}; SET LOCAL enable_seqscan = off",
            level.as_str(),
            place.idle_ms_max()
        );
        Ok(Line { runtime, client, statements, begin })
    }

    /// Whether there is no use in sending anything more.
    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Begins a transaction and reads.
    pub(super) fn begin(&self, reads: &[Write<'_>]) -> Result<Vec<Vec<Row>>, Failure> {
        self.wait(async {
            let reads = join_all(reads.iter().map(|read| self.query(read)));
            let (begun, rows) = join(self.client.batch_execute(&self.begin), reads).await;
            begun?;
            rows.into_iter().collect()
        })
    }

    /// Reads.
    pub(super) fn rows(&self, query: Query, params: Params<'_>) -> Result<Vec<Row>, Failure> {
        self.wait(async { Ok(self.client.query(self.statements.of(query), params).await?) })
    }

    /// Writes.
    pub(super) fn all(&self, writes: &[Write<'_>]) -> Result<(), Failure> {
        self.wait(async {
            for some in writes.chunks(FLIGHT_MAX) {
                first_fault(join_all(some.iter().map(|write| self.execute(write))).await)?;
            }
            Ok(())
        })
    }

    /// Writes and commits.
    pub(super) fn commit(&self, writes: &[Write<'_>]) -> Result<(), Uncommitted> {
        let (most, last) = writes.split_at(writes.len().saturating_sub(FLIGHT_MAX));
        self.all(most).map_err(Uncommitted::TakenBack)?;
        let outcome = self.wait(async {
            let writes = join_all(last.iter().map(|write| self.execute(write)));
            // After a fault of a statement the server answers COMMIT by taking everything back, without a fault.
            let (written, committed) = join(writes, self.client.batch_execute("COMMIT")).await;
            Ok(first_fault(written).and_then(|()| Ok(committed?)))
        });
        match outcome.and_then(|outcome| outcome) {
            Ok(()) => Ok(()),
            Err(failure @ Failure::Lost(_)) => Err(Uncommitted::Unknown(failure)),
            Err(failure) => Err(Uncommitted::TakenBack(failure)),
        }
    }

    /// Takes a transaction back that is not at its end.
    pub(super) fn roll_back(&self) -> Result<(), Failure> {
        self.wait(async { Ok(self.client.batch_execute("ROLLBACK").await?) })
    }

    /// Asks something outside any transaction.
    pub(super) fn ask(&self, sql: &str, params: Params<'_>) -> Result<Vec<Row>, Failure> {
        self.wait(async { Ok(self.client.query(sql, params).await?) })
    }

    async fn query(&self, read: &Write<'_>) -> Result<Vec<Row>, Failure> {
        Ok(self.client.query(self.statements.of(read.query), &read.params()).await?)
    }

    async fn execute(&self, write: &Write<'_>) -> Result<u64, Failure> {
        Ok(self.client.execute(self.statements.of(write.query), &write.params()).await?)
    }

    fn wait<T>(&self, asked: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
        let patience = Duration::from_millis(REPLY_MS_MAX);
        let answered = self.runtime.block_on(async { tokio::time::timeout(patience, asked).await });
        answered.unwrap_or_else(|_| Err(Failure::silent()))
    }
}

/// The first fault is the cause of the others, unless the connection broke: then nothing is known.
fn first_fault(outcomes: Vec<Result<u64, Failure>>) -> Result<(), Failure> {
    let mut first = None;
    for outcome in outcomes {
        match outcome {
            Ok(_) => {}
            Err(failure @ Failure::Lost(_)) => return Err(failure),
            Err(failure) => first = first.or(Some(failure)),
        }
    }
    first.map_or(Ok(()), Err)
}

//! The versions of the schema: forward only, all steps in one transaction, and a newer store is refused.

use std::time::Duration;

use callgate_gateway::JournalError;
use callgate_wire::Code;
use tokio_postgres::Client;

use super::error::Failure;
use super::rows;
use super::sql::in_schema;

/// Stands in a store of this program.
const MARK: &str = "callgate";

/// The steps; the version of a store is how many of them it has seen. A step is never changed once it was released.
const STEPS: &[&str] = &[include_str!("sql/001-records.sql")];

/// The version that this program writes.
#[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "there are a few steps")]
const VERSION: i32 = STEPS.len() as i32;

/// How often a gate tries while others do the same.
const TRIES_MAX: u32 = 50;
/// How long between two tries.
const TRY_MS: u64 = 50;

/// What a schema is to this program.
#[derive(Debug, PartialEq, Eq)]
enum State {
    /// There is none.
    Absent,
    /// There is one, and nothing in it.
    Empty,
    /// A store of this version.
    Version(i32),
}

/// Expects a store that is there, and brings it up to date if it is older.
///
/// # Errors
///
/// `store-unavailable` if there is none, `store-corrupt` if the schema is another program's, `store-newer`.
pub(super) async fn expect(client: &mut Client, schema: &str) -> Result<(), Failure> {
    match state(client, schema).await? {
        State::Absent | State::Empty => {
            let message =
                format!("there is no store in the schema `{schema}`; a gate that is started there makes it");
            Err(Failure::Refused(JournalError::new(Code::StoreUnavailable, message)))
        }
        State::Version(VERSION) => Ok(()),
        State::Version(_) => make(client, schema).await,
    }
}

/// Makes the store if there is none, and brings it up to date. Several gates may try at once: one does it.
///
/// # Errors
///
/// As of [`expect`], and if the user may not make it.
pub(super) async fn make(client: &mut Client, schema: &str) -> Result<(), Failure> {
    let mut tries = 0;
    loop {
        match step(client, schema).await {
            Err(failure) if tries < TRIES_MAX && is_race(&failure) => {
                tries += 1;
                tokio::time::sleep(Duration::from_millis(TRY_MS)).await;
            }
            outcome => return outcome.map_err(Race::into_failure),
        }
    }
}

/// A failure, and its SQLSTATE.
#[derive(Debug)]
enum Race {
    Server(tokio_postgres::Error),
    Other(Failure),
}

impl Race {
    fn into_failure(self) -> Failure {
        match self {
            Race::Server(error) => error.into(),
            Race::Other(failure) => failure,
        }
    }
}

impl From<tokio_postgres::Error> for Race {
    fn from(error: tokio_postgres::Error) -> Race {
        Race::Server(error)
    }
}

/// Whether another gate was making the same things: two that make one name meet in the server's own catalogs.
fn is_race(failure: &Race) -> bool {
    let Race::Server(error) = failure else { return false };
    let state = error.code().map_or("", |state| state.code());
    matches!(state, "40001" | "40P01" | "23505" | "42P06" | "42P07" | "42710" | "XX000" | "42P01")
}

async fn step(client: &mut Client, schema: &str) -> Result<(), Race> {
    let state = state(client, schema).await.map_err(Race::Other)?;
    if state == State::Version(VERSION) {
        return Ok(());
    }
    let transaction = client
        .build_transaction()
        .isolation_level(tokio_postgres::IsolationLevel::Serializable)
        .start()
        .await?;
    transaction.batch_execute("SET LOCAL synchronous_commit = on").await?;
    let done = match state {
        State::Absent | State::Empty => {
            if state == State::Absent {
                transaction.batch_execute(&format!("CREATE SCHEMA \"{schema}\"")).await?;
            }
            let table = "CREATE TABLE @store (mark text PRIMARY KEY, version integer NOT NULL)";
            transaction.batch_execute(&in_schema(table, schema)).await?;
            let row = in_schema("INSERT INTO @store (mark, version) VALUES ($1, 0)", schema);
            transaction.execute(&row, &[&MARK]).await?;
            0
        }
        State::Version(_) => {
            // Whoever comes second waits here, and then finds that the row has changed.
            let row = in_schema("SELECT version FROM @store WHERE mark = $1 FOR UPDATE", schema);
            transaction.query_one(&row, &[&MARK]).await?.try_get(0)?
        }
    };
    for text in STEPS.iter().skip(usize::try_from(done).unwrap_or_default()) {
        transaction.batch_execute(&in_schema(text, schema)).await?;
    }
    let row = in_schema("UPDATE @store SET version = $2 WHERE mark = $1", schema);
    transaction.execute(&row, &[&MARK, &VERSION]).await?;
    Ok(transaction.commit().await?)
}

async fn state(client: &Client, schema: &str) -> Result<State, Failure> {
    let sql = "SELECT (SELECT count(*) FROM information_schema.schemata WHERE schema_name = $1), \
               (SELECT count(*) FROM information_schema.tables WHERE table_schema = $1), \
               (SELECT count(*) FROM information_schema.columns WHERE table_schema = $1 AND table_name = 'store' AND \
               column_name IN ('mark', 'version'))";
    let row = client.query_one(sql, &[&schema]).await?;
    let count = |at| rows::column::<i64>(&row, at, "a number");
    match (count(0)?, count(1)?, count(2)?) {
        (0, _, _) => return Ok(State::Absent),
        (_, 0, _) => return Ok(State::Empty),
        (_, _, 2) => {}
        _ => return Err(foreign(schema)),
    }
    let sql = in_schema("SELECT version FROM @store WHERE mark = $1", schema);
    let Some(row) = client.query_opt(&sql, &[&MARK]).await? else { return Err(foreign(schema)) };
    let version: i32 = rows::column(&row, 0, "a version")?;
    if version > VERSION {
        let message =
            format!("expected version {VERSION} or older, found version {version} of a newer program");
        return Err(Failure::Refused(JournalError::new(Code::StoreNewer, message)));
    }
    Ok(State::Version(version))
}

#[cold]
fn foreign(schema: &str) -> Failure {
    let message = format!("expected a store in the schema `{schema}`, found the tables of another program");
    Failure::Refused(JournalError::new(Code::StoreCorrupt, message))
}

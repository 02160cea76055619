//! A connection is made, and the server is asked whether its word can be relied on.

use callgate_gateway::JournalError;
use callgate_wire::Code;
use tokio_postgres::Client;

use super::error::Failure;
use super::place::PostgresPlace;
use super::rows;

/// What `synchronous_commit` is set to in each transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CommitLevel {
    /// A commit is answered when it is on the disk, and on that of standbys that the server waits for.
    On,
    /// And when those show it.
    RemoteApply,
}

impl CommitLevel {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            CommitLevel::On => "on",
            CommitLevel::RemoteApply => "remote_apply",
        }
    }
}

/// Connects. What comes in on the connection is read in a task of the runtime that this runs in.
pub(super) async fn connect(place: &PostgresPlace) -> Result<Client, Failure> {
    let tls = place.tls().connector().map_err(Failure::Refused)?;
    let (client, connection) = place.config().connect(tls).await?;
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            // Whoever uses the connection learns of it too, and says what it means.
            tracing::debug!("a connection to the store ended: {}", Failure::from(error).into_error());
        }
    });
    Ok(client)
}

/// Asks whether what the server calls committed is on its disk.
///
/// # Errors
///
/// `store-unavailable` if it is not.
pub(super) async fn expect_durable(client: &Client) -> Result<CommitLevel, Failure> {
    // A server of another make that does not have a setting does not turn it off.
    let sql = "SELECT current_setting('fsync', true), current_setting('synchronous_commit', true), \
               current_setting('full_page_writes', true)";
    let row = client.query_one(sql, &[]).await?;
    let setting = |at| rows::column::<Option<String>>(&row, at, "a setting");
    let off = |value: &Option<String>| value.as_deref() == Some("off");
    let refuse = |name: &str| {
        let message = format!(
            "the server of the store has `{name}` turned off, so that it can lose what it has confirmed"
        );
        Err(Failure::Refused(JournalError::new(Code::StoreUnavailable, message)))
    };
    if off(&setting(0)?) {
        return refuse("fsync");
    }
    let level = setting(1)?;
    if off(&level) {
        return refuse("synchronous_commit");
    }
    if off(&setting(2)?) {
        tracing::warn!(
            "the server of the store has `full_page_writes` turned off: on most file systems a crash can damage the store"
        );
    }
    Ok(if level.as_deref() == Some("remote_apply") { CommitLevel::RemoteApply } else { CommitLevel::On })
}

//! What is read outside any transaction, on a few connections that are made when they are first needed.

use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use callgate_gateway::intent::Observation;
use callgate_gateway::journal::{
    ApprovalFilter, Counter, EventFilter, IntentFilter, JournalError, PinRecord,
};
use callgate_wire::{Approval, ApprovalRecord, Code, Event, Intent, IntentRecord, Principal, Timestamp};
use deadpool_postgres::{Manager, ManagerConfig, Pool, PoolError, RecyclingMethod, Runtime as PoolRuntime};
use tokio::runtime::Runtime;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::error::Failure;
use super::line::REPLY_MS_MAX;
use super::place::PostgresPlace;
use super::rows::{self, approval_columns, counter_columns, intent_columns, pin_columns};
use super::sql::in_schema;
use super::text::stored;
use crate::COUNTERS_LISTED_MAX;

pub(super) type Owned = Vec<Box<dyn ToSql + Sync + Send>>;

/// Connections that only read.
#[derive(Debug)]
pub(super) struct Reads {
    /// Taken when it is let go of.
    runtime: Option<Runtime>,
    pool: Pool,
    place: Arc<PostgresPlace>,
    /// For who looks beside gates: the moment at which an intent whose gate is gone is shown as what it will be recorded as.
    doubts_at: Option<Timestamp>,
}

impl Drop for Reads {
    fn drop(&mut self) {
        self.pool.close();
        // Not by waiting: the caller's thread may be one of another runtime.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Reads {
    pub(super) fn new(
        place: Arc<PostgresPlace>,
        doubts_at: Option<Timestamp>,
    ) -> Result<Reads, JournalError> {
        let failed = |message: &str| JournalError::new(Code::StoreUnavailable, message);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("callgate-store-reads")
            .enable_all()
            .build()
            .map_err(|error| failed("failed to start the store's runtime").caused_by(error))?;
        let settings = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = Manager::from_config(place.config().clone(), place.tls().connector()?, settings);
        let patience = Some(Duration::from_millis(REPLY_MS_MAX));
        let pool = Pool::builder(manager)
            .max_size(place.readers())
            .runtime(PoolRuntime::Tokio1)
            .wait_timeout(patience)
            .create_timeout(patience)
            .build()
            .map_err(|error| failed("failed to make the store's connections").caused_by(error))?;
        Ok(Reads { runtime: Some(runtime), pool, place, doubts_at })
    }

    /// Reads rows. Once more if a connection turns out to be broken: the server may have been started again meanwhile.
    fn rows(&self, sql: &str, params: impl Fn() -> Owned) -> Result<Vec<Row>, JournalError> {
        let sql = in_schema(sql, self.place.schema());
        let first = self.rows_once(&sql, params());
        let rows = match first {
            Err(Failure::Lost(_)) => self.rows_once(&sql, params()),
            outcome => outcome,
        };
        rows.map_err(Failure::into_error)
    }

    fn rows_once(&self, sql: &str, params: Owned) -> Result<Vec<Row>, Failure> {
        let Some(runtime) = &self.runtime else { return Err(Failure::silent()) };
        let (reply, answer) = sync_channel(1);
        let (pool, sql) = (self.pool.clone(), sql.to_owned());
        // The caller's thread only waits, so that it may be one of whatever runtime.
        runtime.spawn(async move {
            let patience = Duration::from_millis(REPLY_MS_MAX);
            let read = tokio::time::timeout(patience, read(&pool, &sql, &params));
            let _ = reply.send(read.await.unwrap_or_else(|_| Err(Failure::silent())));
        });
        answer.recv().unwrap_or_else(|_| Err(Failure::silent()))
    }

    pub(super) fn decoded<T>(
        &self,
        sql: &str,
        params: impl Fn() -> Owned,
        decode: impl Fn(&Row) -> Result<T, Failure>,
    ) -> Result<Vec<T>, JournalError> {
        let rows = self.rows(sql, params)?;
        rows.iter().map(decode).collect::<Result<_, _>>().map_err(Failure::into_error)
    }

    pub(super) fn list(&self, filter: &IntentFilter) -> Result<Vec<Intent>, JournalError> {
        let IntentFilter { limit, in_doubt, before } = filter;
        // Those that are gone first: an intent that is settled after that is then read as it is.
        let gone = self.gone()?;
        let doubts = match (in_doubt, gone.is_empty()) {
            (false, _) => "$2::text[] IS NOT NULL",
            (true, true) => "in_doubt AND $2::text[] IS NOT NULL",
            // What only reads has had no effect.
            (true, false) => "(in_doubt OR settled_at IS NULL AND NOT read_only AND fence = ANY($2))",
        };
        let earlier = match before {
            Some(_) => "seq < coalesce((SELECT seq FROM @intents WHERE id = $3), 0)",
            None => "true",
        };
        let columns = intent_columns!();
        let sql =
            format!("SELECT {columns} FROM @intents WHERE {doubts} AND {earlier} ORDER BY seq DESC LIMIT $1");
        let params = || {
            let mut params: Owned = vec![Box::new(i64::from(*limit)), Box::new(gone.clone())];
            if let Some(before) = before {
                params.push(Box::new(before.to_string()));
            }
            params
        };
        let mut intents = self.decoded(&sql, params, rows::intent)?;
        for intent in &mut intents {
            self.doubt(intent, &gone);
        }
        Ok(intents)
    }

    /// The lives that have ended without a word, for who looks beside gates.
    fn gone(&self) -> Result<Vec<String>, JournalError> {
        if self.doubts_at.is_none() {
            return Ok(Vec::new());
        }
        let sql = "SELECT id FROM @incarnations WHERE ended_at IS NULL AND lease_until <= now()";
        self.decoded(sql, Vec::new, |row| rows::column(row, 0, "an incarnation's id"))
    }

    /// Shows an intent of a life that is gone as what it will be recorded as.
    fn doubt(&self, intent: &mut Intent, gone: &[String]) {
        if let Some(at) = self.doubts_at
            && intent.settlement.is_none()
            && gone.iter().any(|id| id == intent.fence.as_str())
        {
            intent.settlement = Some(Observation::GateGone.settlement(intent.pinned, at));
        }
    }

    /// The ids that begin with this or, where none does, end with it: two at most.
    fn ids(&self, table: &str, part: &str) -> Result<Vec<String>, JournalError> {
        // Nothing else is in an id, and all of it is below `g`.
        if part.is_empty() || !part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-')) {
            return Ok(Vec::new());
        }
        let id = |row: &Row| rows::column::<String>(row, 0, "an id");
        let params = || -> Owned { vec![Box::new(part.to_owned())] };
        let begins = format!("SELECT id FROM {table} WHERE id >= $1 AND id < $1 || 'g' ORDER BY id LIMIT 2");
        let found = self.decoded(&begins, params, id)?;
        if !found.is_empty() {
            return Ok(found);
        }
        // Ids of the same moment begin alike; it is their ends that differ.
        let ends = format!("SELECT id FROM {table} WHERE right(id, length($1)) = $1 ORDER BY id LIMIT 2");
        self.decoded(&ends, params, id)
    }

    fn one(&self, table: &str, part: &str, ambiguous: Code) -> Result<Option<String>, JournalError> {
        let mut ids = self.ids(table, part)?;
        if ids.len() > 1 {
            let message = format!("expected a part of one id, found several with `{part}`");
            return Err(JournalError::new(ambiguous, message));
        }
        Ok(ids.pop())
    }

    pub(super) fn show(&self, part: &str) -> Result<Option<IntentRecord>, JournalError> {
        let Some(id) = self.one("@intents", part, Code::IntentAmbiguous)? else { return Ok(None) };
        let sql = concat!("SELECT ", intent_columns!(), ", arguments FROM @intents WHERE id = $1");
        let record = |row: &Row| {
            let arguments: Vec<u8> = rows::column(row, 24, "arguments")?;
            Ok(IntentRecord { intent: rows::intent(row)?, arguments: arguments.into() })
        };
        let gone = self.gone()?;
        let mut found = self.decoded(sql, || vec![Box::new(id.clone())], record)?.pop();
        if let Some(record) = &mut found {
            self.doubt(&mut record.intent, &gone);
        }
        Ok(found)
    }

    pub(super) fn approvals(&self, filter: &ApprovalFilter) -> Result<Vec<Approval>, JournalError> {
        let ApprovalFilter { limit, pending_at } = filter;
        let pending = match pending_at {
            Some(_) => "state = 'pending' AND expires_at >= $2",
            None => "true",
        };
        let columns = approval_columns!();
        let sql = format!("SELECT {columns} FROM @approvals WHERE {pending} ORDER BY seq DESC LIMIT $1");
        let params = || {
            let mut params: Owned = vec![Box::new(i64::from(*limit))];
            if let Some(now) = pending_at {
                params.push(Box::new(now.0));
            }
            params
        };
        self.decoded(&sql, params, rows::approval)
    }

    pub(super) fn approval_record(&self, part: &str) -> Result<Option<ApprovalRecord>, JournalError> {
        let Some(id) = self.one("@approvals", part, Code::ApprovalAmbiguous)? else { return Ok(None) };
        let sql = concat!("SELECT ", approval_columns!(), ", arguments FROM @approvals WHERE id = $1");
        Ok(self.decoded(sql, || vec![Box::new(id.clone())], approval_record)?.pop())
    }

    pub(super) fn last_approved(
        &self,
        principal: &Principal,
        upstream: &str,
        tool: &str,
    ) -> Result<Option<ApprovalRecord>, JournalError> {
        let sql = concat!(
            "SELECT ",
            approval_columns!(),
            ", arguments FROM @approvals WHERE state = 'used' AND principal = $1 AND upstream = $2 AND tool = $3 \
             ORDER BY seq DESC LIMIT 1"
        );
        let params = || -> Owned {
            [principal.as_str(), upstream, tool]
                .into_iter()
                .map(|text| Box::new(stored(text).into_owned()) as Box<dyn ToSql + Sync + Send>)
                .collect()
        };
        Ok(self.decoded(sql, params, approval_record)?.pop())
    }

    pub(super) fn counters(&self) -> Result<Vec<Counter>, JournalError> {
        let sql = concat!("SELECT ", counter_columns!(), " FROM @counters ORDER BY charged DESC LIMIT $1");
        self.decoded(sql, || vec![Box::new(i64::from(COUNTERS_LISTED_MAX))], rows::counter)
    }

    pub(super) fn pinned(&self, upstream: Option<&str>) -> Result<Vec<PinRecord>, JournalError> {
        let sql = concat!(
            "SELECT ",
            pin_columns!(),
            ", upstream FROM @pins WHERE $1::text IS NULL OR upstream = $1 ORDER BY upstream, tool"
        );
        let record =
            |row: &Row| Ok(PinRecord { pin: rows::pin(row)?, upstream: rows::text(row, 8, "an upstream")? });
        self.decoded(sql, || vec![Box::new(upstream.map(|text| stored(text).into_owned()))], record)
    }

    pub(super) fn history(&self, filter: &EventFilter) -> Result<Vec<Event>, JournalError> {
        let EventFilter { limit, intent } = filter;
        let about = if intent.is_some() { "intent = $2" } else { "true" };
        let sql = format!(
            "SELECT at, kind, intent, approval, by_whom, detail FROM @events WHERE {about} ORDER BY seq DESC LIMIT $1"
        );
        let params = || {
            let mut params: Owned = vec![Box::new(i64::from(*limit))];
            if let Some(id) = intent {
                params.push(Box::new(id.to_string()));
            }
            params
        };
        self.decoded(&sql, params, rows::event)
    }
}

fn approval_record(row: &Row) -> Result<ApprovalRecord, Failure> {
    let arguments: Vec<u8> = rows::column(row, 17, "arguments")?;
    Ok(ApprovalRecord { approval: rows::approval(row)?, arguments: arguments.into() })
}

async fn read(pool: &Pool, sql: &str, params: &Owned) -> Result<Vec<Row>, Failure> {
    let client = pool.get().await.map_err(|error| match error {
        PoolError::Backend(error) => error.into(),
        _ => Failure::silent(),
    })?;
    let statement = client.prepare_cached(sql).await?;
    let params: Vec<&(dyn ToSql + Sync)> =
        params.iter().map(|param| &**param as &(dyn ToSql + Sync)).collect();
    Ok(client.query(&statement, &params).await?)
}

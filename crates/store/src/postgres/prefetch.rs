//! What the commands of a batch will ask for, read at once as their transaction begins.

use std::borrow::Cow;

use callgate_gateway::journal::{Command, OpenRequest};
use callgate_schema::json::Digest;
use callgate_wire::{Charge, Incarnation, IntentId, Principal};
use tokio_postgres::types::ToSql;

use super::batch::{CounterKey, Known, counter_key};
use super::error::Failure;
use super::line::{Line, Write};
use super::rows;
use super::sql::Query;
use super::text::stored;

/// The lease of a gate, in seconds of the server's clock.
#[derive(Debug, Clone)]
pub(super) struct Lease {
    pub(super) incarnation: Incarnation,
    pub(super) length: f64,
    /// With less than this left it is moved on.
    pub(super) due: f64,
}

/// What was found of the lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// It lasts long enough.
    Fresh,
    /// It is to be moved on.
    Due,
    /// It has passed, and nobody has taken over.
    Passed,
    /// The life has ended: another gate has taken over.
    Ended,
}

/// What commands will ask for.
#[derive(Debug, Default)]
struct Wanted<'a> {
    intents: Vec<&'a IntentId>,
    calls: Vec<(&'a Principal, Digest)>,
    keys: Vec<(&'a Principal, &'a str)>,
    asks: Vec<(&'a Principal, Digest)>,
    counters: Vec<CounterKey>,
}

impl<'a> Wanted<'a> {
    fn of(commands: &[&'a Command]) -> Wanted<'a> {
        let mut wanted = Wanted::default();
        for command in commands {
            match command {
                Command::Open(request) => wanted.open(request),
                Command::Settle { id, .. } => wanted.intents.push(id),
                // These are rare, and read what they need when they need it.
                Command::Recover { .. }
                | Command::Decide(_)
                | Command::Reconcile(_)
                | Command::Publish(_)
                | Command::Accept(_) => {}
            }
        }
        wanted
    }

    fn open(&mut self, request: &'a OpenRequest) {
        let intent = &request.record.intent;
        self.calls.push((&intent.principal, intent.call_digest));
        if let Some(key) = &intent.key {
            self.keys.push((&intent.principal, key));
        }
        if request.ask.is_some() {
            self.asks.push((&intent.principal, intent.call_digest));
        }
        self.counters.extend(request.charges.iter().map(|charge: &Charge| counter_key(charge)));
    }

    fn reads(&self) -> Vec<Write<'_>> {
        let mut reads = Vec::new();
        if !self.intents.is_empty() {
            let ids: Vec<&str> = self.intents.iter().map(|id| id.as_str()).collect();
            reads.push(read(Query::Intents, vec![Box::new(ids.clone())]));
            reads.push(read(Query::Reservations, vec![Box::new(ids)]));
        }
        if !self.calls.is_empty() {
            reads.push(read(Query::Gone, Vec::new()));
            reads.push(read(Query::Twins, of_calls(&self.calls)));
        }
        if !self.keys.is_empty() {
            let (principals, keys): (Vec<_>, Vec<_>) =
                self.keys.iter().map(|(principal, key)| (stored(principal.as_str()), stored(key))).unzip();
            reads.push(read(Query::IntentsOfKeys, vec![Box::new(principals), Box::new(keys)]));
        }
        if !self.asks.is_empty() {
            reads.push(read(Query::ApprovalsFor, of_calls(&self.asks)));
        }
        if !self.counters.is_empty() {
            let budgets: Vec<_> = self.counters.iter().map(|key| stored(&key.0)).collect();
            let scopes: Vec<_> = self.counters.iter().map(|key| stored(&key.1)).collect();
            let windows: Vec<i64> = self.counters.iter().map(|key| key.2).collect();
            reads.push(read(Query::Counters, vec![Box::new(budgets), Box::new(scopes), Box::new(windows)]));
        }
        reads
    }

    /// What was asked for and did not come is known not to be there.
    fn fill(&self, known: &mut Known) {
        for id in &self.intents {
            known.intents.entry((*id).clone()).or_insert(None);
            known.reservations.entry((*id).clone()).or_default();
        }
        for (principal, digest) in &self.calls {
            known.twins.entry(((*principal).clone(), *digest)).or_insert(None);
        }
        for (principal, key) in &self.keys {
            known.keys.entry(((*principal).clone(), (*key).to_owned())).or_insert(None);
        }
        for (principal, digest) in &self.asks {
            known.approvals_for.entry(((*principal).clone(), *digest)).or_default();
        }
        for key in &self.counters {
            known.counters.entry(key.clone()).or_insert(None);
        }
    }
}

fn read(query: Query, params: Vec<Box<dyn ToSql + Sync + '_>>) -> Write<'_> {
    Write { query, params }
}

fn of_calls<'a>(calls: &[(&'a Principal, Digest)]) -> Vec<Box<dyn ToSql + Sync + 'a>> {
    let digests: Vec<String> = calls.iter().map(|(_, digest)| digest.to_string()).collect();
    let mut principals: Vec<Cow<'a, str>> =
        calls.iter().map(|(principal, _)| stored(principal.as_str())).collect();
    principals.sort_unstable();
    principals.dedup();
    vec![Box::new(digests), Box::new(principals)]
}

/// Begins the transaction and reads what the commands will ask for.
pub(super) fn begin(
    line: &Line,
    commands: &[&Command],
    lease: Option<&Lease>,
) -> Result<(Known, Option<Found>), Failure> {
    let wanted = Wanted::of(commands);
    let mut reads = wanted.reads();
    if let Some(Lease { incarnation, due, .. }) = lease {
        reads.push(read(Query::Lease, vec![Box::new(incarnation.as_str()), Box::new(*due)]));
    }
    let answers = line.begin(&reads)?;
    let mut known = Known::default();
    let mut found = None;
    for (read, rows) in reads.iter().zip(&answers) {
        match read.query {
            Query::Lease => found = Some(lease_found(rows)?),
            Query::Gone => known.gone = Some(rows.iter().map(rows::incarnation).collect::<Result<_, _>>()?),
            Query::Reservations => known.learn_reservations(rows)?,
            Query::Counters => {
                for counter in rows.iter().map(rows::counter) {
                    let counter = counter?;
                    known.counters.insert(counter_key(&counter.charge), Some(counter));
                }
            }
            Query::ApprovalsFor => {
                known.learn_approvals(rows.iter().map(rows::approval).collect::<Result<_, _>>()?);
            }
            query => {
                for intent in rows.iter().map(rows::intent) {
                    known.learn_intent(query, intent?);
                }
            }
        }
    }
    wanted.fill(&mut known);
    if let (Some(found), Some(lease)) = (found, lease) {
        known.lasts.insert(lease.incarnation.clone(), matches!(found, Found::Fresh | Found::Due));
    }
    Ok((known, found))
}

fn lease_found(rows: &[tokio_postgres::Row]) -> Result<Found, Failure> {
    let Some(row) = rows.first() else { return Ok(Found::Ended) };
    Ok(match (rows::column(row, 0, "a lease")?, rows::column(row, 1, "a lease")?) {
        (false, _) => Found::Passed,
        (true, true) => Found::Due,
        (true, false) => Found::Fresh,
    })
}

impl Known {
    /// Takes up an intent that was found by its id, its key or its call.
    fn learn_intent(&mut self, query: Query, intent: callgate_wire::Intent) {
        let id = intent.id.clone();
        match (query, &intent.key) {
            (Query::IntentsOfKeys, Some(key)) => {
                self.keys.insert((intent.principal.clone(), key.clone()), Some(id.clone()));
            }
            (Query::Twins, _) => {
                self.twins.insert((intent.principal.clone(), intent.call_digest), Some(id.clone()));
            }
            _ => {}
        }
        self.intents.insert(id, Some(intent));
    }
}

//! Every statement of a transaction that writes, and its text. `@` stands for the schema, so that no statement leans on
//! settings of the session.
//!
//! Many rows are one statement: a batch of sixty calls costs the server one plan and one round trip, not sixty.

use futures_util::future::join_all;
use tokio_postgres::{Client, Statement};

use super::error::Failure;
use super::rows::{approval_columns, counter_columns, intent_columns, pin_columns};

macro_rules! queries {
    ($($(#[$doc:meta])* $name:ident = $text:expr;)*) => {
        /// A statement that is prepared once a connection.
        #[derive(Debug, Clone, Copy)]
        pub(super) enum Query {
            $($(#[$doc])* $name,)*
        }

        impl Query {
            const ALL: &[(Query, &str)] = &[$((Query::$name, $text),)*];
        }
    };
}

queries! {
    /// Whether a life lasts, and whether its lease is due to be moved on: so is one with less than $2 seconds left.
    Lease = "SELECT lease_until > now(), lease_until < now() + $2 * interval '1 second' FROM @incarnations \
        WHERE id = $1 AND ended_at IS NULL";
    Gone = "SELECT id FROM @incarnations WHERE ended_at IS NULL AND lease_until <= now() ORDER BY id";
    Intents = concat!("SELECT ", intent_columns!(), " FROM @intents WHERE id = ANY($1)");
    IntentsOfKeys = concat!("SELECT DISTINCT ON (principal, idempotency_key) ", intent_columns!(), " FROM @intents WHERE \
        idempotency_key IS NOT NULL AND (principal, idempotency_key) IN (SELECT * FROM unnest($1::text[], \
        $2::text[])) ORDER BY principal, idempotency_key, seq DESC");
    Twins = concat!("SELECT DISTINCT ON (principal, call_digest) ", intent_columns!(), " FROM @intents WHERE in_doubt \
        AND call_digest = ANY($1) AND principal = ANY($2) ORDER BY principal, call_digest, seq");
    UnsettledTwins = concat!("SELECT ", intent_columns!(), " FROM @intents WHERE fence = ANY($1) AND settled_at IS NULL \
        AND call_digest = $2 AND principal = $3 ORDER BY seq");
    TriedAs = concat!("SELECT ", intent_columns!(), " FROM @intents WHERE tried_as = $1");
    Unsettled = concat!("SELECT ", intent_columns!(), " FROM @intents WHERE fence = $1 AND settled_at IS NULL \
        ORDER BY seq");
    Result = "SELECT result FROM @intents WHERE id = $1";
    Approvals = concat!("SELECT ", approval_columns!(), " FROM @approvals WHERE id = $1");
    ApprovalsFor = concat!("SELECT ", approval_columns!(), " FROM @approvals WHERE state <> 'used' AND \
        call_digest = ANY($1) AND principal = ANY($2) ORDER BY seq");
    ApprovalsPending = "SELECT count(*) FROM @approvals WHERE state = 'pending' AND expires_at >= $1";
    Counters = concat!("SELECT ", counter_columns!(), " FROM @counters WHERE (budget, scope, window_at) IN \
        (SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]))");
    /// Each reservation, with its counter behind it.
    Reservations = "SELECT r.intent, r.amount, c.budget, c.scope, c.window_at, c.resets_at, c.amount, c.amount_max, \
        c.committed, c.reserved FROM @reservations r JOIN @counters c USING (budget, scope, window_at) \
        WHERE r.state = 'held' AND r.intent = ANY($1)";
    Publication = "SELECT revision, publication, published_at FROM @publications WHERE upstream = $1";
    Receipt = "SELECT publication, content, revision FROM @receipts WHERE upstream = $1 AND publication = $2";
    Pins = concat!("SELECT ", pin_columns!(), " FROM @pins WHERE upstream = $1 ORDER BY tool");

    MoveLease = "UPDATE @incarnations SET lease_until = now() + $2 * interval '1 second' \
        WHERE id = $1 AND ended_at IS NULL";
    Number = "INSERT INTO @commits (writer, number, at) VALUES ($1, $2, now()) \
        ON CONFLICT (writer) DO UPDATE SET number = excluded.number, at = excluded.at";
    AddIntents = "INSERT INTO @intents (id, format, opened_at, principal, run, upstream, tool, contract_digest, \
        arguments_digest, call_digest, idempotency_key, approval, read_only, idempotent, attempt, fence, state, \
        arguments) SELECT id, $2::integer, opened_at, principal, run, upstream, tool, contract_digest, arguments_digest, \
        call_digest, key, approval, read_only, idempotent, attempt, fence, 'open', arguments FROM unnest($1::text[], \
        $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], \
        $11::text[], $12::text[], $13::boolean[], $14::boolean[], $15::bigint[], $16::text[], $17::bytea[]) \
        WITH ORDINALITY AS n (id, opened_at, principal, run, upstream, tool, contract_digest, arguments_digest, \
        call_digest, key, approval, read_only, idempotent, attempt, fence, arguments, place) ORDER BY place";
    Retry = "UPDATE @intents SET attempt = $2, fence = $3, tried_as = $4, retry_permitted = false, state = 'open', \
        side_effect = NULL, in_doubt = false, code = NULL, result_bytes = NULL, is_error = NULL, settled_at = NULL \
        WHERE id = $1";
    PermitRetry = "UPDATE @intents SET retry_permitted = true WHERE id = $1";
    Settle = "UPDATE @intents AS i SET fence = n.fence, state = n.state, side_effect = n.side_effect, \
        in_doubt = n.in_doubt, retry_permitted = i.retry_permitted AND n.in_doubt, code = n.code, result_bytes = n.result_bytes, is_error = n.is_error, \
        settled_at = n.settled_at, result = n.result FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], \
        $5::boolean[], $6::text[], $7::bigint[], $8::boolean[], $9::bigint[], $10::bytea[]) AS n (id, fence, state, \
        side_effect, in_doubt, code, result_bytes, is_error, settled_at, result) WHERE i.id = n.id";
    EndIncarnation = "UPDATE @incarnations SET ended_at = $2 WHERE id = $1";
    AddApproval = "INSERT INTO @approvals (id, asked_at, expires_at, principal, run, upstream, tool, contract_digest, \
        arguments_digest, call_digest, rules_digest, rules, state, arguments) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, \
        $9, $10, $11, $12, $13, $14)";
    SetApproval = "UPDATE @approvals SET expires_at = $2, state = $3, decided_at = $4, decided_by = $5, reason = $6, \
        used_by = $7 WHERE id = $1";
    SetCounters = "INSERT INTO @counters (budget, scope, window_at, resets_at, amount, amount_max, committed, \
        reserved, charged) SELECT budget, scope, window_at, resets_at, amount, amount_max, committed, reserved, \
        CASE WHEN charged THEN nextval('@charges'::regclass) ELSE 0 END FROM unnest($1::text[], $2::text[], \
        $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::boolean[]) WITH \
        ORDINALITY AS n (budget, scope, window_at, resets_at, amount, amount_max, committed, reserved, charged, place) \
        ORDER BY place ON CONFLICT (budget, scope, window_at) DO UPDATE SET resets_at = excluded.resets_at, \
        amount = excluded.amount, amount_max = excluded.amount_max, committed = excluded.committed, \
        reserved = excluded.reserved, charged = greatest(counters.charged, excluded.charged)";
    AddReservations = "INSERT INTO @reservations (intent, budget, scope, window_at, amount, state) \
        SELECT *, 'held' FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[])";
    CommitReservations = "UPDATE @reservations SET state = 'committed' WHERE state = 'held' AND intent = ANY($1)";
    ReleaseReservations = "DELETE FROM @reservations WHERE state = 'held' AND intent = ANY($1)";
    SetPublication = "INSERT INTO @publications (upstream, revision, publication, published_at) VALUES ($1, $2, $3, $4) \
        ON CONFLICT (upstream) DO UPDATE SET revision = excluded.revision, publication = excluded.publication, \
        published_at = excluded.published_at";
    AddReceipt = "INSERT INTO @receipts (upstream, publication, content, revision) VALUES ($1, $2, $3, $4)";
    ForgetReceipts = "DELETE FROM @receipts WHERE upstream = $1 AND revision NOT IN \
        (SELECT revision FROM @receipts WHERE upstream = $1 ORDER BY revision DESC LIMIT $2)";
    ForgetAdmissions = "DELETE FROM @admissions WHERE upstream = $1";
    AddAdmissions = "INSERT INTO @admissions (upstream, place, tool, contract_digest, code, detail) \
        SELECT $1, place, tool, contract_digest, code, detail FROM unnest($2::text[], $3::text[], $4::text[], \
        $5::text[]) WITH ORDINALITY AS n (tool, contract_digest, code, detail, place)";
    SetPin = "INSERT INTO @pins (upstream, tool, digest, definition, pinned_at, accepted_by, held_digest, \
        held_definition, held_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (upstream, tool) DO UPDATE \
        SET digest = excluded.digest, definition = excluded.definition, pinned_at = excluded.pinned_at, \
        accepted_by = excluded.accepted_by, held_digest = excluded.held_digest, \
        held_definition = excluded.held_definition, held_at = excluded.held_at";
    Note = "INSERT INTO @events (at, kind, intent, approval, by_whom, detail) SELECT at, kind, intent, approval, by, detail \
        FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[]) WITH ORDINALITY \
        AS n (at, kind, intent, approval, by, detail, place) ORDER BY place";
}

/// The statements of one connection.
#[derive(Debug)]
pub(super) struct Statements(Vec<Statement>);

impl Statements {
    pub(super) async fn prepare(client: &Client, schema: &str) -> Result<Statements, Failure> {
        let texts: Vec<String> = Query::ALL.iter().map(|(_, text)| in_schema(text, schema)).collect();
        let prepared = join_all(texts.iter().map(|text| client.prepare(text))).await;
        let ordered = Query::ALL.iter().enumerate().all(|(at, (query, _))| *query as usize == at);
        assert!(ordered, "the statements stand in the order of their names");
        Ok(Statements(prepared.into_iter().collect::<Result<_, _>>()?))
    }

    #[expect(clippy::indexing_slicing, reason = "each name has a statement: `prepare` goes through them all")]
    pub(super) fn of(&self, query: Query) -> &Statement {
        &self.0[query as usize]
    }
}

/// A statement with the schema in it.
pub(super) fn in_schema(text: &str, schema: &str) -> String {
    text.replace('@', &format!("\"{schema}\"."))
}

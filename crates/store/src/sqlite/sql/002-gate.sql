-- Version 2. What the durable gate keeps besides intents: approvals, budgets, publications, pins and a history.
-- Columns that version 1 did not have get defaults, so that a gate of version 1 that still has the file open goes on.

-- Built anew, so that what can be long stays at the end of the rows. Rows of version 1 keep their format, 1.
CREATE TABLE intents_2 (
    seq              INTEGER PRIMARY KEY NOT NULL,
    id               TEXT    NOT NULL UNIQUE,
    format           INTEGER NOT NULL,
    opened_at        INTEGER NOT NULL,
    principal        TEXT    NOT NULL,
    run              TEXT,
    upstream         TEXT    NOT NULL,
    tool             TEXT    NOT NULL,
    contract_digest  TEXT    NOT NULL,
    arguments_digest TEXT    NOT NULL,
    call_digest      TEXT    NOT NULL,
    idempotency_key  TEXT,
    approval         TEXT,
    read_only        INTEGER NOT NULL DEFAULT 0, -- pinned by an operator, as the next one is
    idempotent       INTEGER NOT NULL DEFAULT 0,
    attempt          INTEGER NOT NULL,
    fence            TEXT    NOT NULL REFERENCES incarnations (id),
    retry_permitted  INTEGER NOT NULL DEFAULT 0,
    tried_as         TEXT, -- the id that the request of the last try would have had as an intent of its own
    state            TEXT    NOT NULL,
    side_effect      TEXT,
    in_doubt         INTEGER NOT NULL DEFAULT 0,
    code             TEXT,
    result_bytes     INTEGER,
    is_error         INTEGER,
    settled_at       INTEGER,
    -- The last columns, so that listings never read the pages that long ones overflow to. The result is kept for a
    -- call with a key alone.
    result           BLOB,
    arguments        BLOB    NOT NULL
) STRICT;

INSERT INTO intents_2 (seq, id, format, opened_at, principal, run, upstream, tool, contract_digest, arguments_digest,
    call_digest, attempt, fence, state, side_effect, in_doubt, code, result_bytes, is_error, settled_at, arguments)
SELECT seq, id, format, opened_at, principal, run, upstream, tool, contract_digest, arguments_digest,
    call_digest, attempt, fence, state, side_effect, in_doubt, code, result_bytes, is_error, settled_at, arguments
FROM intents;

DROP TABLE intents;
ALTER TABLE intents_2 RENAME TO intents;

CREATE INDEX intents_unsettled ON intents (fence) WHERE settled_at IS NULL;
CREATE INDEX intents_unsettled_call ON intents (call_digest, principal) WHERE settled_at IS NULL;
-- The identical call of a principal that is in doubt, and the list of all that are.
CREATE INDEX intents_in_doubt ON intents (principal, call_digest) WHERE in_doubt = 1;
CREATE INDEX intents_in_doubt_listed ON intents (seq) WHERE in_doubt = 1;
CREATE INDEX intents_tried_as ON intents (tried_as) WHERE tried_as IS NOT NULL;
CREATE INDEX intents_key ON intents (principal, idempotency_key) WHERE idempotency_key IS NOT NULL;

CREATE TABLE approvals (
    seq              INTEGER PRIMARY KEY NOT NULL,
    id               TEXT    NOT NULL UNIQUE,
    asked_at         INTEGER NOT NULL,
    expires_at       INTEGER NOT NULL,
    principal        TEXT    NOT NULL,
    run              TEXT,
    upstream         TEXT    NOT NULL,
    tool             TEXT    NOT NULL,
    contract_digest  TEXT    NOT NULL,
    arguments_digest TEXT    NOT NULL,
    call_digest      TEXT    NOT NULL,
    rules_digest     TEXT    NOT NULL,
    rules            TEXT    NOT NULL, -- a JSON array of names
    state            TEXT    NOT NULL,
    decided_at       INTEGER,
    decided_by       TEXT,
    reason           TEXT,
    used_by          TEXT,
    arguments        BLOB    NOT NULL
) STRICT;

CREATE INDEX approvals_of_call ON approvals (principal, call_digest) WHERE state <> 'used';
-- How many wait, and which ones, the last first.
CREATE INDEX approvals_pending ON approvals (expires_at) WHERE state = 'pending';
CREATE INDEX approvals_pending_listed ON approvals (seq, expires_at) WHERE state = 'pending';
CREATE INDEX approvals_used ON approvals (principal, upstream, tool) WHERE state = 'used';

-- One row for each budget, scope and window. `reserved` is the sum of its held reservations. `charged` counts the
-- charges of this file: the highest one was charged last.
CREATE TABLE counters (
    id           INTEGER PRIMARY KEY NOT NULL,
    budget       TEXT    NOT NULL,
    scope        TEXT    NOT NULL,
    window_at    INTEGER, -- none for a budget that never resets
    resets_at    INTEGER,
    amount       INTEGER NOT NULL, -- of the last charge
    amount_max   INTEGER NOT NULL, -- the limit, as it was charged last
    committed    INTEGER NOT NULL CHECK (committed >= 0),
    reserved     INTEGER NOT NULL CHECK (reserved >= 0),
    charged      INTEGER NOT NULL
) STRICT;

CREATE INDEX counters_by_name ON counters (budget, scope, window_at);
CREATE INDEX counters_charged ON counters (charged);

-- What an intent takes from a counter: held until its outcome is known. What is given back has no row.
CREATE TABLE reservations (
    intent  TEXT    NOT NULL,
    part    INTEGER NOT NULL,
    counter INTEGER NOT NULL REFERENCES counters (id),
    amount  INTEGER NOT NULL,
    state   TEXT    NOT NULL, -- held or committed
    PRIMARY KEY (intent, part)
) STRICT, WITHOUT ROWID;

CREATE INDEX reservations_of_counter ON reservations (counter);

CREATE TABLE publications (
    upstream     TEXT    PRIMARY KEY NOT NULL,
    revision     INTEGER NOT NULL,
    publication  TEXT    NOT NULL,
    published_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What the publishers of the last publications were told.
CREATE TABLE receipts (
    upstream    TEXT    NOT NULL,
    publication TEXT    NOT NULL,
    content     TEXT    NOT NULL,
    revision    INTEGER NOT NULL,
    PRIMARY KEY (upstream, publication)
) STRICT, WITHOUT ROWID;

-- The contract of each tool that callers are bound to, and the one that waits for an operator.
CREATE TABLE pins (
    upstream        TEXT    NOT NULL,
    tool            TEXT    NOT NULL,
    digest          TEXT    NOT NULL,
    pinned_at       INTEGER NOT NULL,
    accepted_by     TEXT,
    held_digest     TEXT,
    held_at         INTEGER,
    held_definition BLOB,
    definition      BLOB    NOT NULL,
    PRIMARY KEY (upstream, tool)
) STRICT;

-- What operators and gates did to records.
CREATE TABLE events (
    seq      INTEGER PRIMARY KEY NOT NULL,
    at       INTEGER NOT NULL,
    kind     TEXT    NOT NULL,
    intent   TEXT,
    approval TEXT,
    by_whom  TEXT    NOT NULL,
    detail   TEXT
) STRICT;

CREATE INDEX events_of_intent ON events (intent) WHERE intent IS NOT NULL;

-- Version 1. What is stored as text reads without this program: ids, digests in hexadecimal, states by name.

-- One row for each life of a gate. While it lasts, its process holds the lock file of the same name.
CREATE TABLE incarnations (
    id         TEXT    PRIMARY KEY NOT NULL,
    pid        INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at   INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX incarnations_lasting ON incarnations (id) WHERE ended_at IS NULL;

-- `seq` is the order of opening, which no clock can disturb.
CREATE TABLE intents (
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
    attempt          INTEGER NOT NULL,
    fence            TEXT    NOT NULL REFERENCES incarnations (id),
    state            TEXT    NOT NULL,
    side_effect      TEXT,
    in_doubt         INTEGER NOT NULL DEFAULT 0,
    code             TEXT,
    result_bytes     INTEGER,
    is_error         INTEGER,
    settled_at       INTEGER,
    -- The last column, so that listings never read the pages that long arguments overflow to.
    arguments        BLOB    NOT NULL
) STRICT;

CREATE INDEX intents_unsettled ON intents (fence) WHERE settled_at IS NULL;
CREATE INDEX intents_in_doubt ON intents (call_digest) WHERE in_doubt = 1;

-- What became of each tool of each upstream, one row for each thing that ever became of it. `listing` counts the
-- listings of this file: the highest one of a tool is what it was last.
CREATE TABLE admissions (
    upstream        TEXT    NOT NULL,
    tool            TEXT    NOT NULL,
    contract_digest TEXT    NOT NULL, -- empty where the definition could not be read
    code            TEXT    NOT NULL, -- empty for a tool that was admitted
    detail          TEXT,
    first_seen_at   INTEGER NOT NULL,
    last_seen_at    INTEGER NOT NULL,
    listing         INTEGER NOT NULL,
    PRIMARY KEY (upstream, tool, contract_digest, code)
) STRICT, WITHOUT ROWID;

CREATE INDEX admissions_listing ON admissions (listing);

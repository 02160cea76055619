-- Version 1. Each `@` is the schema. What is stored as text reads without this program: ids, digests in hexadecimal,
-- states by name; a text with U+0000, which the server does not take, has it as U+001A and `0`. Ids sort by their bytes.
--
-- There are no foreign keys: each would lock the row that it points to, for a rule that the gate's own decisions keep.

-- One row for each life of a gate. While it lasts, its gate moves `lease_until` on, by this server's clock.
CREATE TABLE @incarnations (
    id          text COLLATE "C" PRIMARY KEY,
    pid         bigint      NOT NULL,
    started_at  bigint      NOT NULL,
    ended_at    bigint,
    lease_until timestamptz NOT NULL
);

CREATE INDEX incarnations_lasting ON @incarnations (id) WHERE ended_at IS NULL;

-- The number of the last transaction of each one that writes: by it a transaction is found again whose answer was lost.
CREATE TABLE @commits (
    writer text COLLATE "C" PRIMARY KEY,
    number bigint      NOT NULL,
    at     timestamptz NOT NULL
);

-- `seq` is the order of opening, which no clock can disturb.
CREATE TABLE @intents (
    seq               bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id                text COLLATE "C" NOT NULL UNIQUE,
    format            integer NOT NULL,
    opened_at         bigint  NOT NULL,
    principal         text COLLATE "C" NOT NULL,
    run               text,
    upstream          text    NOT NULL,
    tool              text    NOT NULL,
    contract_digest   text    NOT NULL,
    arguments_digest  text    NOT NULL,
    call_digest       text COLLATE "C" NOT NULL,
    idempotency_key   text COLLATE "C",
    approval          text,
    read_only         boolean NOT NULL, -- pinned by an operator, as the next one is
    idempotent        boolean NOT NULL,
    attempt           bigint  NOT NULL,
    fence             text COLLATE "C" NOT NULL,
    tried_as          text COLLATE "C", -- the id that the request of the last try would have had as an intent of its own
    retry_permitted   boolean NOT NULL DEFAULT false,
    state             text    NOT NULL,
    side_effect       text,
    in_doubt          boolean NOT NULL DEFAULT false,
    code              text,
    result_bytes      bigint,
    is_error          boolean,
    settled_at        bigint,
    result            bytea,
    arguments         bytea   NOT NULL
);

CREATE INDEX intents_unsettled ON @intents (fence) WHERE settled_at IS NULL;
CREATE INDEX intents_in_doubt ON @intents (call_digest, principal) WHERE in_doubt;
CREATE INDEX intents_of_key ON @intents (principal, idempotency_key, seq) WHERE idempotency_key IS NOT NULL;

CREATE INDEX intents_tried_as ON @intents (tried_as) WHERE tried_as IS NOT NULL;

CREATE TABLE @approvals (
    seq              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id               text COLLATE "C" NOT NULL UNIQUE,
    asked_at         bigint NOT NULL,
    expires_at       bigint NOT NULL,
    principal        text COLLATE "C" NOT NULL,
    run              text,
    upstream         text   NOT NULL,
    tool             text   NOT NULL,
    contract_digest  text   NOT NULL,
    arguments_digest text   NOT NULL,
    call_digest      text COLLATE "C" NOT NULL,
    rules_digest     text   NOT NULL,
    rules            text[] NOT NULL,
    state            text   NOT NULL,
    decided_at       bigint,
    decided_by       text,
    reason           text,
    used_by          text,
    arguments        bytea  NOT NULL
);

CREATE INDEX approvals_unused ON @approvals (call_digest, principal) WHERE state <> 'used';
CREATE INDEX approvals_pending ON @approvals (expires_at) WHERE state = 'pending';
CREATE INDEX approvals_used ON @approvals (principal, upstream, tool, seq) WHERE state = 'used';

-- What each counter of a budget stands at. `window_at` is the least number of its type for a budget that never resets.
CREATE TABLE @counters (
    budget     text COLLATE "C" NOT NULL,
    scope      text COLLATE "C" NOT NULL,
    window_at  bigint NOT NULL,
    resets_at  bigint,
    amount     bigint NOT NULL, -- of the last charge
    amount_max bigint NOT NULL, -- the limit, as it was charged last
    committed  bigint NOT NULL CHECK (committed >= 0),
    reserved   bigint NOT NULL CHECK (reserved >= 0),
    charged    bigint NOT NULL, -- grows with each charge: the highest one was charged last
    PRIMARY KEY (budget, scope, window_at)
);

-- What a call takes from a counter: held until its outcome is known. What is given back has no row.
CREATE TABLE @reservations (
    intent    text COLLATE "C" NOT NULL,
    budget    text   NOT NULL,
    scope     text   NOT NULL,
    window_at bigint NOT NULL,
    amount    bigint NOT NULL,
    state     text   NOT NULL -- held or committed
);

CREATE INDEX reservations_held ON @reservations (intent) WHERE state = 'held';
CREATE SEQUENCE @charges;

CREATE TABLE @publications (
    upstream     text COLLATE "C" PRIMARY KEY,
    revision     bigint NOT NULL,
    publication  text   NOT NULL,
    published_at bigint NOT NULL
);

CREATE TABLE @receipts (
    upstream    text COLLATE "C" NOT NULL,
    publication text COLLATE "C" NOT NULL,
    content     text   NOT NULL,
    revision    bigint NOT NULL,
    PRIMARY KEY (upstream, publication)
);

-- What became of each tool of the last publication.
CREATE TABLE @admissions (
    upstream        text COLLATE "C" NOT NULL,
    place           integer NOT NULL,
    tool            text    NOT NULL,
    contract_digest text,
    code            text,
    detail          text,
    PRIMARY KEY (upstream, place)
);

CREATE TABLE @pins (
    upstream        text COLLATE "C" NOT NULL,
    tool            text COLLATE "C" NOT NULL,
    digest          text   NOT NULL,
    definition      bytea  NOT NULL,
    pinned_at       bigint NOT NULL,
    accepted_by     text,
    held_digest     text,
    held_definition bytea,
    held_at         bigint,
    PRIMARY KEY (upstream, tool)
);

CREATE TABLE @events (
    seq      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at       bigint NOT NULL,
    kind     text   NOT NULL,
    intent   text COLLATE "C",
    approval text,
    by_whom  text   NOT NULL,
    detail   text
);

CREATE INDEX events_of_intent ON @events (intent, seq) WHERE intent IS NOT NULL;

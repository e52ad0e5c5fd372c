-- A row is never deleted: a server whose last key was revoked must not open to everybody.
CREATE TABLE keys (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    -- SHA-256 of the secret, which is nowhere.
    hash BLOB NOT NULL UNIQUE,
    -- The beginning of the secret, to tell keys apart by eye.
    shown TEXT NOT NULL,
    owner TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    last_used_at INTEGER,
    limits TEXT NOT NULL
) STRICT;

-- Responses that an upstream keeps, in the operator's account: whose each is.
CREATE TABLE passed_responses (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

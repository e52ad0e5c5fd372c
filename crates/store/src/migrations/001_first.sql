-- `seq` is the order of arrival: lists are sorted by it, so that entries of one second keep their order.

CREATE TABLE responses (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    status TEXT NOT NULL,
    background INTEGER NOT NULL,
    body TEXT NOT NULL,
    -- Not a reference: a response outlives the one before it.
    previous TEXT,
    conversation TEXT,
    upstream_previous TEXT
) STRICT;
CREATE INDEX responses_unfinished ON responses (seq)
    WHERE background = 1 AND status IN ('queued', 'in_progress');

CREATE TABLE conversations (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    metadata TEXT NOT NULL
) STRICT;

-- An item never changes. A client may send an id again with another content: that is another row, so
-- that nobody's history is rewritten by it.
CREATE TABLE items (
    seq INTEGER PRIMARY KEY,
    owner TEXT NOT NULL,
    id TEXT NOT NULL,
    digest BLOB NOT NULL,
    body TEXT NOT NULL,
    model TEXT,
    UNIQUE (owner, id, digest)
) STRICT;

CREATE TABLE response_items (
    response INTEGER NOT NULL REFERENCES responses ON DELETE CASCADE,
    -- 0: input, 1: output.
    kind INTEGER NOT NULL,
    position INTEGER NOT NULL,
    item INTEGER NOT NULL REFERENCES items,
    PRIMARY KEY (response, kind, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX response_items_item ON response_items (item, kind);

CREATE TABLE conversation_items (
    conversation INTEGER NOT NULL REFERENCES conversations ON DELETE CASCADE,
    position INTEGER NOT NULL,
    item INTEGER NOT NULL REFERENCES items,
    PRIMARY KEY (conversation, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX conversation_items_item ON conversation_items (item);

CREATE TABLE events (
    response INTEGER NOT NULL REFERENCES responses ON DELETE CASCADE,
    number INTEGER NOT NULL,
    data TEXT NOT NULL,
    UNIQUE (response, number)
) STRICT;

CREATE TABLE files (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    filename TEXT NOT NULL,
    purpose TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER
) STRICT;
CREATE INDEX files_owner ON files (owner);
CREATE INDEX files_expires ON files (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE containers (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    record TEXT NOT NULL
) STRICT;

CREATE TABLE container_files (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    container TEXT NOT NULL REFERENCES containers (id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    source TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    modified_ms INTEGER NOT NULL,
    UNIQUE (container, path)
) STRICT;

-- What was asked, what models and code did for it, and how it ended. Whatever was done for one request
-- points to that request's own record: the id that a client gives its requests may repeat.
CREATE TABLE ledger (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    request TEXT NOT NULL,
    parent TEXT,
    kind TEXT NOT NULL,
    owner TEXT NOT NULL,
    key TEXT,
    model TEXT,
    container TEXT,
    began_ms INTEGER NOT NULL,
    ended_ms INTEGER,
    status TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT;

CREATE INDEX ledger_by_request ON ledger (request, seq);
CREATE INDEX ledger_by_request_of_owner ON ledger (request, owner, seq);
CREATE INDEX ledger_by_parent ON ledger (parent, seq) WHERE parent IS NOT NULL;
CREATE INDEX ledger_by_owner ON ledger (owner, seq);
CREATE INDEX ledger_by_container ON ledger (container, seq) WHERE container IS NOT NULL;
CREATE INDEX ledger_by_time ON ledger (began_ms);
CREATE INDEX ledger_running ON ledger (status) WHERE status = 'running';

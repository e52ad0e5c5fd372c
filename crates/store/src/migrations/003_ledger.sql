-- What was asked, what models and code did for it, and how it ended. Records of one request share its id.
CREATE TABLE ledger (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    request TEXT NOT NULL,
    kind TEXT NOT NULL,
    owner TEXT NOT NULL,
    began_ms INTEGER NOT NULL,
    ended_ms INTEGER,
    status TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT;

CREATE INDEX ledger_by_request ON ledger (request);
CREATE INDEX ledger_by_owner ON ledger (owner, seq);
CREATE INDEX ledger_by_time ON ledger (began_ms);
CREATE INDEX ledger_running ON ledger (status) WHERE status = 'running';

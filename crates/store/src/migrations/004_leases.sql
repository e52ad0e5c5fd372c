-- Containers that are lent for a time, under the ids of the doors that lend them.
CREATE TABLE leases (
    id TEXT PRIMARY KEY,
    -- What it lends; it goes with it.
    container TEXT NOT NULL REFERENCES containers (id) ON DELETE CASCADE,
    record TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX leases_by_container ON leases (container);

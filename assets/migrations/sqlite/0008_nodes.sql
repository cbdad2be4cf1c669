-- A row for each process of a service that claims rows, such as scans. A claim is a column `owner`, and its foreign key ends
-- the claim when the row of the process is deleted.
CREATE TABLE nodes (
    id      TEXT PRIMARY KEY,
    -- the directory whose lock the process holds, so that an earlier process of it has ended
    home    TEXT NOT NULL,
    beat_at INTEGER NOT NULL
);

-- Only a service that starts migrates, so the earlier one has ended.
UPDATE jobs SET service_ends = service_ends + 1 WHERE owner IS NOT NULL;
ALTER TABLE jobs DROP COLUMN owner;
ALTER TABLE jobs DROP COLUMN lease_until;
ALTER TABLE jobs ADD COLUMN owner TEXT REFERENCES nodes (id) ON DELETE SET NULL;
-- The attempts that count against the limit; `attempt` only grows, so that no two attempts have one number.
ALTER TABLE jobs ADD COLUMN tries INTEGER NOT NULL DEFAULT 0;
UPDATE jobs SET tries = attempt;

PRAGMA user_version = 8;

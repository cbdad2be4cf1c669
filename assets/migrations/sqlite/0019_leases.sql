-- Each process that serves the database has a row while it runs, and says itself how long its claims last without a beat.
ALTER TABLE nodes ADD COLUMN name TEXT NOT NULL DEFAULT '';
-- such as api,logger,worker
ALTER TABLE nodes ADD COLUMN roles TEXT NOT NULL DEFAULT '';
ALTER TABLE nodes ADD COLUMN version TEXT NOT NULL DEFAULT '';
-- the fingerprint of the key that encrypts the credentials of scans
ALTER TABLE nodes ADD COLUMN secrets_key TEXT NOT NULL DEFAULT '';
ALTER TABLE nodes ADD COLUMN lease INTEGER NOT NULL DEFAULT 15000;
ALTER TABLE nodes ADD COLUMN started_at INTEGER NOT NULL DEFAULT 0;
-- by how much the clock of the machine is ahead of that of the database, in milliseconds
ALTER TABLE nodes ADD COLUMN clock_ahead INTEGER NOT NULL DEFAULT 0;

PRAGMA user_version = 19;

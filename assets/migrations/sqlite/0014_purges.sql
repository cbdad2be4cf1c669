-- A purge ends an epoch first, and deletes its rows afterwards, in batches. Positions of the table go on: those that clients
-- see begin at 1 in each epoch.
-- the positions of the table up to which events and payloads are purged: nobody reads them
ALTER TABLE event_logs ADD COLUMN purged INTEGER NOT NULL DEFAULT 0;
ALTER TABLE event_logs ADD COLUMN purged_payload INTEGER NOT NULL DEFAULT 0;
-- whether such rows may be left; the next start continues an interrupted purge
ALTER TABLE event_logs ADD COLUMN is_purging INTEGER NOT NULL DEFAULT 0;

PRAGMA user_version = 14;

-- Places with workers of their own. The place is empty for the service itself.
ALTER TABLE nodes ADD COLUMN place TEXT NOT NULL DEFAULT '';

-- The place of the worker that uses the key.
ALTER TABLE api_keys ADD COLUMN place TEXT NOT NULL DEFAULT '';

-- The place whose workers run the scan.
ALTER TABLE jobs ADD COLUMN place TEXT NOT NULL DEFAULT '';
-- The number of the last results of the attempt that a worker has sent.
ALTER TABLE jobs ADD COLUMN batch INTEGER NOT NULL DEFAULT 0;
-- Earlier versions had no places, so the requested one is unknown.
UPDATE jobs SET place = 'unknown' WHERE scan_id IN (SELECT id FROM scans WHERE vpn_scan);

PRAGMA user_version = 21;

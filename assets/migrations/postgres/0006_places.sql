-- Places with workers of their own; see 0021_places.sql of SQLite.
ALTER TABLE nodes ADD COLUMN place TEXT NOT NULL DEFAULT '';
ALTER TABLE api_keys ADD COLUMN place TEXT NOT NULL DEFAULT '';
ALTER TABLE jobs ADD COLUMN place TEXT NOT NULL DEFAULT '';
ALTER TABLE jobs ADD COLUMN batch BIGINT NOT NULL DEFAULT 0;
UPDATE jobs SET place = 'unknown' WHERE scan_id IN (SELECT id FROM scans WHERE vpn_scan);

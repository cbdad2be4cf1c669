-- See 0024_finding_ids.sql of SQLite.
DROP INDEX findings_by_workspace;
CREATE INDEX findings_by_workspace ON findings (workspace_id, id, scan_id);

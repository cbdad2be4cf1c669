-- See 0024_finding_ids.sql of SQLite.
DROP INDEX findings_by_workspace;
CREATE INDEX findings_by_workspace ON findings (workspace_id, id, scan_id);

UPDATE scans SET status = 'waiting', message = ''
    WHERE status = 'running' AND id IN (SELECT scan_id FROM jobs WHERE owner IS NULL);
SELECT write_versions();

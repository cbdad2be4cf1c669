-- The ids of the findings of a workspace, without reading the findings: their scan decides whether they are shown.
DROP INDEX findings_by_workspace;
CREATE INDEX findings_by_workspace ON findings (workspace_id, id, scan_id);

-- A scan without a node waits; earlier versions showed it as running.
UPDATE scans SET status = 'waiting', message = ''
    WHERE status = 'running' AND id IN (SELECT scan_id FROM jobs WHERE owner IS NULL);

PRAGMA user_version = 24;

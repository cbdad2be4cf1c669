-- The ids of the findings of a workspace, without reading the findings: their scan decides whether they are shown.
DROP INDEX findings_by_workspace;
CREATE INDEX findings_by_workspace ON findings (workspace_id, id, scan_id);

PRAGMA user_version = 24;

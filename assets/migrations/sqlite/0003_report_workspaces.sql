-- The workspace of a report, which is deleted with it; none for a report about several workspaces.
ALTER TABLE reports ADD COLUMN workspace_id INTEGER REFERENCES workspaces (id) ON DELETE CASCADE;
CREATE INDEX reports_by_workspace ON reports (workspace_id);

PRAGMA user_version = 3;

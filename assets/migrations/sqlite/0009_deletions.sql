-- A row for each target and workspace that is being deleted: it receives no new scans. The row ends with the target or
-- workspace, or with the process that deletes.
CREATE TABLE deletions (
    id           INTEGER PRIMARY KEY,
    target_id    INTEGER REFERENCES targets (id) ON DELETE CASCADE,
    workspace_id INTEGER REFERENCES workspaces (id) ON DELETE CASCADE,
    owner        TEXT NOT NULL REFERENCES nodes (id) ON DELETE CASCADE
);

PRAGMA user_version = 9;

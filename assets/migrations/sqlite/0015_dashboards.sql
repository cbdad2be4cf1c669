-- A person may have several dashboards open, each with a place of its own. Rows are of the last 30 s, so none is kept.
DROP TABLE viewers;
CREATE TABLE viewers (
    workspace_id INTEGER NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    key_name     TEXT NOT NULL,
    -- the running program, by a random id of its own
    dashboard    TEXT NOT NULL,
    -- the key of the finding on the screen; null for another list
    finding      TEXT,
    since        INTEGER NOT NULL,
    seen_at      INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, key_name, dashboard)
) WITHOUT ROWID;

PRAGMA user_version = 15;

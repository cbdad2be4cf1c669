-- Scans that start again and again. Whoever moves `done_at` and `next_at` of a due schedule forward starts it, in the same
-- transaction, so that several processes start it once.
CREATE TABLE schedules (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    workspace_id   INTEGER NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    name           TEXT NOT NULL,
    -- local time of the service, such as 2026-12-01T02:00:00
    first_start    TEXT NOT NULL,
    -- such as 1w
    every          TEXT NOT NULL,
    window_seconds INTEGER NOT NULL,
    -- all targets of the workspace at the time of each start, and none of `schedule_targets`
    all_targets    INTEGER NOT NULL,
    paused         INTEGER NOT NULL DEFAULT 0,
    created_by     TEXT NOT NULL,
    created_at     INTEGER NOT NULL,
    -- no start up to here is due any more
    done_at        INTEGER NOT NULL,
    next_at        INTEGER NOT NULL,
    starts         INTEGER NOT NULL DEFAULT 0,
    last_start_at  INTEGER,
    -- the last start or skipped start, in words
    last_result    TEXT NOT NULL DEFAULT ''
);
CREATE INDEX schedules_by_workspace ON schedules (workspace_id);

CREATE TABLE schedule_targets (
    schedule_id INTEGER NOT NULL REFERENCES schedules (id) ON DELETE CASCADE,
    target_id   INTEGER NOT NULL REFERENCES targets (id) ON DELETE CASCADE,
    PRIMARY KEY (schedule_id, target_id)
) WITHOUT ROWID;
CREATE INDEX schedule_targets_by_target ON schedule_targets (target_id);

-- The scans that each target gets.
CREATE TABLE schedule_scans (
    schedule_id       INTEGER NOT NULL REFERENCES schedules (id) ON DELETE CASCADE,
    position          INTEGER NOT NULL,
    tool_id           INTEGER NOT NULL,
    -- with credentials, which are encrypted
    params            TEXT NOT NULL,
    -- with their defaults, secrets replaced
    shown_params      TEXT NOT NULL,
    redirect_level    TEXT NOT NULL,
    scan_original_url INTEGER NOT NULL,
    max_minutes       INTEGER NOT NULL,
    PRIMARY KEY (schedule_id, position)
) WITHOUT ROWID;

-- The schedule that queued a scan: two such scans of one target never run at the same time.
ALTER TABLE jobs ADD COLUMN schedule_id INTEGER REFERENCES schedules (id) ON DELETE SET NULL;

PRAGMA user_version = 17;

-- Decisions and payloads that a team shares. Positions are given while the log of the workspace is locked, so that they appear
-- in order: a client that reads after a position misses no row. A new epoch has begun when rows were deleted.
CREATE TABLE event_logs (
    workspace_id INTEGER PRIMARY KEY REFERENCES workspaces (id) ON DELETE CASCADE,
    epoch        INTEGER NOT NULL DEFAULT 1,
    -- the last positions of events and of payloads
    last         INTEGER NOT NULL DEFAULT 0,
    last_payload INTEGER NOT NULL DEFAULT 0,
    -- the greatest clock of an event
    clock        INTEGER NOT NULL DEFAULT 0,
    -- the bytes of all texts
    bytes        INTEGER NOT NULL DEFAULT 0
);

-- New rows are the last ones of their table, so that no text is moved to another page and leaves a copy there.
CREATE TABLE shared_events (
    workspace_id INTEGER NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    position     INTEGER NOT NULL,
    -- the id of the event: the dashboard that wrote it, as a number with a sign, and its number there
    instance     INTEGER NOT NULL,
    number       INTEGER NOT NULL,
    -- the key that sent it: all events of an instance have the same
    key_name     TEXT NOT NULL,
    json         TEXT NOT NULL,
    UNIQUE (workspace_id, position),
    UNIQUE (instance, number)
);

CREATE TABLE shared_payloads (
    workspace_id INTEGER NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    position     INTEGER NOT NULL,
    token        TEXT NOT NULL UNIQUE,
    version      INTEGER NOT NULL,
    key_name     TEXT NOT NULL,
    json         TEXT NOT NULL,
    UNIQUE (workspace_id, position)
);

-- Who looks at what.
CREATE TABLE viewers (
    workspace_id INTEGER NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    key_name     TEXT NOT NULL,
    -- the key of the finding on the screen; null for another list
    finding      TEXT,
    since        INTEGER NOT NULL,
    seen_at      INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, key_name)
) WITHOUT ROWID;

CREATE TABLE purges (
    workspace_id INTEGER NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    -- the epoch that began with it
    epoch        INTEGER NOT NULL,
    key_name     TEXT NOT NULL,
    at           INTEGER NOT NULL,
    -- the numbers of deleted rows
    events       INTEGER NOT NULL,
    payloads     INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, epoch)
) WITHOUT ROWID;

-- Clients keep what they know of a service under this id.
INSERT INTO settings (name, value) VALUES ('service_id', lower(hex(randomblob(16))));

PRAGMA user_version = 13;

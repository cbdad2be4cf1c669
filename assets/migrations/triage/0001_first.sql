-- What a person decided, told and looked at, beside one service. Events are only ever added.

CREATE TABLE events (
    -- Grows with every commit: what was written after a number is what its reader does not know yet.
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    workspace TEXT NOT NULL,
    json TEXT NOT NULL
);

-- The workspace is named; that of no workspace is empty.
CREATE TABLE settings (
    key TEXT NOT NULL,
    workspace TEXT NOT NULL,
    json TEXT NOT NULL,
    PRIMARY KEY (key, workspace)
) WITHOUT ROWID;

-- Findings whose detail was on the screen for a second, by fingerprint.
CREATE TABLE seen (
    key TEXT NOT NULL,
    workspace TEXT NOT NULL,
    PRIMARY KEY (key, workspace)
) WITHOUT ROWID;

PRAGMA user_version = 1;

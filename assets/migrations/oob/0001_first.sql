-- What the loggers recorded, as it was seen, and the payload book, beside one service.

CREATE TABLE captures (
    -- Grows with every commit: what was written after a number is what its reader does not know yet.
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    workspace TEXT NOT NULL,
    logger INTEGER NOT NULL,
    label TEXT NOT NULL,
    handler_url TEXT NOT NULL,
    id INTEGER NOT NULL,
    -- Microseconds since 1970: by the service's clock when it came, or when it was seen where that is not told.
    at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    -- Of its date and content: a service may give an id twice.
    digest INTEGER NOT NULL,
    json TEXT NOT NULL
);
CREATE UNIQUE INDEX captures_once ON captures (logger, id, digest);
-- The newest of a workspace, and the last one archived of a logger, are found without looking at the others.
CREATE INDEX captures_by_time ON captures (workspace, at);
CREATE INDEX captures_by_logger ON captures (logger);

-- The later version of a payload takes the place of the earlier one, under a new number.
CREATE TABLE payloads (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    token TEXT NOT NULL UNIQUE,
    workspace TEXT NOT NULL,
    version INTEGER NOT NULL,
    json TEXT NOT NULL
);
CREATE INDEX payloads_of ON payloads (workspace);

PRAGMA user_version = 1;
